"""Every code point, beside the reference: alone, between blanks, and inside a word."""

import unicodedata
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from tokenizers import normalizers, pre_tokenizers

from bert_core.text.tokenizer import BasicTokenizer

POINTS = [chr(point) for point in range(0x110000) if not 0xD800 <= point <= 0xDFFF]
# Nothing is assigned from U+32400 to U+DFFFF, nothing but private use stands above U+F0000.
ASSIGNED = [char for char in POINTS if ord(char) < 0x32400 or 0xE0000 <= ord(char) < 0xE0200]


def kind(char: str) -> tuple[object, ...]:
    """What neighbours have in common: category, class of a mark, case, and half a block."""
    block = ord(char) >> (7 if ord(char) < 0x32400 else 12)
    changes = char.lower() != char, unicodedata.decomposition(char) != ""
    return unicodedata.category(char), unicodedata.combining(char), changes, block


def borders() -> list[str]:
    """The code points at which the kind changes, and all that are next to one."""
    kinds = [kind(char) for char in POINTS]
    changes = (at for at, (left, right) in enumerate(pairwise(kinds)) if left != right)
    return sorted({char for at in changes for char in POINTS[at : at + 2]})


def batched(pieces: list[str], size: int) -> Iterator[str]:
    return (" ".join(pieces[at : at + size]) for at in range(0, len(pieces), size))


@pytest.mark.parametrize(
    ("lowercase", "points"),
    [
        pytest.param(True, borders, id="borders"),
        *(pytest.param(each, lambda: POINTS, id=f"all-{each}", marks=pytest.mark.slow)
          for each in (True, False)),
    ],
)  # fmt: skip
def test_words_of_every_code_point_equal_the_reference(
    lowercase: bool, points: Callable[[], list[str]]
) -> None:
    ours = BasicTokenizer(lowercase)
    rust = normalizers.BertNormalizer(lowercase=lowercase).normalize_str
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    for row in batched([f"x{char}y" for char in points()], 1_000):
        assert ours.tokenize(row) == [word for word, _ in split(rust(row))]


def test_every_code_point_beside_the_next(peers: Any) -> None:
    rows = ["".join(ASSIGNED[at : at + 60]) for at in range(0, len(ASSIGNED), 60)]
    rows = [*rows[:300], *rows[300::8]]  # the rest is Chinese, or not assigned
    assert peers.moved(rows) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "step"), [("{0} a{0}b", 1), ("e\u0301{0}\u0316x\u302e{0}\u0344", 3)]
)
def test_every_code_point_between_blanks_marks_and_letters(
    peers: Any, form: str, step: int
) -> None:
    rows = batched([form.format(char) for char in ASSIGNED[::step]], 500)
    assert peers.moved(list(rows)) == []
