"""SentencePiece's own files (`spiece.model`, `sentencepiece.bpe.model`), read without that library.

Such a file is one protocol buffer: a sequence of fields, each with a number, a wire type and a
value (protobuf.dev, "Encoding"). Only the fields needed here are named below; their numbers are
those of `sentencepiece_model.proto` (Kudo and Richardson 2018).
"""

import math
import struct
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from bert_core.errors import CheckpointError
from bert_core.small_files import protobuf_fields, read_small
from bert_core.text.byte_level import SPACE
from bert_core.text.vocabulary import MOST_PIECES

_LARGEST = 32 * 1024 * 1024  # bytes; a quarter of a million pieces take 5 MB
_PIECE, _TRAINER, _NORMALIZER = 1, 2, 3  # fields of the file
_DENORMALIZER = 5
_TEXT, _SCORE, _KIND = 1, 2, 3  # of a piece
_MODEL_TYPE, _SUFFIX, _BYTE_FALLBACK = 3, 24, 35  # of what the trainer was told
_RULES, _CHARSMAP, _PREFIX, _NO_EXTRA, _ESCAPE = 1, 2, 3, 4, 5  # of the normalizer
_MODEL_TYPES: dict[int | bytes, str] = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}
_NORMAL, _UNKNOWN, _USER_DEFINED = 1, 2, 4  # kinds of pieces
_Spec = dict[int, int | bytes]  # the fields of one part


@dataclass(frozen=True, slots=True)
class SentencePieceFile:
    """What a Unigram model of SentencePiece consists of."""

    pieces: Annotated[tuple[tuple[str, float], ...], "with scores, by id"]
    unknown: Annotated[int, "id of the piece for unknown characters"]
    charsmap: Annotated[bytes, "the normalizer's table, as `tokenizers` reads it; or empty"]
    rules: Annotated[str, 'the name of that table, such as "nmt_nfkc"'] = ""
    never: Annotated[frozenset[int], "ids that no text gives"] = frozenset()


def read_sentencepiece(path: Path) -> SentencePieceFile:
    """Read a SentencePiece file."""
    raw = read_small(path, _LARGEST)
    pieces: list[tuple[str, float, int]] = []
    specs: dict[int, _Spec] = {_TRAINER: {}, _NORMALIZER: {}, _DENORMALIZER: {}}
    try:
        for number, value in protobuf_fields(raw):
            if number == _PIECE:
                pieces.append(_piece(value))
                if len(pieces) > MOST_PIECES:
                    raise ValueError(f"more than {MOST_PIECES:,} pieces")
            elif number in specs:
                specs[number].update(protobuf_fields(value))
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
    normalizer = specs[_NORMALIZER]
    charsmap = _bytes(normalizer, _CHARSMAP)
    rules = _bytes(normalizer, _RULES).decode("utf-8", "replace")
    folds: Callable[[str], str] = str.casefold if rules.endswith("_cf") else str
    folded = [
        text
        for text, _, kind in pieces
        if kind == _USER_DEFINED and charsmap and folds(unicodedata.normalize("NFKC", text)) != text
    ]
    across = any(SPACE in text[1:] for text, _, kind in pieces if kind == _NORMAL)
    _check_settings(path, specs, folded, across)
    never = (n for n, (*_, kind) in enumerate(pieces) if kind > _UNKNOWN and kind != _USER_DEFINED)
    # SentencePiece always prefers what the user defined.
    most = max((score for _, score, kind in pieces if kind == _NORMAL), default=0.0)
    scored = tuple(
        (text, len(text.encode()) * most - 0.1 if kind == _USER_DEFINED else score)
        for text, score, kind in pieces
    )
    return SentencePieceFile(scored, unknown[0], charsmap, rules, frozenset(never))


def _check_settings(
    path: Path, specs: Mapping[int, _Spec], folded: list[str], across: bool
) -> None:
    trained, normalizer = specs[_TRAINER], specs[_NORMALIZER]
    for name, found, expected in (
        ("model_type", _MODEL_TYPES.get(trained.get(_MODEL_TYPE, 1), "unknown"), "unigram"),
        ("byte_fallback", bool(trained.get(_BYTE_FALLBACK, 0)), False),
        ("treat_whitespace_as_suffix", bool(trained.get(_SUFFIX, 0)), False),
        ("escape_whitespaces", bool(normalizer.get(_ESCAPE, 1)), True),
        ("add_dummy_prefix", bool(normalizer.get(_PREFIX, 1)), True),
        ("remove_extra_whitespaces", bool(normalizer.get(_NO_EXTRA, 1)), True),
        ("split_by_whitespace", not across, True),
        ("user_defined_symbols", folded[:1], []),  # others are exempt from the normalizer
        (
            "denormalizer_spec.precompiled_charsmap",
            bool(specs[_DENORMALIZER].get(_CHARSMAP)),
            False,
        ),
    ):
        if found != expected:
            raise CheckpointError(
                f"{path}: {name} is {found}; expected {expected}, because no other is implemented. "
                "A tokenizer.json that describes the tokenizer whole would be used instead."
            )


def _bytes(spec: _Spec, number: int) -> bytes:
    found = spec.get(number, b"")
    return found if isinstance(found, bytes) else b""


def _piece(value: int | bytes) -> tuple[str, float, int]:
    found = dict(protobuf_fields(value))
    text, score, kind = found.get(_TEXT), found.get(_SCORE, bytes(4)), found.get(_KIND, 1)
    if not isinstance(text, bytes) or not isinstance(score, bytes) or not isinstance(kind, int):
        raise TypeError("a piece without text, score or kind")
    (number,) = struct.unpack("<f", score)
    if not math.isfinite(number):
        raise ValueError("a score that is not finite")
    return text.decode("utf-8"), number, kind
