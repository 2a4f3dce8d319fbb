"""`BertTokenizer`: text to token ids, with the position of every token in the text.

Read in this order: `normalizer` (characters), `wordpiece` (words to pieces), `packed` (tokens as
bytes, for speed), `words` (a chunk of text to tokens, with a cache), `encoding` (the result), then
this module, which combines them: one text, batches of texts, and a tokenizer's files. `trace` shows
the same steps one by one.
"""

import json
import os
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy
import torch

from bert_core.checkpoints.sources.hub_names import Part
from bert_core.checkpoints.sources.resolve import ARCHIVE_ENDINGS, given_name, resolve
from bert_core.errors import CheckpointError, InputError, MissingFileError
from bert_core.small_files import parse_json, read_small, shown
from bert_core.text.basic import NEVER_SPLIT, BasicTokenizer, check_surrogates, check_text
from bert_core.text.encoding import (
    Encoding,
    Frame,
    Segment,
    check_strategy,
    kept_lengths,
    window_bounds,
)
from bert_core.text.packed import ADJACENT, SPACED, beginning, count_of, cut, ids_of, pack_added
from bert_core.text.trace import Trace, trace_text
from bert_core.text.vocabulary import (
    SPECIAL_TOKENS,
    VOCABULARY_NAME,
    Vocabulary,
    check_vocabulary,
    path_of,
    read_vocabulary,
)
from bert_core.text.wordpiece import WordpieceTokenizer
from bert_core.text.words import LONGEST, ChunkCache

__all__ = ["BasicTokenizer", "BertTokenizer", "WordpieceTokenizer"]

CONFIG_NAME = "tokenizer_config.json"
_LARGEST = 4 * 1024 * 1024  # bytes; lists of added tokens can be long
_NO_LIMIT = 1_000_000_000  # configurations use 1e30 for "no limit"


class BertTokenizer(Vocabulary):
    """BERT's WordPiece tokenizer; ids and offsets match the reference exactly. Thread-safe.

    Args:
        vocab_file: path of a vocabulary, one piece per line; or the list of its pieces.
        do_lower_case: lower-case the text and drop accents ("uncased" models).
        max_len: longest input of the model in tokens, used when a call asks for truncation or
            padding without giving `max_length`; None for no limit.
        do_basic_tokenize: normalise the text and split at punctuation; if False, words are
            whitespace-separated and unchanged.
        never_split: tokens to find in the text before anything else; they must not contain
            spaces.
        strip_accents: drop accents; None follows `do_lower_case`.
        tokenize_chinese_chars: make every Chinese character a word of its own.

    Raises:
        MissingFileError: the file does not exist.
        CheckpointError: the vocabulary is empty, not UTF-8, or has no [UNK].
    """

    def __init__(
        self,
        vocab_file: str | os.PathLike[str] | list[str],
        do_lower_case: bool = True,
        max_len: int | None = None,
        do_basic_tokenize: bool = True,
        never_split: Iterable[str] | None = NEVER_SPLIT,
        *,
        strip_accents: bool | None = None,
        tokenize_chinese_chars: bool = True,
    ) -> None:
        if isinstance(vocab_file, list):
            check_vocabulary(vocab_file, "that is a list of pieces")
            super().__init__(list(vocab_file))
        else:
            super().__init__(read_vocabulary(path_of(vocab_file)))
        self.do_lower_case = do_lower_case
        self.do_basic_tokenize = do_basic_tokenize
        self.max_len = max_len
        self.strip_accents = strip_accents
        self.tokenize_chinese_chars = tokenize_chinese_chars
        self.never_split = tuple(_listed(never_split or ()))
        # BERT's own five special tokens count as special only if the vocabulary has them.
        specials = [t for t in self.never_split if t in self.vocab or t not in NEVER_SPLIT]
        self.basic_tokenizer = BasicTokenizer(
            do_lower_case,
            specials,
            strip_accents=strip_accents,
            tokenize_chinese_chars=tokenize_chinese_chars,
        )
        self.wordpiece_tokenizer = WordpieceTokenizer(self.vocab, self.unk_token)
        self.normalizer = self.basic_tokenizer.normalizer
        self._chunks = ChunkCache(
            self.wordpiece_tokenizer,
            self.vocab,
            self.normalizer if do_basic_tokenize else None,
            specials,
        )
        self._chunk_of = self._chunks.__getitem__

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
            text: the first text.
            text_pair: the second text, or None for a single text.
            max_length: truncate the whole input, including [CLS] and [SEP], to this many tokens;
                None for no truncation.
            truncation: "longest_first", "only_first" or "only_second"; see `kept_lengths`.

        Raises:
            InputError: a text is not a string or contains a lone surrogate, or the rule cannot
                shorten the input to `max_length`.
        """
        first = text, self._packed(text)
        second = None if text_pair is None else (text_pair, self._packed(text_pair))
        if max_length is None:
            return Encoding(self._frame, first, second)
        return self._shortened(first, second, max_length, truncation)

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

    def encode_ids(
        self, texts: Iterable[str], *, add_special_tokens: bool = True
    ) -> list[list[int]]:
        """Return only the ids of several texts; faster than `encode_batch`, for training.

        Raises:
            InputError: a text is not a string or contains a lone surrogate.
        """
        packed = map(self._packed, _listed(texts))
        if not add_special_tokens:
            return list(map(ids_of, packed))
        opening, closing = [self.cls_token_id], [self.sep_token_id]
        return [opening + ids_of(each) + closing for each in packed]

    def encode_windows(
        self, text: str, text_pair: str | None = None, *, max_length: int, stride: int
    ) -> list[Encoding]:
        """Encode a text too long for the model as several overlapping inputs (windows).

        Args:
            text: the text to split into windows; with `text_pair`, it is instead repeated whole
                in every window.
            text_pair: the second text; if given, only this one is split.
            max_length: largest number of tokens per window, including [CLS] and [SEP].
            stride: number of tokens that neighbouring windows share.

        Returns:
            At least one encoding, in text order. Offsets and word ids count from the start of the
            whole text.

        Raises:
            InputError: as for `encode`, or `max_length` leaves no room to move forward.
        """
        first = self._packed(text)
        if text_pair is None:
            bounds = window_bounds(count_of(first), size=max_length - 2, stride=stride)
            return [Encoding(self._frame, (text, part)) for part in cut(first, bounds)]
        second = self._packed(text_pair)
        room = max_length - 3 - count_of(first)
        bounds = window_bounds(count_of(second), size=room, stride=stride)
        return [
            Encoding(self._frame, (text, first), (text_pair, part)) for part in cut(second, bounds)
        ]

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text, without [CLS] and [SEP].

        Raises:
            InputError: `text` is not a string or contains a lone surrogate.
        """
        return [self._pieces[number] for number in ids_of(self._packed(text))]

    def trace(self, text: str) -> Trace:
        """Return every step from the text to its tokens.

        Raises:
            InputError: `text` is not a string or contains a lone surrogate.
        """
        return trace_text(self, text)

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

    def save_pretrained(self, folder: str | os.PathLike[str]) -> tuple[str, str]:
        """Write `vocab.txt` and `tokenizer_config.json` to a folder, created if necessary.

        Returns:
            The paths of the two files.
        """
        place = path_of(folder)
        if place.exists() and not place.is_dir():
            raise InputError(f"Cannot save to {place}: it is a file. Give a folder.")
        place.mkdir(parents=True, exist_ok=True)
        path = place / CONFIG_NAME
        path.write_bytes(self.saved_files()[CONFIG_NAME])
        return self.save_vocabulary(place), str(path)

    def saved_files(self) -> dict[str, bytes]:
        """Return the files that `save_pretrained` writes, by name, without touching the disk."""
        options: dict[str, Any] = {
            "tokenizer_class": "BertTokenizer",
            "do_lower_case": self.do_lower_case,
            "do_basic_tokenize": self.do_basic_tokenize,
            "strip_accents": self.strip_accents,
            "tokenize_chinese_chars": self.tokenize_chinese_chars,
        }
        if self.max_len is not None:
            options["model_max_length"] = self.max_len
        for name in ("unk", "sep", "pad", "cls", "mask"):
            options[f"{name}_token"] = getattr(self, f"{name}_token")
        pieces = "".join(f"{piece}\n" for piece in self.ids_to_tokens.values())
        return {
            VOCABULARY_NAME: pieces.encode("utf-8"),
            CONFIG_NAME: (json.dumps(options, indent=2, sort_keys=True) + "\n").encode("utf-8"),
        }

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | os.PathLike[str] | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        **kwargs: Any,
    ) -> "BertTokenizer":
        """Load a tokenizer by model name, folder or vocabulary file.

        `do_lower_case` is the keyword argument if given, else the value in
        `tokenizer_config.json`, else False if the name contains "cased" but not "uncased", else
        True.

        Args:
            name_or_path: anything a model's `from_pretrained` accepts, or a vocabulary file. The
                keyword `pretrained_model_name_or_path` is an alias.
            cache_dir: folder for downloads.
            **kwargs: arguments of `BertTokenizer`; also `revision`, a version of the source.

        Raises:
            MissingFileError: the name or path does not exist or contains no vocabulary.
            CheckpointError: the vocabulary or `tokenizer_config.json` cannot be used.
        """
        name = given_name(name_or_path, kwargs)
        revision = kwargs.pop("revision", None)
        vocab_file, options = _find(name, cache_dir=cache_dir, revision=revision)
        return cls(vocab_file, **{**options, **kwargs})

    @cached_property
    def _frame(self) -> Frame:
        specials = {token: self.vocab[token] for token in SPECIAL_TOKENS if token in self.vocab}
        added = pack_added(self.cls_token_id, self.sep_token_id)
        return Frame(*added, self._pieces, specials)

    def special_tokens_in(self, text: str) -> list[re.Match[str]]:
        """Find the special tokens that occur in a text, in order."""
        pattern = self._chunks.specials
        return [] if pattern is None else list(pattern.finditer(text))

    def _packed(self, text: str) -> bytes:
        """Return the tokens of one text, chunk by chunk: no rule looks across U+0020."""
        try:
            stretches = text.split(" ")
            if text.isascii() or max(map(len, stretches)) <= LONGEST:
                return SPACED.join(map(self._chunk_of, stretches))
            # A chunk is too long for the cache, as in scripts without spaces: split it further.
            if (parts := self._chunks.parts_of(text)) is not None:
                return ADJACENT.join(map(self._chunk_of, parts))
            return SPACED.join(map(self._chunk_of, stretches))
        except (InputError, AttributeError, TypeError):
            check_surrogates(check_text(text))  # raises an error that says what is wrong, and where
            raise

    def _shortened(
        self, first: Segment, second: Segment | None, max_length: int, truncation: str
    ) -> Encoding:
        tokens = count_of(first[1]), None if second is None else count_of(second[1])
        kept, kept_second = kept_lengths(*tokens, max_length=max_length, truncation=truncation)
        if (kept, kept_second) == (tokens[0], tokens[1] or 0):
            return Encoding(self._frame, first, second)
        truncated = tokens[0] - kept + (tokens[1] or 0) - kept_second
        short = _beginning(first, kept)
        short_second = None if second is None else _beginning(second, kept_second)
        return Encoding(self._frame, short, short_second, truncated)


def _beginning(segment: Segment, tokens: int) -> Segment:
    """Return a text with only its first tokens."""
    text, packed = segment
    return text, beginning(packed, tokens)


# -- batches --------------------------------------------------------------------------------------


def _listed(texts: Iterable[str]) -> list[str]:
    """Return several texts as a list."""
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise InputError(
            f"Expected a list of texts, found {type(texts).__name__}. For one text use `encode`, "
            "or put it in a list."
        )
    return list(texts)


def _paired(texts: Iterable[str], pairs: Iterable[str] | None) -> list[tuple[str, str | None]]:
    """Pair each text with its second text, or with None."""
    first = _listed(texts)
    if pairs is None:
        return [(text, None) for text in first]
    second = _listed(pairs)
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


def _pad(columns: dict[str, list[list[int]]], length: int, tokenizer: BertTokenizer) -> None:
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
            f"The inputs have {lengths[0]} to {lengths[-1]} tokens; expected equal lengths for a "
            "tensor. Use padding=True."
        )
    array = numpy.array(rows, dtype=numpy.int64) if rows else numpy.zeros((0, 0), numpy.int64)
    return torch.from_numpy(array) if kind == "pt" else array


# -- files ----------------------------------------------------------------------------------------


def _find(
    name_or_path: str | os.PathLike[str],
    *,
    cache_dir: str | os.PathLike[str] | None = None,
    revision: str | None = None,
) -> tuple[Path, dict[str, Any]]:
    """Return the path of a vocabulary, and the options found in its configuration and name."""
    path = Path(os.path.expanduser(path_of(name_or_path)))
    if os.path.isfile(path) and not path.name.lower().endswith(ARCHIVE_ENDINGS):
        folder, vocab_file = path.parent, path
        name = f"{path.parent.name}/{path.name}"
    else:
        folder = resolve(name_or_path, cache_dir=cache_dir, revision=revision, part=Part.TOKENIZER)
        vocab_file, name = folder / VOCABULARY_NAME, _told_name(path)
        if "cased" not in name.lower():  # an archive's own name may not tell; try its folder
            name = _told_name(folder)
    if not os.path.exists(vocab_file):  # unlike Path.exists, no exception if access is denied
        raise MissingFileError(
            f"There is no {VOCABULARY_NAME} in {folder}; expected the vocabulary in the folder of "
            "the weights. Copy it there, or give the path of the vocabulary file."
        )
    options = _options(folder / CONFIG_NAME)
    options.setdefault("do_lower_case", _lower_case_by_name(name))
    return vocab_file, options


def _told_name(folder: Path) -> str:
    """Return the model name in a path; a Hub snapshot's own folder is named after its commit.

    >>> _told_name(Path("models--google-bert--bert-base-cased/snapshots/cd5ef92a"))
    'models--google-bert--bert-base-cased'
    """
    return folder.parent.parent.name if folder.parent.name == "snapshots" else folder.name


def _lower_case_by_name(name: str) -> bool:
    lowered = name.lower()
    return "cased" not in lowered or "uncased" in lowered


def _options(path: Path) -> dict[str, Any]:
    """Read the `BertTokenizer` options in a `tokenizer_config.json`; empty if there is none."""
    if not os.path.exists(path):
        return {}
    found = parse_json(read_small(path, _LARGEST), str(path))
    if not isinstance(found, dict):
        raise CheckpointError(f"{path} contains a {type(found).__name__}; expected a JSON object.")
    options: dict[str, Any] = {}
    for key in ("do_lower_case", "do_basic_tokenize", "strip_accents", "tokenize_chinese_chars"):
        value = found.get(key)
        if value is None:
            continue
        if not isinstance(value, bool):
            raise CheckpointError(f"{path}: {key} is {shown(value)}; expected true or false.")
        options[key] = value
    length = found.get("model_max_length", found.get("max_len"))
    if isinstance(length, int) and not isinstance(length, bool) and 0 < length < _NO_LIMIT:
        options["max_len"] = length
    return options
