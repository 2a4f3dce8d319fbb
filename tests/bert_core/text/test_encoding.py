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


@pytest.mark.parametrize("name", ["input_ids", "text", "truncated", "anything", "_first"])
def test_an_encoding_is_frozen(encoding: Encoding, name: str) -> None:
    with pytest.raises(FrozenInstanceError, match=name):
        setattr(encoding, name, [1])
    with pytest.raises(FrozenInstanceError, match=name):
        delattr(encoding, name)


def test_only_special_tokens_have_a_special_id(uncased: Any) -> None:
    with pytest.raises(InputError, match=r"'cat' is not a special token.*\[MASK\]"):
        uncased.ours.encode("cat").special_id("cat")
