"""`Vocabulary` and `vocab.txt`: one piece per line, whose id is the line number from 0."""

import os
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import overload

from tokenizers.decoders import WordPiece

from bert_core.errors import CheckpointError, InputError, MissingFileError
from bert_core.small_files import read_small
from bert_core.text.byte_level import SPACE

VOCABULARY_NAME = "vocab.txt"
CONTINUATION = "##"  # what a piece that does not begin a word begins with
MAX_CHARS = 100  # BERT's own value; longer words become [UNK] without being looked up
SPECIAL_TOKENS = ("[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]")
_LARGEST = 16 * 1024 * 1024  # bytes; the largest published WordPiece vocabularies have about 5 MB
MOST_PIECES = 1_000_000  # pieces; the largest have half a million
# The characters that Rust's `trim_end` strips (Unicode White_Space), written out.
BLANKS = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
BLANKS += "\u200a\u2028\u2029\u202f\u205f\u3000"

# The words between whitespace as `str.split` knows it, whatever the Unicode of this Python.
BLANK_SEPARATED = re.compile(rf"[^\x1c-\x1f{BLANKS}]+")

_DECODER = WordPiece(prefix=CONTINUATION, cleanup=True)


def path_of(value: object) -> Path:
    """Return a path or name given by the caller as a Path."""
    if isinstance(value, str | os.PathLike):
        return Path(value)
    raise InputError(f"Expected a path or a name, found {type(value).__name__}: {value!r}.")


def read_vocabulary(path: Path) -> list[str]:
    """Read the pieces of a vocabulary file in the order of their ids.

    A byte order mark, Windows line ends and trailing whitespace are stripped. Empty lines keep
    their id, except at the end of the file. Of equal lines, all but the last are empty.
    """
    if os.path.isdir(path) or not os.path.exists(path):
        raise MissingFileError(
            f"There is no vocabulary file {path}; expected a text file with one piece per line, "
            f"usually called {VOCABULARY_NAME}. Check the path."
        )
    try:
        text = read_small(path, _LARGEST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CheckpointError(
            f"{path} is not UTF-8 text (byte {error.start} is {error.object[error.start]:#04x}). "
            "Expected one piece per line; save the file as UTF-8."
        ) from error
    if (lines := text.count("\n")) > MOST_PIECES:
        raise CheckpointError(f"{path} has {lines:,} lines; expected at most {MOST_PIECES:,}.")
    # Not str.splitlines: it would also split at characters that are pieces themselves.
    pieces = list(map(as_line, text.split("\n")))
    while pieces and not pieces[-1]:
        pieces.pop()
    if not pieces:
        raise CheckpointError(f"The vocabulary {path} is empty; expected one piece per line.")
    vocab = entries(pieces)
    # Of equal lines the last one counts; the ids of the others have no piece, as in tokenizer.json.
    return [piece if vocab.get(piece) == number else "" for number, piece in enumerate(pieces)]


def entries(pieces: Iterable[str]) -> dict[str, int]:
    """Return the id of each piece; "" is none, but an id without a piece."""
    return {piece: number for number, piece in enumerate(pieces) if piece}


def as_line(piece: str) -> str:
    """Return a piece as a line of `vocab.txt` gives it back."""
    return piece.partition("\n")[0].rstrip(BLANKS)


def check_vocabulary(pieces: list[str], source: str, unknown: str = SPECIAL_TOKENS[0]) -> None:
    """Reject a vocabulary that no tokenizer can use."""
    if unknown not in pieces:
        raise CheckpointError(
            f"The vocabulary {source} has {len(pieces):,} pieces but no {unknown}, the token for "
            f"unknown words. Add a line {unknown}, or check that this is a WordPiece vocabulary."
        )
    others = [piece for piece in pieces if len(piece) > 1 and piece.startswith(SPACE)]
    if others and not any(piece.startswith(CONTINUATION) for piece in pieces):
        raise CheckpointError(
            f"The vocabulary {source} has pieces such as {others[0]!r} and none with "
            f"{CONTINUATION}: they are SentencePiece's; expected WordPiece."
        )


def write_vocabulary(pieces: Iterable[str], path: str | os.PathLike[str]) -> Path:
    """Write the pieces, one per line, to a file, or to `vocab.txt` in an existing folder."""
    return write_file(path, VOCABULARY_NAME, "".join(f"{piece}\n" for piece in pieces).encode())


def write_file(path: str | os.PathLike[str], name: str, contents: bytes) -> Path:
    """Write to a file, or to `name` in an existing folder (InputError: there is no such folder)."""
    target = path_of(path)
    target = target / name if target.is_dir() else target
    if not target.parent.is_dir():
        raise InputError(
            f"Cannot write {target}: the folder {target.parent} does not exist. Create it first."
        )
    target.write_bytes(contents)
    return target


class Vocabulary:
    """The pieces of a tokenizer, and conversion between pieces and ids.

    Args:
        pieces: all pieces in the order of their ids; "" for an id without a piece. If a piece
            occurs twice, its last id counts.
        added: tokens with the ids after these, of which words are never put together.

    Attributes:
        vocab: piece -> id.
        ids_to_tokens: id -> piece, of the ids that have one.
        special_tokens: tokens that are no text: BERT's five, and what a tokenizer adds.
    """

    special_tokens: tuple[str, ...] = SPECIAL_TOKENS
    unk_token, sep_token, pad_token, cls_token, mask_token = SPECIAL_TOKENS

    def __init__(self, pieces: list[str], added: Iterable[str] = ()) -> None:
        self.own_pieces = pieces
        self._pieces = [*pieces, *added]
        self.vocab = entries(self._pieces)
        self.ids_to_tokens = {n: piece for n, piece in enumerate(self._pieces) if piece}

    def __len__(self) -> int:
        return len(self._pieces)

    @property
    def vocab_size(self) -> int:
        """V, the number of ids."""
        return len(self._pieces)

    @cached_property
    def characters(self) -> frozenset[str]:
        """Every character that occurs in a piece other than the special tokens."""
        return frozenset("".join(self.vocab.keys() - set(self.special_tokens)))

    @property
    def sep_token_id(self) -> int:
        """The id of [SEP]; InputError if the vocabulary has none."""
        return self._needed(self.sep_token)

    @property
    def pad_token_id(self) -> int:
        """The id of [PAD]; InputError if the vocabulary has none."""
        return self._needed(self.pad_token)

    @property
    def cls_token_id(self) -> int:
        """The id of [CLS]; InputError if the vocabulary has none."""
        return self._needed(self.cls_token)

    @property
    def mask_token_id(self) -> int:
        """The id of [MASK]; InputError if the vocabulary has none."""
        return self._needed(self.mask_token)

    def readable(self, token: str) -> str:
        """Return a token as people read it; only byte-level BPE spells it otherwise."""
        return token

    def begins_word(self, token: str) -> bool:
        """Return whether a token stands apart from what is before it, or continues it."""
        return not token.startswith(CONTINUATION) or token == CONTINUATION

    @cached_property
    def special_ids(self) -> dict[str, int]:
        """The id of each special token; BERT's names are understood in every vocabulary."""
        known = {token: self.vocab[token] for token in self.special_tokens if token in self.vocab}
        roles = self.unk_token, self.sep_token, self.pad_token, self.cls_token, self.mask_token
        named = zip(SPECIAL_TOKENS, roles, strict=True)
        return {**known, **{name: known[token] for name, token in named if token in known}}

    @overload
    def convert_tokens_to_ids(self, tokens: str) -> int: ...

    @overload
    def convert_tokens_to_ids(self, tokens: list[str] | tuple[str, ...]) -> list[int]: ...

    def convert_tokens_to_ids(self, tokens: str | list[str] | tuple[str, ...]) -> int | list[int]:
        """Return the ids of tokens, or the id of a single token; unknown tokens give [UNK]'s id."""
        unknown = self.vocab[self.unk_token]
        if isinstance(tokens, str):
            return self.vocab.get(tokens, unknown)
        return [self.vocab.get(token, unknown) for token in tokens]

    @overload
    def convert_ids_to_tokens(self, ids: int) -> str: ...

    @overload
    def convert_ids_to_tokens(self, ids: Iterable[int]) -> list[str]: ...

    def convert_ids_to_tokens(self, ids: int | Iterable[int]) -> str | list[str]:
        """Return the tokens of ids (integers or a 1-D tensor), or of one; "" for an unused id.

        Raises:
            InputError: an id is outside the vocabulary.
        """
        if hasattr(ids, "tolist"):  # a tensor or an array
            ids = ids.tolist()
        if isinstance(ids, Iterable):
            return [self._token(number) for number in ids]
        return self._token(ids)

    def decode(self, ids: Iterable[int], *, skip_special_tokens: bool = True) -> str:
        """Turn ids back into text: join pieces into words and remove spaces before punctuation.

        What normalisation removed (case, accents, spacing) is not restored.

        Raises:
            InputError: an id is outside the vocabulary.
        """
        skipped = set(self.special_tokens) if skip_special_tokens else set()
        skipped.add("")
        tokens = [token for token in self.convert_ids_to_tokens(ids) if token not in skipped]
        return _DECODER.decode(tokens)

    def _needed(self, token: str) -> int:
        if token in self.vocab:
            return self.vocab[token]
        raise InputError(
            f"The vocabulary ({len(self):,} pieces) has no {token}, which is needed here."
        )

    def _token(self, number: int) -> str:
        try:
            return self.ids_to_tokens[number]
        except (KeyError, TypeError):
            if isinstance(number, int) and 0 <= number < len(self):
                return ""
            raise InputError(
                f"There is no token with the id {number!r}; expected 0 to {len(self) - 1}."
            ) from None
