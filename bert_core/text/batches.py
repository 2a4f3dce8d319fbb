"""What all tokenizers share: texts to encodings, cut and padded, as lists or as tensors."""

import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy
import torch
from torch import Tensor

from bert_core.errors import InputError
from bert_core.text.encoding import (
    Encoding,
    Part,
    Template,
    assembled,
    check_strategy,
    kept_lengths,
    window_bounds,
)
from bert_core.text.vocabulary import Vocabulary, path_of, write_file

_SURROGATE = re.compile("[\ud800-\udfff]")
_AT_ONCE = 10_000  # texts


class TextTokenizer(Vocabulary, ABC):
    """A tokenizer that can encode one text, and so also many.

    Attributes:
        max_len: longest input of the model in tokens; None for no limit.
        do_lower_case: whether the text is lower-cased.
        truncation_side: "right" or "left", where a text is shortened.
        padding_side: "right" or "left", where padding is put.
    """

    truncation_side: str = "right"
    padding_side: str = "right"
    max_len: int | None
    do_lower_case: bool

    def settings(self, tokenizer_class: str, **options: Any) -> bytes:
        """Return the `tokenizer_config.json` that `saved_files` has."""
        options |= {"tokenizer_class": tokenizer_class}
        options |= {} if self.max_len is None else {"model_max_length": self.max_len}
        for side in ("truncation_side", "padding_side"):
            options |= {side: "left"} if getattr(self, side) == "left" else {}
        return as_file(options, sort_keys=True)

    @property
    @abstractmethod
    def templates(self) -> tuple[Template, Template]:
        """What is put around one text, and around two."""

    @abstractmethod
    def part(self, text: str) -> Part:
        """Return the tokens of one text, without those that `encode` puts around it."""

    @abstractmethod
    def parts(self, texts: Sequence[str]) -> Iterator[Part]:
        """Return what `part` does for each of several texts; for many of them faster."""

    @abstractmethod
    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each of several texts, without added ones."""

    @abstractmethod
    def saved_files(self) -> dict[str, bytes]:
        """Return the files that `save_pretrained` writes, by name, without touching the disk.

        `vocab.txt` and `tokenizer_config.json`, and `tokenizer.json` where these two cannot
        describe a tokenizer; other families have the last two alone.
        """

    def save_vocabulary(self, vocab_path: str | os.PathLike[str]) -> str:
        """Write `vocab.txt`, or `tokenizer.json`, to a folder or a file; return the file's path.

        Raises:
            InputError: the folder does not exist.
        """
        return str(write_file(vocab_path, *next(iter(self.saved_files().items()))))

    def save_pretrained(self, folder: str | os.PathLike[str]) -> tuple[str, str]:
        """Write `saved_files` to a folder, created if necessary; return the paths of the first two.

        An older `tokenizer.json` there is removed, because it would be read instead.
        """
        place = path_of(folder)
        if place.exists() and not place.is_dir():
            raise InputError(f"Cannot save to {place}: it is a file. Give a folder.")
        place.mkdir(parents=True, exist_ok=True)
        files = self.saved_files()
        if "tokenizer.json" not in files:
            (place / "tokenizer.json").unlink(missing_ok=True)
        for name, content in files.items():
            (place / name).write_bytes(content)
        vocabulary, settings, *_ = (str(place / name) for name in files)
        return vocabulary, settings

    def encode(
        self,
        text: str,
        text_pair: str | None = None,
        *,
        max_length: int | None = None,
        truncation: str = "longest_first",
    ) -> Encoding:
        """Encode a text or a pair of texts as input for the model.

        Args:
            max_length: truncate the whole input, including [CLS] and [SEP], to this many tokens;
                None for no truncation.
            truncation: "longest_first", "only_first" or "only_second"; see `kept_lengths`.

        Raises:
            InputError: a text is not a string or contains a lone surrogate, or the rule cannot
                shorten the input to `max_length`.
        """
        texts = (text,) if text_pair is None else (text, text_pair)
        return self._cut(tuple(map(self.part, texts)), max_length, truncation)

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
        columns = [listed_texts(texts), *([] if pairs is None else [listed_texts(pairs)])]
        if len({*map(len, columns)}) > 1:
            raise InputError(
                f"There are {len(columns[0])} texts and {len(columns[1])} second texts."
            )
        rows = zip(*map(self.parts, columns), strict=True)
        return [self._cut(row, max_length, truncation) for row in rows]

    def encode_ids(
        self, texts: Iterable[str], *, add_special_tokens: bool = True
    ) -> list[list[int]]:
        """Return only the ids of several texts; faster than `encode_batch`, for training.

        Raises:
            InputError: a text is not a string or contains a lone surrogate.
        """
        every = listed_texts(texts)
        starts = range(0, len(every), _AT_ONCE)
        found = [ids for at in starts for ids in self.ids(every[at : at + _AT_ONCE])]
        if not add_special_tokens:
            return found
        single = [slot.token_id for slot in self.templates[0]]
        at = single.index(-1)
        return [[*single[:at], *ids, *single[at + 1 :]] for ids in found]

    def encode_windows(
        self, text: str, text_pair: str | None = None, *, max_length: int, stride: int
    ) -> list[Encoding]:
        """Encode a text too long for the model as one or more overlapping inputs (windows).

        Of a pair, only the second text is split; the first is in every window. Windows have at most
        `max_length` tokens, added ones included, and neighbours share `stride`. Offsets and word
        ids count from the start of the whole text.

        Raises:
            InputError: as for `encode`, or `max_length` leaves no room to move forward.
        """
        whole = () if text_pair is None else (self.part(text),)
        split = self.part(text if text_pair is None else text_pair)
        room = max_length - self._added(len(whole) + 1) - sum(len(part.ids) for part in whole)
        bounds = window_bounds(len(split.ids), size=room, stride=stride)
        return [self._framed((*whole, split.between(*each))) for each in bounds]

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text, without [CLS] and [SEP].

        Raises:
            InputError: `text` is not a string or contains a lone surrogate.
        """
        return [self._pieces[number] for number in self.part(text).ids]

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
        rule = "longest_first" if isinstance(truncation, bool) else check_strategy(truncation)
        cut: dict[str, Any] = {"max_length": max_length, "truncation": rule}
        cut = {} if truncation is False else cut
        if isinstance(texts, str):
            if not (pairs is None or isinstance(pairs, str)):
                raise InputError("Found one text and a list of second texts; expected one of each.")
            encodings = [self.encode(texts, pairs, **cut)]
        else:
            encodings = self.encode_batch(texts, pairs, **cut)
        names = ("input_ids", "token_type_ids", "attention_mask")
        columns = {name: [list(getattr(each, name)) for each in encodings] for name in names}
        if padding is not False:
            self._pad(columns, padding, max_length)
        if return_tensors is not None:
            return {name: _tensor(rows, return_tensors) for name, rows in columns.items()}
        return (
            {name: rows[0] for name, rows in columns.items()} if isinstance(texts, str) else columns
        )

    def _pad(
        self, columns: dict[str, list[list[int]]], padding: bool | str, max_length: int | None
    ) -> None:
        if padding not in (True, "longest", "max_length"):
            raise InputError(
                f"There is no padding {padding!r}; expected True, False, 'longest' or 'max_length'."
            )
        if padding == "max_length" and max_length is None:
            raise InputError("padding='max_length' needs max_length: there is no `max_len`.")
        lengths = [len(row) for row in columns["input_ids"]]
        longest = max(lengths, default=0)
        length = max_length if padding == "max_length" and max_length is not None else longest
        fill = self.pad_token_id if any(each < length for each in lengths) else 0
        for name, rows in columns.items():
            for row in rows:
                at = 0 if self.padding_side == "left" else len(row)
                row[at:at] = [fill if name == "input_ids" else 0] * (length - len(row))

    def _cut(self, parts: tuple[Part, ...], max_length: int | None, truncation: str) -> Encoding:
        lengths = [len(part.ids) for part in parts]
        if max_length is None:
            return self._framed(parts)
        kept = kept_lengths(
            lengths, max_length=max_length, truncation=truncation, added=self._added(len(parts))
        )
        left = self.truncation_side == "left"
        starts = [size - count if left else 0 for size, count in zip(lengths, kept, strict=True)]
        rows = zip(parts, starts, kept, strict=True)
        short = tuple(part.between(start, start + count) for part, start, count in rows)
        return self._framed(short, sum(lengths) - sum(kept))

    def _framed(self, parts: tuple[Part, ...], truncated: int = 0) -> Encoding:
        template = self.templates[len(parts) - 1]
        return assembled(template, parts, self._pieces, self.readable, self.special_ids, truncated)

    def _added(self, texts: int) -> int:
        return len(self.templates[texts - 1]) - texts


def as_file(contents: Mapping[str, Any], *, sort_keys: bool = False) -> bytes:
    """Return a JSON object as it is saved."""
    text = json.dumps(contents, indent=2, ensure_ascii=False, sort_keys=sort_keys)
    return f"{text}\n".encode()


def check_text(text: object) -> str:
    """Return `text` if a tokenizer can read it.

    Raises:
        InputError: it is not a string, or contains a lone surrogate.
    """
    if not isinstance(text, str):
        hint = " Decode it first, for instance with .decode('utf-8')." * isinstance(text, bytes)
        raise InputError(f"Expected a text (str), found {type(text).__name__}.{hint}")
    if found := _SURROGATE.search(text):
        raise InputError(
            f"The text contains U+{ord(found.group()):04X} at character {found.start()}, half of "
            "a surrogate pair; expected whole Unicode characters."
        )
    return text


def listed_texts(texts: Iterable[str]) -> list[str]:
    """Return several texts as a list."""
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise InputError(
            f"Expected a list of texts, found {type(texts).__name__}. For one text use `encode`."
        )
    return list(texts)


def padded_encodings(tokenizer: TextTokenizer, encodings: Sequence[Encoding]) -> dict[str, Tensor]:
    """Build the three input tensors of a model, (B, T) each; see `padded_inputs`."""
    types = [encoding.token_type_ids for encoding in encodings]
    return padded_inputs(tokenizer, [encoding.input_ids for encoding in encodings], types)


def padded_inputs(
    tokenizer: TextTokenizer, ids: Sequence[Sequence[int]], types: Sequence[Sequence[int]] = ()
) -> dict[str, Tensor]:
    """Build the three input tensors of a model, (B, T) each, padded at the right.

    Without token types, all are 0. Without [PAD] in the vocabulary, id 0 pads; the mask hides it.
    """
    return {
        "input_ids": padded(ids, tokenizer.vocab.get(tokenizer.pad_token, 0)),
        "token_type_ids": padded(types or [[0] * len(row) for row in ids], 0),
        "attention_mask": padded([[1] * len(row) for row in ids], 0),
    }


def padded(rows: Sequence[Sequence[int]], fill: int) -> Tensor:
    """Build one integer tensor from rows of different lengths.

    >>> padded([[1, 2], [3]], 0).tolist()
    [[1, 2], [3, 0]]
    """
    table = numpy.full((len(rows), max(map(len, rows))), fill, dtype=numpy.int64)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    return torch.from_numpy(table)


def _tensor(rows: list[list[int]], kind: str) -> Any:
    if kind not in ("pt", "np"):
        raise InputError(f"There are no tensors of kind {kind!r}; expected 'pt' or 'np'.")
    if len({len(row) for row in rows}) > 1:
        lengths = sorted({len(row) for row in rows})
        raise InputError(
            f"The inputs have {lengths[0]} to {lengths[-1]} tokens; a tensor needs padding=True."
        )
    table = padded(rows, 0) if rows else torch.zeros((0, 0), dtype=torch.int64)
    return table if kind == "pt" else table.numpy()
