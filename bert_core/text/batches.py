"""What all tokenizers share: several texts at once, as lists or as tensors for a model."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy
import torch

from bert_core.errors import InputError
from bert_core.text.encoding import Encoding, check_strategy
from bert_core.text.vocabulary import Vocabulary


class TextTokenizer(Vocabulary, ABC):
    """A tokenizer that can encode one text, and so also many.

    Attributes:
        max_len: longest input of the model in tokens; None for no limit.
        do_lower_case: whether the text is lower-cased.
        contradictions: sentences on files that say different things; see `BertTokenizer`.
        truncation_side: "right" or "left", where a text is shortened.
        padding_side: "right" or "left", where padding is put.
    """

    truncation_side: str = "right"
    padding_side: str = "right"
    max_len: int | None
    do_lower_case: bool
    contradictions: tuple[str, ...]

    @abstractmethod
    def encode(
        self,
        text: str,
        text_pair: str | None = None,
        *,
        max_length: int | None = None,
        truncation: str = "longest_first",
    ) -> Encoding:
        """Encode a text or a pair of texts as input for the model."""

    @abstractmethod
    def encode_ids(
        self, texts: Iterable[str], *, add_special_tokens: bool = True
    ) -> list[list[int]]:
        """Return only the ids of several texts."""

    @abstractmethod
    def encode_windows(
        self, text: str, text_pair: str | None = None, *, max_length: int, stride: int
    ) -> list[Encoding]:
        """Encode a text too long for the model as overlapping inputs."""

    @abstractmethod
    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text, without added ones."""

    def encode_batch(
        self,
        texts: Iterable[str],
        pairs: Iterable[str] | None = None,
        *,
        max_length: int | None = None,
        truncation: str = "longest_first",
    ) -> list[Encoding]:
        """Encode several texts, or several pairs of texts; see `encode`.

        Raises:
            InputError: as for `encode`, or the numbers of texts and pairs differ.
        """
        return [
            self.encode(text, pair, max_length=max_length, truncation=truncation)
            for text, pair in _paired(texts, pairs)
        ]

    def __call__(
        self,
        texts: str | Sequence[str],
        pairs: str | Sequence[str] | None = None,
        *,
        padding: bool | str = False,
        truncation: bool | str = False,
        max_length: int | None = None,
        return_tensors: str | None = None,
    ) -> dict[str, Any]:
        """Encode one or more texts as keyword arguments for a model's `forward`.

        Args:
            texts: one text, or a sequence of texts.
            pairs: the second texts, one for each of `texts`.
            padding: False, True or "longest" (to the longest input of the batch), or
                "max_length".
            truncation: False, True ("longest_first"), or the name of a rule; see `encode`.
            max_length: largest number of tokens; None means the tokenizer's `max_len`.
            return_tensors: None for lists, "pt" for PyTorch, "np" for NumPy.

        Returns:
            `input_ids`, `token_type_ids` and `attention_mask`, each (B, T) as lists or tensors; a
            single text without `return_tensors` gives lists (T,).

        Raises:
            InputError: as for `encode`, an option is unknown, or inputs of different lengths are
                requested as a tensor.
        """
        max_length = max_length if max_length is not None else self.max_len
        cut = {} if truncation is False else _cutting(truncation, max_length)
        if isinstance(texts, str):
            if not (pairs is None or isinstance(pairs, str)):
                raise InputError("Found one text and a list of second texts; expected one of each.")
            encodings = [self.encode(texts, pairs, **cut)]
        else:
            encodings = self.encode_batch(texts, pairs, **cut)
        columns = {
            "input_ids": [list(encoding.input_ids) for encoding in encodings],
            "token_type_ids": [encoding.token_type_ids for encoding in encodings],
            "attention_mask": [encoding.attention_mask for encoding in encodings],
        }
        if padding is not False:
            _pad(columns, _padded_length(encodings, padding, max_length), self)
        if return_tensors is not None:
            return {name: _tensor(rows, return_tensors) for name, rows in columns.items()}
        return (
            {name: rows[0] for name, rows in columns.items()} if isinstance(texts, str) else columns
        )


def listed_texts(texts: Iterable[str]) -> list[str]:
    """Return several texts as a list."""
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise InputError(
            f"Expected a list of texts, found {type(texts).__name__}. For one text use `encode`, "
            "or put it in a list."
        )
    return list(texts)


def _paired(texts: Iterable[str], pairs: Iterable[str] | None) -> list[tuple[str, str | None]]:
    """Pair each text with its second text, or with None."""
    first = listed_texts(texts)
    if pairs is None:
        return [(text, None) for text in first]
    second = listed_texts(pairs)
    if len(first) != len(second):
        raise InputError(
            f"There are {len(first)} texts and {len(second)} second texts; expected the same "
            "number of each."
        )
    return list(zip(first, second, strict=True))


def _cutting(truncation: bool | str, max_length: int | None) -> dict[str, Any]:
    rule = "longest_first" if truncation is True else check_strategy(str(truncation))
    return {"max_length": max_length, "truncation": rule}


def _padded_length(encodings: list[Encoding], padding: bool | str, max_length: int | None) -> int:
    if padding is True or padding == "longest":
        return max(map(len, encodings), default=0)
    if padding != "max_length":
        raise InputError(
            f"There is no padding {padding!r}; expected True, False, 'longest' or 'max_length'."
        )
    if max_length is None:
        raise InputError(
            "padding='max_length' needs a length, and this tokenizer has no `max_len`. "
            "Pass max_length."
        )
    return max_length


def _pad(columns: dict[str, list[list[int]]], length: int, tokenizer: TextTokenizer) -> None:
    short = any(len(row) < length for row in columns["input_ids"])
    fill = {"input_ids": tokenizer.pad_token_id if short else 0}
    for name, rows in columns.items():
        for row in rows:
            at = 0 if tokenizer.padding_side == "left" else len(row)
            row[at:at] = [fill.get(name, 0)] * (length - len(row))


def _tensor(rows: list[list[int]], kind: str) -> Any:
    if kind not in ("pt", "np"):
        raise InputError(f"There are no tensors of kind {kind!r}; expected 'pt' or 'np'.")
    if len({len(row) for row in rows}) > 1:
        lengths = sorted({len(row) for row in rows})
        raise InputError(
            f"The inputs have {lengths[0]} to {lengths[-1]} tokens; expected equal lengths for a "
            "tensor. Use padding=True."
        )
    array = numpy.array(rows, dtype=numpy.int64) if rows else numpy.zeros((0, 0), numpy.int64)
    return torch.from_numpy(array) if kind == "pt" else array
