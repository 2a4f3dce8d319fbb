"""`tokenizer.json`: a whole tokenizer in one file, as `tokenizers` and `transformers` write it.

`model_of` understands its model and refuses everything else, because a rule that is skipped gives
other ids: WordPiece, byte-level BPE (Radford et al. 2019), or Unigram (Kudo 2018). These checks
come before the library `tokenizers`, which stops at some damaged files. Of `truncation` and
`padding`, settings of one program's calls, only the sides are read.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from tokenizers import Tokenizer

from bert_core.errors import CheckpointError
from bert_core.small_files import parse_json, read_small, shown
from bert_core.text.vocabulary import (
    CONTINUATION,
    MAX_CHARS,
    MOST_PIECES,
    check_vocabulary,
)

TOKENIZER_NAME = "tokenizer.json"
SWITCHES = {  # what `BertTokenizer` calls the switches of its normalizer
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}
_LARGEST = 32 * 1024 * 1024  # bytes; half a million pieces, one per line, take 14 MB
_MOST_VALUES = 2 * MOST_PIECES  # a list of a byte or two in the file takes 64 bytes in memory
Place = tuple[int, str, int | None, int]
# The pieces in the order of their ids, the ranks of a BPE model, the scores of a Unigram model.
Model = tuple[list[str], dict[tuple[str, str], int], dict[str, float]]


def read_document(path: Path) -> dict[str, Any]:
    """Read a `tokenizer.json` as JSON, in bounded memory."""
    raw = read_small(path, _LARGEST)
    values = raw.count(b",") + raw.count(b"[") + raw.count(b"{")
    if values > _MOST_VALUES:
        raise CheckpointError(
            f"{path} has about {values:,} values; expected at most {_MOST_VALUES:,}."
        )
    found = parse_json(raw, str(path), unique=True)
    if not isinstance(found, dict):
        raise CheckpointError(f"{path} contains a {type(found).__name__}; expected a JSON object.")
    return found


def model_type(document: Mapping[str, Any]) -> str:
    """Return the kind of tokenizer in a document, such as "WordPiece" or "BPE"; "" if unknown.

    Files of 2020 do not name it: only BPE has merges, only Unigram a list of pieces, and of the
    rest only WordPiece marks the inside of words.
    """
    model = document.get("model")
    if not isinstance(model, dict):
        return ""
    unnamed = "WordPiece" if "continuing_subword_prefix" in model else ""
    unnamed = "Unigram" if isinstance(model.get("vocab"), list) else unnamed
    found = model.get("type", "BPE" if "merges" in model else unnamed)
    return found if isinstance(found, str) else ""


def model_of(document: Mapping[str, Any], name: str) -> Model:
    """Understand the model of a document, without its added tokens; "" is an id without a piece.

    Raises:
        CheckpointError: it is none that is computed here, or contradicts itself.
    """
    return _MODELS[model_type(document)](document, name)


def _wordpiece(document: Mapping[str, Any], name: str) -> Model:
    model, normalizer = document["model"], document.get("normalizer")
    unknown = model.get("unk_token")
    if not isinstance(unknown, str):
        refuse(name, "model.unk_token", unknown, "a piece of the vocabulary")
    prefix = model.get("continuing_subword_prefix", CONTINUATION)
    cut = _type_of(document.get("pre_tokenizer"))
    longest = model.get("max_input_chars_per_word", MAX_CHARS)
    switches = normalizer if isinstance(normalizer, dict) else {}
    for what, found, expected in (
        ("model.continuing_subword_prefix", prefix, CONTINUATION),
        ("pre_tokenizer.type", cut, "BertPreTokenizer"),
        ("model.max_input_chars_per_word", longest, MAX_CHARS),
        ("normalizer.type", _type_of(normalizer), "BertNormalizer"),
        ("normalizer.clean_text", switches.get("clean_text"), True),
    ):
        if found != expected:
            refuse(name, what, found, repr(expected))
    decoder = document.get("decoder") or {"type": "WordPiece", "prefix": CONTINUATION}
    if _type_of(decoder) != "WordPiece" or decoder.get("prefix") != CONTINUATION:
        refuse(name, "decoder", decoder, "WordPiece with the prefix ##")
    for key in SWITCHES.values():
        value = switches.get(key)
        if not isinstance(value, bool) and (key != "strip_accents" or value is not None):
            refuse(name, f"normalizer.{key}", value, "true or false")
    pieces = _in_order(model.get("vocab"), name)
    check_vocabulary(pieces, name, unknown)
    return pieces, {}, {}


def _bpe(document: Mapping[str, Any], name: str) -> Model:
    model = document["model"]
    pieces = _in_order(model.get("vocab"), name)
    for key in ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback"):
        if model.get(key):
            refuse(name, f"model.{key}", model[key], "none, as in byte-level BPE")
    known, merges = set(pieces), model.get("merges")
    unknown = model.get("unk_token")
    if unknown is not None and unknown not in known:
        refuse(name, "model.unk_token", unknown, "a piece of the vocabulary, or null")
    if not isinstance(merges, list) or not merges or len(merges) > MOST_PIECES:
        found = f"a list of {len(merges):,}" if isinstance(merges, list) else merges
        refuse(name, "model.merges", found, f"a list of 1 to {MOST_PIECES:,} pairs of pieces")
    ranks: dict[tuple[str, str], int] = {}
    for rank, merge in enumerate(merges):
        pair = merge.split(" ") if isinstance(merge, str) else merge
        if not isinstance(pair, list) or [type(each) for each in pair] != [str, str]:
            refuse(name, f"merge {rank:,}", merge, "two pieces")
        first, second = pair
        lacking = [each for each in (first, second, first + second) if each not in known]
        if lacking:
            raise CheckpointError(
                f"{name}: merge {rank:,} puts {shown(first)} and {shown(second)} together, but "
                f"{shown(lacking[0])} is not in the vocabulary. The merges belong to another one."
            )
        ranks[first, second] = rank
    return pieces, ranks, {}


def _unigram(document: Mapping[str, Any], name: str) -> Model:
    model = document["model"]
    vocab, unknown = model.get("vocab"), model.get("unk_id")
    if not isinstance(vocab, list) or not vocab or len(vocab) > MOST_PIECES:
        refuse(name, "model.vocab", vocab, f"a list of 1 to {MOST_PIECES:,} pieces and scores")
    pieces: list[str] = []
    scores: dict[str, float] = {}
    for entry in vocab:
        piece, score = entry if isinstance(entry, list) and len(entry) == 2 else (None, None)
        if not isinstance(piece, str) or not isinstance(score, int | float):
            refuse(name, "an entry of model.vocab", entry, "a piece and its score")
        if not math.isfinite(score):
            refuse(name, f"the score of {shown(piece)}", score, "a finite number")
        pieces.append(piece)
        scores[piece] = float(score)
    if type(unknown) is not int or not 0 <= unknown < len(pieces):
        refuse(name, "model.unk_id", unknown, f"an id from 0 to {len(pieces) - 1:,}")
    if model.get("byte_fallback"):
        refuse(name, "model.byte_fallback", True, "false, as in the published models")
    return pieces, {}, scores


_MODELS: dict[str, Callable[[Mapping[str, Any], str], Model]] = {
    "WordPiece": _wordpiece,
    "BPE": _bpe,
    "Unigram": _unigram,
}


def _in_order(vocab: object, name: str) -> list[str]:
    """Return the pieces in the order of their ids.

    Of equal lines of a `vocab.txt` only the last has an id in the file, so ids may be missing; such
    an id is the empty piece, "".
    """
    if not isinstance(vocab, dict) or len(vocab) > MOST_PIECES:
        refuse(name, "model.vocab", vocab, f"an object of at most {MOST_PIECES:,} pieces and ids")
    for piece, number in vocab.items():
        if type(number) is not int or not 0 <= number < MOST_PIECES:
            expected = f"a whole number from 0, below {MOST_PIECES:,}"
            refuse(name, f"the id of {shown(piece)}", number, expected)
    pieces = [""] * (max(vocab.values(), default=-1) + 1)
    for piece, number in vocab.items():
        if pieces[number]:
            raise CheckpointError(
                f"{name}: {shown(pieces[number])} and {shown(piece)} have the same id, {number:,}; "
                "expected an id of its own for each piece."
            )
        pieces[number] = piece
    return pieces


def frame_of(post_processor: object) -> tuple[Any, list[list[Place]]]:
    """Let `tokenizers` show what a post-processor puts around the text "A", and around "A" and "B".

    Returns it, and for both cases each token: its id, itself, its text and token type.
    """
    words = {"type": "WordLevel", "vocab": {"A": 0, "B": 1}, "unk_token": "A"}
    with in_words():
        frame = Tokenizer.from_str(json.dumps({"model": words, "post_processor": post_processor}))
        found = frame.encode("A"), frame.encode("A", "B")
    return frame.post_processor, [
        list(zip(each.ids, each.tokens, each.sequence_ids, each.type_ids, strict=True))
        for each in found
    ]


@contextmanager
def in_words() -> Iterator[None]:
    """Turn what the library `tokenizers` raises, its panics too, into a `CheckpointError`."""
    try:
        yield
    except BaseException as error:
        # A panic of Rust is no Exception, and its class cannot be imported.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise CheckpointError(
            f"`tokenizers` cannot use this tokenizer's files: {str(error)[:200]}."
        ) from None


def _type_of(part: Any) -> Any:
    """Return what tells a part from others: its type; None for what is none."""
    return part.get("type") if isinstance(part, dict) else None


def refuse(name: str, what: str, found: object, expected: str) -> NoReturn:
    """Raise a `CheckpointError` on one value of a file."""
    raise CheckpointError(f"{name}: {what} is {shown(found)}; expected {expected}.")
