"""Pieces of two tokenizers are paired by the characters of the text."""

from pathlib import Path

import pytest

from bert_core import BertTokenizer
from bert_core.reading.alignment import align_pieces

ONE = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "un", "##happy", "##s", "."]
OTHER = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "ca", "##ts", "##t", "unhappy", "."]


def tokenizer(folder: Path, vocabulary: list[str]) -> BertTokenizer:
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    return BertTokenizer.from_pretrained(str(folder))


@pytest.fixture
def both(tmp_path: Path) -> tuple[BertTokenizer, BertTokenizer]:
    return tokenizer(tmp_path / "one", ONE), tokenizer(tmp_path / "other", OTHER)


def test_what_covers_the_same_characters_is_paired(
    both: tuple[BertTokenizer, BertTokenizer],
) -> None:
    first, second = (each.encode("the cats", "unhappy.") for each in both)
    assert first.tokens == ["[CLS]", "the", "cat", "##s", "[SEP]", "un", "##happy", ".", "[SEP]"]
    assert second.tokens == ["[CLS]", "the", "ca", "##ts", "[SEP]", "unhappy", ".", "[SEP]"]
    assert align_pieces(first, second) == (
        ((0,), (0,)), ((1,), (1,)), ((2, 3), (2, 3)), ((4,), (4,)), ((5, 6), (5,)), ((7,), (6,)),
        ((8,), (7,)),
    )  # fmt: skip
    assert align_pieces(second, first) == tuple((b, a) for a, b in align_pieces(first, second))


def test_what_only_one_input_has_is_left_out(both: tuple[BertTokenizer, BertTokenizer]) -> None:
    first = both[0].encode("the cat.", max_length=4)  # [CLS] the cat [SEP]
    second = both[1].encode("the cat.")
    assert align_pieces(first, second)[-2:] == (((2,), (2, 3)), ((3,), (5,)))


def test_every_piece_of_a_nasty_text_has_one_place(
    both: tuple[BertTokenizer, BertTokenizer], nasty: str
) -> None:
    first, second = (each.encode(nasty) for each in both)
    found = align_pieces(first, second)
    for which, encoding in enumerate((first, second)):
        assert [at for pair in found for at in pair[which]] == list(range(len(encoding)))
    for a, b in found[1:-1]:
        ends = [(each.offsets[at[0]][0], each.offsets[at[-1]][1])
                for each, at in ((first, a), (second, b))]  # fmt: skip
        assert ends[0] == ends[1]
