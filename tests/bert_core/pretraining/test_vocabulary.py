"""Building a WordPiece vocabulary from text."""

from pathlib import Path

import pytest

from bert_core.errors import CheckpointError, InputError
from bert_core.pretraining import Join, build_vocabulary, write_vocabulary
from bert_core.text.tokenizer import BertTokenizer

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TEXT = ["low lower lowest low low", "new newer newest newest", "wide wider widest wide"] * 3


def test_special_tokens_come_first_then_characters_then_joined_pieces() -> None:
    vocabulary = build_vocabulary(TEXT, size=40)
    assert vocabulary[:5] == SPECIAL
    assert len(vocabulary) == len(set(vocabulary)) <= 40
    assert {"l", "##o", "##w", "n", "##e", "##s", "##t", "low", "##est"} <= set(vocabulary)


def test_the_most_frequent_pair_is_joined_first() -> None:
    vocabulary = build_vocabulary(["aab aab aab cd"], size=100, min_frequency=2)
    joined = [token for token in vocabulary[5:] if len(token.removeprefix("##")) > 1]
    assert joined == ["##ab", "aab"]


def test_size_is_a_hard_bound() -> None:
    for size in (20, 25, 30):
        assert len(build_vocabulary(TEXT, size=size)) == size


def test_the_order_of_the_texts_does_not_matter() -> None:
    assert build_vocabulary(TEXT, size=35) == build_vocabulary(reversed(TEXT), size=35)


def test_the_tokenizer_reads_every_word_of_the_text_back(tmp_path: Path) -> None:
    path = write_vocabulary(build_vocabulary(TEXT, size=60), tmp_path)
    assert path == tmp_path / "vocab.txt"
    tokenizer = BertTokenizer(str(path))
    for text in TEXT:
        assert tokenizer.decode(tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text))) == text
    assert tokenizer.tokenize("low newest") == ["low", "newest"]
    assert tokenizer.tokenize("zebra") == ["[UNK]"]


def test_accents_and_case_are_folded_unless_another_split_is_given() -> None:
    assert "E" not in build_vocabulary(["École École"], size=50)
    assert "É" in build_vocabulary(["École École"], size=50, split=str.split)


def test_rare_characters_are_left_out_beyond_the_alphabet_limit() -> None:
    vocabulary = build_vocabulary(["aaaa aaa bb", "x"], size=50, alphabet_limit=2)
    assert {"a", "b"} <= set(vocabulary)
    assert "x" not in vocabulary


def test_special_tokens_in_the_text_are_no_words() -> None:
    assert build_vocabulary(["[MASK] ab"], size=50, split=str.split).count("[MASK]") == 1


def test_too_little_text_or_room_is_refused() -> None:
    with pytest.raises(InputError, match="no words"):
        build_vocabulary([" ", ""])
    with pytest.raises(InputError, match="size is 6"):
        build_vocabulary(TEXT, size=6)


def test_joins_can_be_watched() -> None:
    joins: list[Join] = []
    vocabulary = build_vocabulary(["aab aab aab cd cd"], size=100, watch=joins.append)
    assert joins[0] == Join(("##a", "##b"), "##ab", 3)
    assert [join.piece for join in joins] == vocabulary[-len(joins) :]
    assert [join.count for join in joins] == [3, 3, 2]


def test_a_tokenizer_takes_the_pieces_themselves(tmp_path: Path) -> None:
    pieces = build_vocabulary(TEXT, size=60)
    own, read = BertTokenizer(pieces), BertTokenizer(write_vocabulary(pieces, tmp_path))
    assert own.encode(TEXT[0]).input_ids == read.encode(TEXT[0]).input_ids
    with pytest.raises(CheckpointError, match="no \\[UNK\\]"):
        BertTokenizer(["a", "b"])
