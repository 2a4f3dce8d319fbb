"""Building a WordPiece vocabulary from text."""

from pathlib import Path

import pytest

from bert_core.errors import CheckpointError, InputError
from bert_core.pretraining import build_vocabulary, write_vocabulary
from bert_core.text.tokenizer import BertTokenizer

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TEXT = ["low lower lowest low low", "new newer newest newest", "wide wider widest wide"] * 3


def test_special_tokens_come_first_then_characters_then_joined_pieces() -> None:
    vocabulary = build_vocabulary(TEXT, size=40)
    assert vocabulary[:5] == SPECIAL
    assert len(vocabulary) == len(set(vocabulary)) <= 40
    assert {"l", "##o", "##w", "n", "##e", "##s", "##t", "low", "##est"} <= set(vocabulary)


def test_size_is_a_hard_bound_and_the_order_of_the_texts_does_not_matter() -> None:
    for size in (20, 25, 30):
        found = build_vocabulary(TEXT, size=size)
        assert len(found) == size and found == build_vocabulary(reversed(TEXT), size=size)


def test_the_tokenizer_reads_every_word_of_the_text_back(tmp_path: Path) -> None:
    path = write_vocabulary(build_vocabulary(TEXT, size=60), tmp_path)
    assert path == tmp_path / "vocab.txt"
    tokenizer, own = BertTokenizer(str(path)), BertTokenizer(build_vocabulary(TEXT, size=60))
    assert own.encode(TEXT[0]).input_ids == tokenizer.encode(TEXT[0]).input_ids
    for text in TEXT:
        assert tokenizer.decode(tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text))) == text
    assert tokenizer.tokenize("low newest") == ["low", "newest"]
    assert tokenizer.tokenize("zebra") == ["[UNK]"]


def test_options_decide_what_is_a_word_and_which_letters_count() -> None:
    assert "E" not in build_vocabulary(["École École"], size=50)
    assert "É" in build_vocabulary(["École École"], size=50, do_lower_case=False)
    assert build_vocabulary(["[MASK] ab"], size=50, do_lower_case=False).count("[MASK]") == 1
    vocabulary = build_vocabulary(["aaaa aaa bb", "x"], size=50, alphabet_limit=2)
    assert {"a", "b"} <= set(vocabulary) and "x" not in vocabulary


def test_too_little_text_or_room_is_refused() -> None:
    with pytest.raises(InputError, match="no words"):
        build_vocabulary([" ", ""])
    with pytest.raises(InputError, match="size is 6"):
        build_vocabulary(TEXT, size=6)
    with pytest.raises(CheckpointError, match="no \\[UNK\\]"):
        BertTokenizer(["a", "b"])


def test_the_most_frequent_pair_is_joined_first() -> None:
    vocabulary = build_vocabulary(["aab aab aab cd cd"], size=100)
    assert vocabulary[-3:] == ["##ab", "aab", "cd"]
    rare = build_vocabulary(["aab aab aab cd"], size=100, min_frequency=2)
    assert rare[-2:] == ["##ab", "aab"]
