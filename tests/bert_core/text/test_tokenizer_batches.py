"""The call that gives what a model's `forward` takes, beside `transformers`."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
import transformers

from bert_core.errors import InputError
from bert_core.text.tokenizer import BertTokenizer

TEXTS = ["the cat sat on the mat.", "Crème [MASK]", "", "unhappyness of the river bank, it won"]
PAIRS = ["it was", "the people of the world", "don't", ""]
NAMES = ["input_ids", "token_type_ids", "attention_mask"]


@pytest.fixture(scope="module")
def peer(vocab_file: Path) -> Any:
    return transformers.BertTokenizerFast(str(vocab_file), do_lower_case=True)


@pytest.mark.parametrize("pairs", [None, PAIRS], ids=["single", "pairs"])
def test_lists_equal_the_peers(uncased: Any, peer: Any, pairs: list[str] | None) -> None:
    options = product((False, True, "longest", "max_length"), (True, "longest_first"), (6, 9, 40))
    for padding, truncation, length in options:
        chosen = {"padding": padding, "truncation": truncation, "max_length": length}
        expected = peer(TEXTS, pairs, **chosen)
        assert uncased.ours(TEXTS, pairs, **chosen) == {name: expected[name] for name in NAMES}


@pytest.mark.parametrize("kind", ["pt", "np"])
def test_tensors_equal_the_peers(uncased: Any, peer: Any, kind: str) -> None:
    for texts in (TEXTS, TEXTS[0], [TEXTS[0]]):
        found = uncased.ours(texts, padding=True, return_tensors=kind)
        expected = peer(texts, padding=True, return_tensors=kind)
        assert list(found) == NAMES
        for name in NAMES:
            assert type(found[name]) is type(expected[name])
            assert found[name].dtype == expected[name].dtype
            assert found[name].tolist() == expected[name].tolist()


def test_without_truncation_nothing_is_cut(uncased: Any) -> None:
    long = "the cat " * 40
    assert len(uncased.ours(long, max_length=8)["input_ids"]) == 82
    assert len(uncased.ours(long, max_length=8, padding="max_length")["input_ids"]) == 82


def test_the_tokenizers_own_limit_counts_where_none_is_given(vocab_file: Path) -> None:
    tokenizer = BertTokenizer(vocab_file, max_len=7)
    assert len(tokenizer("the cat " * 40, truncation=True)["input_ids"]) == 7
    assert len(tokenizer("the", padding="max_length")["input_ids"]) == 7
    assert len(tokenizer("the cat " * 40)["input_ids"]) == 82
    assert len(BertTokenizer(vocab_file)("the cat " * 40, truncation=True)["input_ids"]) == 82


def test_no_texts_give_no_rows(uncased: Any) -> None:
    assert uncased.ours([]) == {name: [] for name in NAMES}
    found = uncased.ours([], padding=True, return_tensors="pt")["input_ids"]
    assert isinstance(found, torch.Tensor)
    assert (found.shape, found.dtype) == ((0, 0), torch.int64)
    assert isinstance(uncased.ours([], return_tensors="np")["input_ids"], numpy.ndarray)


def test_padding_needs_a_padding_token_only_where_rows_differ(
    make_vocab: Callable[..., Path],
) -> None:
    tokenizer = BertTokenizer(make_vocab(["a"], ["[UNK]", "[CLS]", "[SEP]"]))
    assert tokenizer(["a", "b"], padding=True)["input_ids"] == [[1, 3, 2], [1, 0, 2]]
    with pytest.raises(InputError, match=r"has no \[PAD\]"):
        tokenizer(["a", "a a"], padding=True)
