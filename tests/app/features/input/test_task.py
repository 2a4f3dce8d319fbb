"""The page's numbers are the model's own."""

import numpy as np
import pytest
import torch

from app.engine.models import Engine
from app.features.input import task
from app.features.input.result import InputResult
from bert_core import BertModel
from bert_core.errors import InputError


def states(engine: Engine, result: InputResult) -> np.ndarray:
    """Return the first hidden state as the model computes it, padding masked."""
    model = engine.model(BertModel)
    with torch.inference_mode():
        outputs = model.run(
            torch.tensor([result.input_ids]),
            torch.tensor([result.token_type_ids]),
            torch.tensor([result.attention_mask]),
            hidden_states=True,
        )
    return outputs.hidden_states[0][0].numpy()


@pytest.mark.parametrize(("pair", "length"), [("", 0), ("the dog", 0), ("the dog", 14)])
def test_the_sum_normalised_is_the_first_hidden_state(
    tiny_engine: Engine, pair: str, length: int
) -> None:
    result = task.input(tiny_engine, "the cat sat", pair, length=length)
    assert len(result) == max(length, 8 if pair else 5)
    np.testing.assert_array_equal(result.word + result.position + result.segment, result.sum)
    np.testing.assert_allclose(result.normalised, states(tiny_engine, result), atol=1e-6)
    centred = result.sum - result.mean[:, None]
    redone = centred / np.sqrt(result.variance[:, None] + result.epsilon) * result.scale
    np.testing.assert_allclose(redone + result.shift, result.normalised, atol=1e-5)
    assert result.rows == (tiny_engine.provenance.vocabulary, 48, 2)


def test_padding_is_a_piece_that_is_masked(tiny_engine: Engine) -> None:
    result = task.input(tiny_engine, "cat", length=5)
    assert result.tokens == ("[CLS]", "cat", "[SEP]", "[PAD]", "[PAD]")
    assert result.attention_mask == (1, 1, 1, 0, 0)
    assert result.real == 3
    assert result.input_ids[3] == tiny_engine.tokenizer.vocab["[PAD]"]
    longer = task.input(tiny_engine, "the cat sat on the mat", length=5)
    assert len(longer) == longer.real == 8
    np.testing.assert_array_equal(longer.position[:5], result.position)


def test_what_cannot_be_read_is_refused_with_numbers(tiny_engine: Engine) -> None:
    with pytest.raises(InputError, match="empty"):
        task.input(tiny_engine, " ")
    with pytest.raises(InputError, match=r"62 tokens.*48"):
        task.input(tiny_engine, "cat " * 60)
    with pytest.raises(InputError, match=r"49.*48"):
        task.input(tiny_engine, "cat", length=49)


def test_any_text_can_be_taken_apart(tiny_engine: Engine, nasty: str) -> None:
    if len(tiny_engine.tokenizer.encode(nasty)) > 48:
        nasty = nasty[:20]
    result = task.input(tiny_engine, nasty)
    assert result.word.shape == (len(result), 32)
