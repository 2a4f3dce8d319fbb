"""BERT's tokenizer: text to ids, and from every id back to the characters it came from.

Read in this order: `normalizer` (what happens to characters), `wordpiece` (words to pieces),
`words` (a stretch of text to tokens, with a memory), `encoding` (what comes out), then this module,
which puts them together: one text, many texts at once, and the files of a tokenizer. `trace` shows
the same steps one by one.
"""

import json
import os
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

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
from bert_core.text.trace import Trace, trace_text
from bert_core.text.vocabulary import VOCABULARY_NAME, Vocabulary, path_of, read_vocabulary
from bert_core.text.wordpiece import WordpieceTokenizer
from bert_core.text.words import LONGEST, ChunkCache

__all__ = ["BasicTokenizer", "BertTokenizer", "WordpieceTokenizer"]

CONFIG_NAME = "tokenizer_config.json"
_LARGEST = 4 * 1024 * 1024  # bytes; lists of added tokens may be long
_NO_LIMIT = 1_000_000_000  # configurations write 1e30 where a model has no longest input


class BertTokenizer(Vocabulary):
    """Text to WordPiece tokens, exact in ids and offsets.

    One tokenizer serves many threads.

    Args:
        vocab_file: path of a vocabulary, one piece per line.
        do_lower_case: lower-case the text and drop accents ("uncased" models).
        max_len: the longest input of the model, for calls that ask for truncation without
            saying where; None for no limit.
        do_basic_tokenize: clean the text and cut at punctuation; if False, words are what stands
            between blanks, and nothing is changed in them.
        never_split: tokens looked for in the text before anything else; none may hold a blank.
        strip_accents: drop accents; None means as `do_lower_case`.
        tokenize_chinese_chars: make every Chinese character a word.

    Raises:
        MissingFileError: there is no such file.
        CheckpointError: the vocabulary is empty, not UTF-8, or lacks [UNK].
    """

    def __init__(
        self,
        vocab_file: str | os.PathLike[str],
        do_lower_case: bool = True,
        max_len: int | None = None,
        do_basic_tokenize: bool = True,
        never_split: Iterable[str] | None = NEVER_SPLIT,
        *,
        strip_accents: bool | None = None,
        tokenize_chinese_chars: bool = True,
    ) -> None:
        super().__init__(read_vocabulary(path_of(vocab_file)))
        self.do_lower_case = do_lower_case
        self.do_basic_tokenize = do_basic_tokenize
        self.max_len = max_len
        self.strip_accents = strip_accents
        self.tokenize_chinese_chars = tokenize_chinese_chars
        self.never_split = tuple(_listed(never_split or ()))
        # The five names of BERT are special only where the vocabulary has them.
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
        """Encode a text or a pair of texts as the model reads it.

        Args:
            text: the first text.
            text_pair: the second text, if there are two.
            max_length: the most tokens of the whole input, [CLS] and [SEP] included; None cuts
                nothing.
            truncation: "longest_first", "only_first" or "only_second".

        Raises:
            InputError: a text is not a string or holds half a surrogate pair, or the rule
                cannot bring the input down to `max_length`.
        """
        first = self._segment(text)
        second = None if text_pair is None else self._segment(text_pair)
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
        """Encode many texts, or many pairs of texts; see `encode`.

        Raises:
            InputError: as `encode`, or texts and pairs differ in number.
        """
        return [
            self.encode(text, pair, max_length=max_length, truncation=truncation)
            for text, pair in _paired(texts, pairs)
        ]

    def encode_ids(
        self, texts: Iterable[str], *, add_special_tokens: bool = True
    ) -> list[list[int]]:
        """Encode many texts and return their ids alone; the fast road for training.

        Args:
            texts: single texts.
            add_special_tokens: put [CLS] and [SEP] around each.

        Raises:
            InputError: a text is not a string or holds half a surrogate pair.
        """
        segments = map(self._segment, _listed(texts))
        if not add_special_tokens:
            return [segment.ids for segment in segments]
        opening, closing = [self._frame.cls_id], [self._frame.sep_id]
        return [opening + segment.ids + closing for segment in segments]

    def encode_windows(
        self, text: str, text_pair: str | None = None, *, max_length: int, stride: int
    ) -> list[Encoding]:
        """Encode a text that is longer than the model as several overlapping inputs.

        Args:
            text: the text to cut; of a pair it is the one that is repeated whole.
            text_pair: the second text; if there is one, it alone is cut.
            max_length: the most tokens of each input, [CLS] and [SEP] included.
            stride: how many tokens of the text neighbours share.

        Returns:
            One input at least, in the order of the text. Offsets and word numbers count from the
            start of the whole text.

        Raises:
            InputError: as `encode`, or there is no room to move forward.
        """
        first = self._segment(text)
        if text_pair is None:
            bounds = window_bounds(len(first), size=max_length - 2, stride=stride)
            return [Encoding(self._frame, first.cut(*bound)) for bound in bounds]
        second = self._segment(text_pair)
        bounds = window_bounds(len(second), size=max_length - 3 - len(first), stride=stride)
        return [Encoding(self._frame, first, second.cut(*bound)) for bound in bounds]

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text, without [CLS] and [SEP].

        Raises:
            InputError: `text` is not a string or holds half a surrogate pair.
        """
        return [self._pieces[number] for number in self._segment(text).ids]

    def trace(self, text: str) -> Trace:
        """Return every step from the text to its tokens.

        Raises:
            InputError: `text` is not a string or holds half a surrogate pair.
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
        """Encode a text or many into the dictionary that a model's `forward` takes.

        Args:
            texts: one text, or many.
            pairs: the second texts, as many as `texts`.
            padding: False, True or "longest" (to the longest of the batch), or "max_length".
            truncation: False, True (longest first), or the name of a rule; see `encode`.
            max_length: the most tokens; None means the tokenizer's `max_len`.
            return_tensors: None for lists, "pt" for PyTorch, "np" for NumPy.

        Returns:
            `input_ids`, `token_type_ids` and `attention_mask`, each (B, T) as lists or tensors; for
            one text and no tensors, (T,).

        Raises:
            InputError: an option is unknown, rows of different lengths
                cannot be a tensor, or as `encode`.
        """
        options = _BatchOptions(padding, truncation, max_length, return_tensors)
        return _encode_dictionary(self, texts, pairs, options)

    def save_pretrained(self, folder: str | os.PathLike[str]) -> tuple[str, str]:
        """Write `vocab.txt` and `tokenizer_config.json` into a folder, made if it is missing.

        Returns:
            The paths of the two files.
        """
        return _save(self, path_of(folder))

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | os.PathLike[str] | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        **kwargs: Any,
    ) -> "BertTokenizer":
        """Load the tokenizer of a folder, of a named model, or of a vocabulary file.

        Lower-casing is what `do_lower_case=` says, else what `tokenizer_config.json` says, else off
        where the name holds "cased" without "un", else on.

        Args:
            name_or_path: what `Class.from_pretrained` of a model takes, or a vocabulary file. The
                keyword `pretrained_model_name_or_path` is another name for it.
            cache_dir: where downloads are kept.
            **kwargs: arguments of `BertTokenizer`; `revision` names a version of a source.

        Raises:
            MissingFileError: nothing of that name, or no vocabulary in it.
            CheckpointError: the vocabulary or the configuration beside it cannot be used.
        """
        name = given_name(name_or_path, kwargs)
        revision = kwargs.pop("revision", None)
        vocab_file, options = _find(name, cache_dir=cache_dir, revision=revision)
        return cls(vocab_file, **{**options, **kwargs})

    @cached_property
    def _frame(self) -> Frame:
        return Frame(self.cls_token_id, self.sep_token_id, self._pieces)

    def special_tokens_in(self, text: str) -> list[re.Match[str]]:
        """Find the special tokens that are written in a text, in order."""
        pattern = self._chunks.specials
        return [] if pattern is None else list(pattern.finditer(text))

    def _segment(self, text: str) -> Segment:
        """Tokenize one text: no rule looks across U+0020, so what stands between goes alone."""
        try:
            stretches = text.split(" ")
            if text.isascii() or max(map(len, stretches)) <= LONGEST:
                return Segment(text, list(map(self._chunk_of, stretches)))
            # Too long to be remembered whole, as in scripts without blanks.
            if (parts := self._chunks.parts_of(text)) is not None:
                return Segment(text, list(map(self._chunk_of, parts)), gap=0)
            return Segment(text, list(map(self._chunk_of, stretches)))
        except (InputError, AttributeError, TypeError):
            check_surrogates(check_text(text))  # says what is wrong, and where
            raise

    def _shortened(
        self, first: Segment, second: Segment | None, max_length: int, truncation: str
    ) -> Encoding:
        tokens = len(first), None if second is None else len(second)
        kept, kept_second = kept_lengths(*tokens, max_length=max_length, truncation=truncation)
        if (kept, kept_second) == (tokens[0], tokens[1] or 0):
            return Encoding(self._frame, first, second)
        truncated = tokens[0] - kept + (tokens[1] or 0) - kept_second
        short = None if second is None else second.cut(0, kept_second)
        return Encoding(self._frame, first.cut(0, kept), short, truncated)


# -- many texts at once ---------------------------------------------------------------------------


class _BatchOptions(NamedTuple):
    """How a batch is shaped; see `BertTokenizer.__call__`."""

    padding: bool | str
    truncation: bool | str
    max_length: int | None
    return_tensors: str | None


def _listed(texts: Iterable[str]) -> list[str]:
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


def _paired(texts: Iterable[str], pairs: Iterable[str] | None) -> list[tuple[str, str | None]]:
    """Put each text beside its second text, or beside None.

    Raises:
        InputError: there are more of one than of the other.
    """
    first = _listed(texts)
    if pairs is None:
        return [(text, None) for text in first]
    second = _listed(pairs)
    if len(first) != len(second):
        raise InputError(
            f"There are {len(first)} texts and {len(second)} second texts; expected as many of "
            "each."
        )
    return list(zip(first, second, strict=True))


def _encode_dictionary(
    tokenizer: BertTokenizer,
    texts: str | Sequence[str],
    pairs: str | Sequence[str] | None,
    options: _BatchOptions,
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
            f"The inputs have from {lengths[0]} to {lengths[-1]} tokens and do not fit into one "
            "tensor. Use padding=True."
        )
    array = numpy.array(rows, dtype=numpy.int64) if rows else numpy.zeros((0, 0), numpy.int64)
    return torch.from_numpy(array) if kind == "pt" else array


# -- the files of a tokenizer ---------------------------------------------------------------------


def _find(
    name_or_path: str | os.PathLike[str],
    *,
    cache_dir: str | os.PathLike[str] | None = None,
    revision: str | None = None,
) -> tuple[Path, dict[str, Any]]:
    """Find a vocabulary and the options that the files and the name beside it imply.

    Raises:
        InputError: what was given is neither a path nor a name.
        MissingFileError: there is no such folder or name, or no vocabulary in it.
        DownloadError: a server did not deliver it.
        CheckpointError: `tokenizer_config.json` cannot be read.
    """
    path = Path(os.path.expanduser(path_of(name_or_path)))
    if os.path.isfile(path) and not path.name.lower().endswith(ARCHIVE_ENDINGS):
        folder, vocab_file = path.parent, path
        name = f"{path.parent.name}/{path.name}"
    else:
        folder = resolve(name_or_path, cache_dir=cache_dir, revision=revision, part=Part.TOKENIZER)
        vocab_file, name = folder / VOCABULARY_NAME, _told_name(path)
        if "cased" not in name.lower():  # an archive may be called anything; its folder tells
            name = _told_name(folder)
    if not os.path.exists(vocab_file):  # unlike Path's own, no error in a folder that is locked
        raise MissingFileError(
            f"There is no {VOCABULARY_NAME} in {folder}; expected the vocabulary beside the "
            "weights. Copy it there, or name the vocabulary file itself."
        )
    options = _options(folder / CONFIG_NAME)
    options.setdefault("do_lower_case", _lower_case_by_name(name))
    return vocab_file, options


def _told_name(folder: Path) -> str:
    """Return the name that says something: a copy from the Hub lies under its commit's number.

    >>> _told_name(Path("models--google-bert--bert-base-cased/snapshots/cd5ef92a"))
    'models--google-bert--bert-base-cased'
    """
    return folder.parent.parent.name if folder.parent.name == "snapshots" else folder.name


def _lower_case_by_name(name: str) -> bool:
    lowered = name.lower()
    return "cased" not in lowered or "uncased" in lowered


def _options(path: Path) -> dict[str, Any]:
    """Read the options of `BertTokenizer` that a configuration states."""
    if not os.path.exists(path):
        return {}
    found = parse_json(read_small(path, _LARGEST), str(path))
    if not isinstance(found, dict):
        raise CheckpointError(
            f"{path} holds {type(found).__name__}; expected an object of options."
        )
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


def _save(tokenizer: BertTokenizer, folder: Path) -> tuple[str, str]:
    """Write vocabulary and configuration; see `BertTokenizer.save_pretrained`."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"Cannot save into {folder}: it is a file. Name a folder.")
    folder.mkdir(parents=True, exist_ok=True)
    options: dict[str, Any] = {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": tokenizer.do_lower_case,
        "do_basic_tokenize": tokenizer.do_basic_tokenize,
        "strip_accents": tokenizer.strip_accents,
        "tokenize_chinese_chars": tokenizer.tokenize_chinese_chars,
    }
    if tokenizer.max_len is not None:
        options["model_max_length"] = tokenizer.max_len
    for name in ("unk", "sep", "pad", "cls", "mask"):
        options[f"{name}_token"] = getattr(tokenizer, f"{name}_token")
    path = folder / CONFIG_NAME
    path.write_text(json.dumps(options, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return tokenizer.save_vocabulary(folder), str(path)
