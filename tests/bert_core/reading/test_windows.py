"""The rule of windows: every place is read once, as far from a cut as any window has it."""

from pathlib import Path

import numpy as np
import pytest

from bert_core.reading.windows import Windows, cut_windows, first_of_text, readers
from bert_core.text.encoding import window_bounds
from bert_core.text.tokenizer import BertTokenizer

CASES = [
    (tokens, size, stride)
    for tokens in (1, 2, 7, 12, 13, 40, 41)
    for size, stride in ((1, 0), (7, 0), (7, 3), (7, 6), (12, 4), (12, 5))
]


def distance(bounds: list[tuple[int, int]], window: int, first: int, last: int) -> float:
    """How far a stretch is from the nearest cut of a window; -1 where it is not held whole."""
    start, end = bounds[window]
    if not (start <= first and last < end):
        return -1
    before = first - start if start > 0 else np.inf
    after = end - 1 - last if end < bounds[-1][1] else np.inf
    return min(before, after)


@pytest.mark.parametrize(("tokens", "size", "stride"), CASES)
def test_every_stretch_is_read_by_the_first_window_with_most_room(
    tokens: int, size: int, stride: int
) -> None:
    bounds = window_bounds(tokens, size=size, stride=stride)
    longest = min(tokens, 5)
    number, room = readers(bounds, longest)
    assert number.shape == room.shape == (tokens, longest)
    for first in range(tokens):
        for more in range(longest):
            rooms = [distance(bounds, w, first, first + more) for w in range(len(bounds))]
            most = max(rooms)
            expected = rooms.index(most) if most >= 0 else -1
            assert number[first, more] == expected
            assert room[first, more] == min(most, tokens)


@pytest.fixture
def tiny_tokenizer(tiny_folder: Path) -> BertTokenizer:
    return BertTokenizer.from_pretrained(tiny_folder)


@pytest.mark.parametrize("question", [None, "the cat?"])
@pytest.mark.parametrize(("fits", "size", "stride"), [(500, 20, 4), (20, 20, 4), (17, 16, 0)])
def test_inputs_hold_the_tokens_that_the_bounds_name(
    tiny_tokenizer: BertTokenizer, question: str | None, fits: int, size: int, stride: int
) -> None:
    text = "the cat sat on the river bank, playing. " * 9
    texts = (text,) if question is None else (question, text)
    whole = tiny_tokenizer.encode(*texts)
    windows = cut_windows(tiny_tokenizer, whole, fits=fits, size=size, stride=stride)
    opening = first_of_text(whole)
    tokens = whole.input_ids[opening:-1]
    assert windows.bounds[0][0] == 0 and windows.bounds[-1][1] == len(tokens)
    for window, (first, end) in zip(windows.inputs, windows.bounds, strict=True):
        assert window.input_ids[:opening] == whole.input_ids[:opening]
        assert window.input_ids[opening:-1] == tokens[first:end]
    assert windows.shared == (stride if fits < len(whole) else 0)
    if fits >= len(whole):
        assert windows == Windows((whole,), ((0, len(tokens)),))
