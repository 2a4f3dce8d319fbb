"""Many inputs at once: each comes back whole, unpadded, in its order."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from bert_core import BertForQuestionAnswering, BertTokenizer, Encoding
from bert_core.model.outputs import ModelOutputs
from bert_core.reading.running import Runner, by_length

CPU = torch.device("cpu")
TEXTS = ["the cat sat on the river bank", "cat", "dog, playing", "the mat", "a dog sat on a mat"]


def test_batches_hold_every_row_once_and_no_more_tokens_than_there_is_room() -> None:
    lengths = [5, 400, 9, 3000, 7, 6000, 390]
    groups = list(by_length(lengths, CPU))
    assert sorted(index for group in groups for index in group) == list(range(7))
    assert groups == [[0, 4, 2, 6, 1], [3], [5]]
    assert list(by_length([1000, 1000], CPU, each=4)) == [[0], [1]]
    assert list(by_length([7, 3, 5], CPU, most=2)) == [[1, 2], [0]]
    assert list(by_length([], CPU)) == []


@pytest.mark.parametrize("together", [None, 1, 2])
def test_logits_are_those_of_each_input_alone(
    reader: BertForQuestionAnswering, tokenizer: BertTokenizer, together: int | None
) -> None:
    inputs = [tokenizer.encode("who", text) for text in TEXTS]
    told: list[tuple[int, int]] = []
    sizes: list[int] = []
    plain = Runner.of(reader, tokenizer)

    def run(chosen: Sequence[Encoding]) -> ModelOutputs:
        sizes.append(len(chosen))
        return plain.run(chosen)

    runner = Runner(run, tokenizer, 48, together=together, progress=lambda *done: told.append(done))
    found = runner.logits(inputs, "start_logits", "end_logits")
    for encoding, (start, end) in zip(inputs, found, strict=True):
        with torch.no_grad():
            alone = reader(
                torch.tensor([encoding.input_ids]), torch.tensor([encoding.token_type_ids])
            )
        assert start.shape == end.shape == (len(encoding),)
        np.testing.assert_allclose(start, alone[0][0].numpy(), atol=1e-5)
        np.testing.assert_allclose(end, alone[1][0].numpy(), atol=1e-5)
    assert sum(sizes) == len(inputs)
    assert max(sizes) == (together or len(inputs))
    assert told == [(done, len(inputs)) for done in [0, *np.cumsum(sizes).tolist()]]


def test_a_vocabulary_without_pad_reads_inputs_of_any_length(
    reader: BertForQuestionAnswering, tokenizer: BertTokenizer, tmp_path: Path
) -> None:
    plain = tmp_path / "vocab.txt"
    plain.write_text("".join(f"{piece}\n" for piece in tokenizer.vocab if piece != "[PAD]"))
    runner = Runner.of(reader, BertTokenizer(plain))
    inputs = [runner.tokenizer.encode("the cat"), runner.tokenizer.encode("the cat sat")]
    together = runner.logits(inputs, "start_logits")
    for encoding, (start,) in zip(inputs, together, strict=True):
        [(alone,)] = runner.logits([encoding], "start_logits")
        np.testing.assert_allclose(start, alone, atol=1e-5)
