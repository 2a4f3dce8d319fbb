"""SentencePiece's own files (`spiece.model`, `sentencepiece.bpe.model`), read without that library.

Such a file is one protocol buffer: a sequence of fields, each with a number, a wire type and a
value (protobuf.dev, "Encoding"). Only the fields needed here are named below; their numbers are
those of `sentencepiece_model.proto` (Kudo and Richardson 2018).
"""

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bert_core.errors import CheckpointError
from bert_core.small_files import read_small
from bert_core.text.vocabulary import MOST_PIECES

_LARGEST = 32 * 1024 * 1024  # bytes; a quarter of a million pieces take 5 MB
_PIECE, _TRAINER, _NORMALIZER = 1, 2, 3  # fields of the file
_TEXT, _SCORE, _KIND = 1, 2, 3  # of a piece
_MODEL_TYPE, _BYTE_FALLBACK = 3, 35  # of what the trainer was told
_CHARSMAP = 2  # of the normalizer
_UNIGRAM = 1
_UNKNOWN = 2


@dataclass(frozen=True, slots=True)
class SentencePieceFile:
    """What a Unigram model of SentencePiece consists of.

    Attributes:
        pieces: all pieces with their scores (log-probabilities), in the order of their ids.
        unknown: id of the piece for unknown characters.
        charsmap: the table of the normalizer, as `tokenizers` reads it; empty if there is none.
    """

    pieces: tuple[tuple[str, float], ...]
    unknown: int
    charsmap: bytes


def read_sentencepiece(path: Path) -> SentencePieceFile:
    """Read a SentencePiece file.

    Raises:
        MissingFileError: the file does not exist.
        CheckpointError: it is damaged or too large, or its model is not a Unigram model.
    """
    raw = read_small(path, _LARGEST)
    pieces: list[tuple[str, float, int]] = []
    trained: dict[int, int | bytes] = {}
    normalizer: dict[int, int | bytes] = {}
    try:
        for number, value in _fields(raw):
            if number == _PIECE:
                pieces.append(_piece(value))
                if len(pieces) > MOST_PIECES:
                    raise ValueError(f"more than {MOST_PIECES:,} pieces")
            elif number == _TRAINER:
                trained.update(_fields(value))
            elif number == _NORMALIZER:
                normalizer.update(_fields(value))
    except (ValueError, TypeError, IndexError, struct.error) as refusal:
        raise CheckpointError(
            f"{path} is not a SentencePiece file, or is damaged ({str(refusal)[:100]}); expected "
            "one as the library `sentencepiece` writes it. Fetch it again."
        ) from None
    unknown = [number for number, (_, _, kind) in enumerate(pieces) if kind == _UNKNOWN]
    if len(unknown) != 1:
        raise CheckpointError(
            f"{path} has {len(pieces):,} pieces, {len(unknown)} of them for unknown characters; "
            "expected exactly one. Check that this is a SentencePiece file."
        )
    kind, fallback = trained.get(_MODEL_TYPE, _UNIGRAM), trained.get(_BYTE_FALLBACK, 0)
    if kind != _UNIGRAM or fallback:
        raise CheckpointError(
            f"{path} is not a plain Unigram model (its type is {kind!r}, byte fallback "
            f"{fallback!r}); expected type 1 and no byte fallback. Use a tokenizer.json instead."
        )
    charsmap = normalizer.get(_CHARSMAP, b"")
    return SentencePieceFile(
        tuple((text, score) for text, score, _ in pieces),
        unknown[0],
        charsmap if isinstance(charsmap, bytes) else b"",
    )


def _piece(value: int | bytes) -> tuple[str, float, int]:
    """Return the text, score and kind of a piece."""
    found = dict(_fields(value))
    text, score, kind = found.get(_TEXT), found.get(_SCORE, bytes(4)), found.get(_KIND, 1)
    if not isinstance(text, bytes) or not isinstance(score, bytes) or not isinstance(kind, int):
        raise TypeError("a piece without text, score or kind")
    (number,) = struct.unpack("<f", score)
    if not math.isfinite(number):
        raise ValueError("a score that is not finite")
    return text.decode("utf-8"), number, kind


def _fields(data: int | bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the number and value of each field: an integer, or the bytes of everything else.

    >>> list(_fields(bytes([0x08, 0x96, 0x01, 0x12, 0x02]) + b"ab"))
    [(1, 150), (2, b'ab')]
    """
    if isinstance(data, int):
        raise TypeError("a number in place of a message")
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield number, value
            continue
        size = {1: 8, 5: 4}.get(wire, 0)
        if wire == 2:
            size, at = _varint(data, at)
        elif not size:
            raise ValueError(f"a field of the unknown wire type {wire}")
        if at + size > len(data):
            raise ValueError("cut off in the middle of a field")
        yield number, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the integer at a place, seven bits a byte, lowest first, and the place after it."""
    result = shift = 0
    while shift < 64:
        byte = data[at]
        at += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, at
        shift += 7
    raise ValueError("a number of more than ten bytes")
