"""Many texts at once: pairing, padding, and the dictionary that a model's `forward` takes."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy
import torch

from bert_core.errors import InputError
from bert_core.text.encoding import Encoding
from bert_core.text.truncation import check_strategy

if TYPE_CHECKING:
    from bert_core.text.tokenizer import BertTokenizer


class BatchOptions(NamedTuple):
    """How a batch is shaped; see `BertTokenizer.__call__`."""

    padding: bool | str
    truncation: bool | str
    max_length: int | None
    return_tensors: str | None


def listed(texts: Iterable[str]) -> list[str]:
    """Return many texts as a list.

    Raises:
        InputError: `texts` is a single text, or cannot be gone through.
    """
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise InputError(
            f"Expected a list of texts, found {type(texts).__name__}. For one text use `encode`, "
            "or put it into a list."
        )
    return list(texts)


def paired(texts: Iterable[str], pairs: Iterable[str] | None) -> list[tuple[str, str | None]]:
    """Put each text beside its second text, or beside None.

    Raises:
        InputError: there are more of one than of the other.
    """
    first = listed(texts)
    if pairs is None:
        return [(text, None) for text in first]
    second = listed(pairs)
    if len(first) != len(second):
        raise InputError(
            f"There are {len(first)} texts and {len(second)} second texts; expected as many of "
            "each."
        )
    return list(zip(first, second, strict=True))


def encode_dictionary(
    tokenizer: "BertTokenizer",
    texts: str | Sequence[str],
    pairs: str | Sequence[str] | None,
    options: BatchOptions,
) -> dict[str, Any]:
    """Encode, cut, pad and convert; see `BertTokenizer.__call__`."""
    single = isinstance(texts, str)
    max_length = options.max_length if options.max_length is not None else tokenizer.max_len
    cut = {} if options.truncation is False else _cutting(options.truncation, max_length)
    if isinstance(texts, str):
        if not (pairs is None or isinstance(pairs, str)):
            raise InputError("Found one text and a list of second texts; expected one of each.")
        encodings = [tokenizer.encode(texts, pairs, **cut)]
    else:
        encodings = tokenizer.encode_batch(texts, pairs, **cut)
    columns = {
        "input_ids": [list(encoding.input_ids) for encoding in encodings],
        "token_type_ids": [encoding.token_type_ids for encoding in encodings],
        "attention_mask": [encoding.attention_mask for encoding in encodings],
    }
    if options.padding is not False:
        _pad(columns, _padded_length(encodings, options.padding, max_length), tokenizer)
    if options.return_tensors is not None:
        return {name: _tensor(rows, options.return_tensors) for name, rows in columns.items()}
    return {name: rows[0] for name, rows in columns.items()} if single else columns


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
            "Give max_length=."
        )
    return max_length


def _pad(columns: dict[str, list[list[int]]], length: int, tokenizer: "BertTokenizer") -> None:
    short = any(len(row) < length for row in columns["input_ids"])
    fill = {"input_ids": tokenizer.pad_token_id if short else 0}
    for name, rows in columns.items():
        for row in rows:
            row += [fill.get(name, 0)] * (length - len(row))


def _tensor(rows: list[list[int]], kind: str) -> Any:
    if kind not in ("pt", "np"):
        raise InputError(f"There are no tensors of kind {kind!r}; expected 'pt' or 'np'.")
    if len({len(row) for row in rows}) > 1:
        lengths = sorted({len(row) for row in rows})
        raise InputError(
            f"The inputs have from {lengths[0]} to {lengths[-1]} tokens and do not fit into one "
            "tensor. Use padding=True."
        )
    array = numpy.array(rows, dtype=numpy.int64) if rows else numpy.zeros((0, 0), numpy.int64)
    return torch.from_numpy(array) if kind == "pt" else array
