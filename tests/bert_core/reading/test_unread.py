"""What a vocabulary cannot read: unknown pieces, scripts, words in crumbs."""

from pathlib import Path

import pytest

from bert_core import BertTokenizer
from bert_core.reading.unread import Unread, unread
from tests.conftest import VOCABULARY

CYRILLIC = ["а", "##а", "б", "##б", "в", "##в"]


def tokenizer(folder: Path, *more: str) -> BertTokenizer:
    """Return a tokenizer with the tiny vocabulary and more entries."""
    path = folder / "vocab.txt"
    path.write_text("\n".join([*VOCABULARY, *more]), encoding="utf-8")
    return BertTokenizer(str(path))


def found(tokens: BertTokenizer, *texts: str) -> Unread:
    return unread(tokens, [tokens.encode(*texts)])


def test_words_that_become_unknown_are_named_as_typed_and_once(tmp_path: Path) -> None:
    result = found(tokenizer(tmp_path), "Cat Ωmega 🍀", "Ωmega sat 🍀🍀")
    assert result.unknown == ("Ωmega", "🍀", "🍀🍀")
    assert result.anything


def test_a_first_text_that_several_inputs_have_counts_once(tmp_path: Path) -> None:
    tokens = tokenizer(tmp_path)
    result = unread(tokens, [tokens.encode("Ωmega 海", end) for end in ("the 海", "cat")])
    assert result == found(tokens, "Ωmega 海", "the 海 cat")
    assert result.scripts[0] == ("Chinese", 2)


def test_a_script_without_words_in_the_vocabulary_is_unknown(tmp_path: Path) -> None:
    result = found(tokenizer(tmp_path, "а"), "ааб вв cat 海")
    assert result.scripts == (("Cyrillic", 2), ("Chinese", 1))
    assert result.words == 4


def test_a_script_with_enough_words_in_the_vocabulary_is_known(tmp_path: Path) -> None:
    result = found(tokenizer(tmp_path, *CYRILLIC), "аа б", "в")
    assert result.scripts == ()
    assert not result.anything


@pytest.mark.parametrize(
    ("text", "fragments", "crumbles"),
    [
        ("the cat sat river xyz qqqq", 2, True),
        ("the cat sat on the mat bank xyz", 1, False),
        ("xyz the", 1, False),  # too short to tell
    ],
)
def test_many_words_in_small_pieces_are_told(
    tmp_path: Path, text: str, fragments: int, crumbles: bool
) -> None:
    result = found(tokenizer(tmp_path), text)
    assert (result.fragments, result.crumbles) == (fragments, crumbles)


def test_any_text_is_read_without_an_error(tmp_path: Path, nasty: str) -> None:
    found(tokenizer(tmp_path), nasty, nasty)
