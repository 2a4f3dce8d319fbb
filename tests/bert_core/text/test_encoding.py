"""What the tokenizer hands out."""

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from bert_core.errors import InputError
from bert_core.text.encoding import Encoding

TEXT, PAIR = "The cat's Crème!", "It won"


@pytest.fixture
def encoding(uncased: Any) -> Encoding:
    found: Encoding = uncased.ours.encode(TEXT, PAIR)
    return found


def test_added_tokens_belong_to_no_word_and_no_text(encoding: Encoding) -> None:
    added = [at for at, flag in enumerate(encoding.special_tokens_mask) if flag]
    assert [encoding.tokens[at] for at in added] == ["[CLS]", "[SEP]", "[SEP]"]
    for at in added:
        assert encoding.offsets[at] == (0, 0)
        assert encoding.word_ids[at] is None
        assert encoding.sequence_ids[at] is None
    assert encoding.token_type_ids == [0] * (added[1] + 1) + [1] * (added[2] - added[1])


def test_special_tokens_in_the_text_are_not_added_ones(uncased: Any) -> None:
    found = uncased.ours.encode("the [MASK] [SEP]")
    assert found.special_tokens_mask == [1, 0, 0, 0, 1]
    assert found.word_ids == [None, 0, 1, 2, None]
    assert found.offsets[2] == (4, 10)


@pytest.mark.parametrize("name", ["input_ids", "text", "truncated", "anything", "_first"])
def test_an_encoding_is_frozen(encoding: Encoding, name: str) -> None:
    with pytest.raises(FrozenInstanceError, match=name):
        setattr(encoding, name, [1])
    with pytest.raises(FrozenInstanceError, match=name):
        delattr(encoding, name)


def test_only_special_tokens_have_a_special_id(uncased: Any) -> None:
    with pytest.raises(InputError, match=r"'cat' is not a special token.*\[MASK\]"):
        uncased.ours.encode("cat").special_id("cat")
