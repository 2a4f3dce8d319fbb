"""Characters: what the reference says of each, canonical ordering, and where each came from."""

import random

import pytest
from tokenizers import normalizers

from bert_core.text.characters import (
    Role,
    combining_class,
    decomposed,
    in_canonical_order,
    lowered,
    role,
)
from bert_core.text.tokenizer import BasicTokenizer

POINTS = [*range(0x300, 0xD800), *range(0xE000, 0x1E900)]
MARKS = [c for c in map(chr, POINTS) if combining_class(c) and decomposed(c) == c]


def test_no_rule_depends_on_the_unicode_version_of_this_python() -> None:
    # U+11938 has a decomposition since Unicode 13, U+1C89 a lower case since Unicode 16, and
    # U+2E52 is punctuation since Unicode 14: every Python must answer as the reference does.
    assert decomposed("\U00011938") == "\U00011938"
    assert lowered("\u1c89") == "\u1c8a"
    assert role("\u2e52") is Role.IN_WORD


def test_marks_are_ordered_as_the_reference_orders_them() -> None:
    chooser = random.Random(11)
    assert len(MARKS) > 700
    for _ in range(3_000):
        text = chooser.choice("aéẬ각\u0958\u0344")
        text += "".join(chooser.choices(MARKS, k=chooser.randrange(1, 6)))
        found = in_canonical_order([(char, at) for at, char in enumerate(text)])
        assert "".join(char for char, _ in found) == normalizers.NFD().normalize_str(text)


@pytest.mark.parametrize(
    ("text", "normalized", "places"),
    [
        ("Crème", "creme", [0, 1, 2, 3, 4]),
        ("cre\u0300me", "creme", [0, 1, 2, 4, 5]),
        ("a\u200bB", "ab", [0, 2]),
        ("각", "\u1100\u1161\u11a8", [0, 0, 0]),
        ("x海y", "x 海 y", [0, 1, 1, 1, 2]),
        ("≮", "<", [0]),
        ("İ", "i", [0]),
        # The second mark overtakes the first and takes its place.
        ("a\u0344\u302e", "a\u302e", [0, 1]),
    ],
)
def test_every_character_knows_where_it_came_from(
    text: str, normalized: str, places: list[int]
) -> None:
    found = BasicTokenizer().normalize(text)
    assert (found.normalized, found.places) == (normalized, places)
