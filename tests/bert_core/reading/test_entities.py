"""The reader of labels: against plain loops over the model's own numbers, and the site."""

import numpy as np
import pytest
import torch

from bert_core import BertForTokenClassification, BertTokenizer
from bert_core.reading.entities import read_texts
from bert_core.reading.running import Runner
from bert_core.reading.tagging import TagScheme

SHORT = "Playing the catdog sat, on the river bank!"
LONG = " ".join(["the cat sat playing on matriver banks, dog!"] * 12)


@pytest.mark.parametrize("text", [SHORT, LONG])
def test_every_piece_has_the_labels_of_the_window_with_most_around_it(
    tagger: BertForTokenClassification, tokenizer: BertTokenizer, text: str
) -> None:
    [found] = read_texts(Runner.of(tagger, tokenizer), [text], temperature=1.5)
    count, first = len(tokenizer.tokenize(text)), 0
    best: dict[int, tuple[float, np.ndarray]] = {}
    for window in tokenizer.encode_windows(text, max_length=48, stride=12):
        with torch.no_grad():
            logits = tagger(torch.tensor([window.input_ids]))[0, 1:-1]
        for at, row in enumerate((logits.double() / 1.5).softmax(-1).numpy()):
            left = at if first else np.inf
            right = len(logits) - 1 - at if first + len(logits) < count else np.inf
            if min(left, right) > best.get(first + at, (-1.0, row))[0]:
                best[first + at] = (min(left, right), row)
        first += len(logits) - 12
    assert len(found) == count == len(best)
    expected = np.stack([best[piece][1] for piece in range(count)])
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-6)
    assert found.coverage.context == min(count, *(room for room, _ in best.values()))


def test_texts_read_together_are_as_each_alone(
    tagger: BertForTokenClassification, tokenizer: BertTokenizer
) -> None:
    runner, scheme = Runner.of(tagger, tokenizer), TagScheme.of(tagger.config)
    texts = [LONG, "cat", SHORT, ""]
    for text, together in zip(texts, read_texts(runner, texts), strict=True):
        [alone] = read_texts(runner, [text])
        assert together.text == text
        assert together.spans == alone.spans
        np.testing.assert_allclose(together.probabilities, alone.probabilities, atol=1e-5)
        assert len(together.entities(scheme).entities) == len(alone.entities(scheme).entities)


def test_the_first_piece_of_a_place_is_found_or_missed(
    tagger: BertForTokenClassification, tokenizer: BertTokenizer
) -> None:
    text = "the playing \u200b cat"
    [found] = read_texts(Runner.of(tagger, tokenizer), [text])
    assert found.tokens == ("the", "play", "##ing", "cat")
    places = [(0, 3), (4, 11), (12, 13), (14, 17), (17, 17)]
    assert found.first_pieces(places).tolist() == [0, 1, -1, 3, -1]
    assert found.first_pieces([]).tolist() == []
