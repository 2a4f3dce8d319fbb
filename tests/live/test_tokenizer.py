"""The tokenizer of the browser gives the ids, places and words of ours."""

import random
import sys
import unicodedata
from collections.abc import Sequence

import pytest
import regex

from app.engine.models import Engine
from bert_core import Encoding
from tests.conftest import NASTY
from tests.live.conftest import Node

_TOGETHER = 64  # code points in a text
_MIXTURES = 5_000
_RANGES = (
    *((0x20, 0x7F), (0xA0, 0x600), (0x300, 0x370), (0x900, 0x1200), (0x1E00, 0x2100)),
    *((0x3000, 0x3200), (0x4E00, 0xA000), (0xAC00, 0xD7A4), (0xF900, 0xFFFE)),
    *((0x1F300, 0x1F700), (0x10000, 0x20000)),
)
_ALIKE = (
    *((0x3400, 0x9FFF), (0xAC00, 0xD7A3), (0xE000, 0xF8FF), (0x12000, 0x16FFF)),
    (0x20000, 0x10FFFF),
)
_PARTS = ("[MASK]", "[SEP]", "[CLS]", "[", "##", "\u200d", "the", "un", "able", " ", "  ", "\n\t")


def _code_points() -> list[str]:
    """Return texts with every code point, between letters where there may be marks and cases.

    Elsewhere (ideographs, syllables, private use, the planes from 2 on) they follow each other:
    one that is dropped, or is a word of its own, shows all the same.
    """
    every = [chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point <= 0xDFFF]
    groups = (every[at : at + _TOGETHER] for at in range(0, len(every), _TOGETHER))
    return [
        "".join(group)
        if any(first <= ord(group[0]) <= last for first, last in _ALIKE)
        else " ".join(f"a{char}b" for char in group)
        for group in groups
    ]


def _mixtures() -> list[str]:
    rng = random.Random(1)
    pool = [chr(rng.randrange(*rng.choice(_RANGES))) for _ in range(5000)]
    # Left out: what only a newer Unicode calls a mark, and viramas after letters of other scripts.
    pool = [char for char in pool if regex.match(r"[^\p{InCB=Linker}]", char)
            and unicodedata.category(char) != "Cn"]  # fmt: skip
    pool += _PARTS * 40
    return ["".join(rng.choices(pool, k=rng.randint(1, 13))) for _ in range(_MIXTURES)]


def _read(encoding: Encoding) -> list[object]:
    places = ([list(span) for span in each] for each in (encoding.offsets, encoding.spans))
    return [encoding.input_ids, *places, encoding.words]


def _compared(node: Node, engine: Engine, texts: Sequence[str]) -> list[str]:
    """Return the texts that are read differently."""
    rows = node("encode", pairs=[(text, None) for text in texts])
    different = []
    for text, found in zip(texts, rows, strict=True):
        if found != _read(engine.tokenizer.encode(text)):
            different.append(text)
    return different


@pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.slow)])
def test_every_code_point_is_read_alike(node: Node, bundled: Engine, every: int) -> None:
    assert _compared(node, bundled, _code_points()[::every]) == []


def test_mixtures_of_scripts_marks_and_specials_are_read_alike(node: Node, bundled: Engine) -> None:
    assert _compared(node, bundled, _mixtures()) == []


@pytest.mark.parametrize("name", NASTY)
def test_pairs_are_framed_and_cut_alike(node: Node, bundled: Engine, name: str) -> None:
    text = NASTY[name]
    wanted = bundled.tokenizer.encode(text, "the cat")
    (found,) = node("encode", pairs=[(text, "the cat")])
    assert found == _read(wanted)
