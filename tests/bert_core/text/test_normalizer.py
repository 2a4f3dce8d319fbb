"""Characters: the tables, canonical ordering, and where every character came from."""

import random
import unicodedata
from typing import Any

import pytest
from tokenizers import normalizers

from bert_core.errors import InputError
from bert_core.text.normalizer import (
    BLANK,
    CHINESE,
    LOWERED,
    NONSPACING,
    PUNCTUATION,
    REMOVED,
    REORDERED,
    CodePoints,
    Normalizer,
    combining_class,
    decompose,
)


def test_a_set_of_code_points_knows_its_ends() -> None:
    points = CodePoints("61-63 7a 1f600-1f64f")
    assert [char for char in "`abcdyz{" if char in points] == ["a", "b", "c", "z"]
    assert "\U0001f600" in points
    assert "\U0001f650" not in points
    assert "".join(points)[:4] == "abcz"


def test_large_and_small_sets_answer_alike() -> None:
    large = CodePoints("0-1fff 3000 5000-5fff")
    for char in ("\0", "\u1fff", "\u2000", "\u3000", "\u3001", "\u4fff", "\u5000", "\u6000"):
        assert (char in large) == (char in set(large))


def test_lower_case_and_decomposition_equal_the_reference() -> None:
    lower, nfd = normalizers.Lowercase().normalize_str, normalizers.NFD().normalize_str
    for point in (*range(0xD800), *range(0xE000, 0x20000), *range(0x2F800, 0x2FA20)):
        char = chr(point)
        assert LOWERED.get(char, char) == lower(char), hex(point)
        assert decompose(char) == nfd(char), hex(point)


def test_no_rule_depends_on_the_unicode_version_of_this_python() -> None:
    # U+11938 has a decomposition since Unicode 13, U+1C89 a lower case since Unicode 16, and
    # U+2E52 is punctuation since Unicode 14: every Python must answer as the reference does.
    assert decompose("\U00011938") == "\U00011938"
    assert LOWERED["\u1c89"] == "\u1c8a"
    assert "\u2e52" not in PUNCTUATION


def test_the_sets_do_not_contradict_each_other() -> None:
    for char in PUNCTUATION:
        assert combining_class(char) == 0
        assert char not in REMOVED
        assert char not in NONSPACING
    for char in BLANK:
        assert char not in CHINESE
        assert combining_class(char) == 0


def reference_order(text: str) -> str:
    return str(normalizers.NFD().normalize_str(text))


def test_marks_are_ordered_as_the_reference_orders_them() -> None:
    chooser = random.Random(11)
    marks, bases = list(REORDERED), "aéẬ각\u0958\u0344"
    normalizer = Normalizer(lowercase=False, strip_accents=True)
    for _ in range(3_000):
        text = chooser.choice(bases) + "".join(chooser.choices(marks, k=chooser.randrange(1, 6)))
        cleaned = "".join(char for char in text if char not in REMOVED)
        expected = "".join(c for c in reference_order(cleaned) if c not in NONSPACING)
        assert normalizer.normalize(text).text.replace(" ", "") == expected


def test_combining_classes_of_old_characters_are_those_of_unicode() -> None:
    assert combining_class("\u0301") == unicodedata.combining("\u0301") == 230
    assert combining_class("a") == 0


@pytest.mark.parametrize(
    ("text", "normalized", "origins"),
    [
        ("Crème", "creme", None),
        ("cre\u0300me", "creme", [0, 1, 2, 4, 5]),
        ("a\u200bB", "ab", [0, 2]),
        ("각", "\u1100\u1161\u11a8", [0, 0, 0]),
        ("x海y", "x 海 y", [0, 1, 1, 1, 2]),
        ("≮", " < ", [0, 0, 0]),
        ("İ", "i", None),
        # The second mark overtakes the first and takes its place.
        ("a\u0344\u302e", "a\u302e", [0, 1]),
    ],
)
def test_every_character_knows_its_origin(
    text: str, normalized: str, origins: list[int] | None
) -> None:
    assert Normalizer().normalize(text) == (normalized, origins)


def test_a_million_different_characters_do_not_fill_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bert_core.text.normalizer._TABLE_LIMIT", 50)
    normalizer = Normalizer()
    text = "".join(map(chr, range(0x400, 0x600)))
    expected = Normalizer()
    assert normalizer.normalize(text) == expected.normalize(text)
    assert len(normalizer) == 50


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(InputError, match=r"U\+D83D"):
        Normalizer().normalize("a\ud83db")


def test_stages_end_in_the_normalised_text(strange_texts: list[str], peers: Any) -> None:
    normalizer = peers.ours.normalizer
    for text in strange_texts[:3_000]:
        normalized = normalizer.normalize(text).text
        assert normalizer.stages(text)[-1].replace(" ", "") == normalized.replace(" ", "")
