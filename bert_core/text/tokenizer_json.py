"""`tokenizer.json`: a whole tokenizer in one file, as `tokenizers` and `transformers` write it.

`read_document` reads the file without trusting it; `wordpiece_of` understands BERT's WordPiece in
it and refuses everything else, because a rule that is skipped gives other ids. `family_files` reads
the other kinds, `added_files` the added tokens of all. `document_of` is the way back.

`truncation` and `padding` are settings of one program's calls; only their sides are read. `decoder`
concerns only text that is put together again from ids: BERT's is expected; whether it tidies spaces
is not read.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, NoReturn

from bert_core.errors import CheckpointError
from bert_core.small_files import parse_json, read_small, shown
from bert_core.text.added import AddedToken, as_entry
from bert_core.text.vocabulary import (
    CONTINUATION,
    MAX_CHARS,
    MOST_PIECES,
    SPECIAL_TOKENS,
    entries,
)

TOKENIZER_NAME = "tokenizer.json"
_LARGEST = 32 * 1024 * 1024  # bytes; half a million pieces, one per line, take 14 MB
_MOST_VALUES = 2 * MOST_PIECES  # a list of a byte or two in the file takes 64 bytes in memory
_FLAGS = ("normalized", "single_word", "lstrip", "rstrip", "special")


@dataclass(frozen=True, slots=True)
class WordPieceFile:
    """BERT's tokenizer as a `tokenizer.json` describes it.

    Attributes:
        pieces: all pieces in the order of their ids; "" for an id without a piece.
        unknown: the token for unknown words.
        lowercase: lower-case the text.
        strip_accents: drop accents; None follows `lowercase`.
        chinese_chars: make every Chinese character a word of its own.
        clean_text: remove control characters.
        max_chars: longer words become [UNK].
    """

    pieces: tuple[str, ...]
    unknown: str = SPECIAL_TOKENS[0]
    lowercase: bool = True
    strip_accents: bool | None = None
    chinese_chars: bool = True
    clean_text: bool = True
    max_chars: int = MAX_CHARS


def read_document(path: Path) -> dict[str, Any]:
    """Read a `tokenizer.json` as JSON, in bounded memory.

    Raises:
        MissingFileError: the file does not exist.
        CheckpointError: it is not JSON, too large or nested too deeply, or has a key twice.
    """
    raw = read_small(path, _LARGEST)
    values = raw.count(b",") + raw.count(b"[") + raw.count(b"{")
    if values > _MOST_VALUES:
        raise CheckpointError(
            f"{path} has about {values:,} values; expected at most {_MOST_VALUES:,}. Check that "
            "this is the tokenizer of a BERT model."
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


def wordpiece_of(document: Mapping[str, Any], name: str) -> WordPieceFile:
    """Understand a document as BERT's WordPiece tokenizer, without its added tokens.

    Args:
        document: the contents of a `tokenizer.json`.
        name: name of the file, for error messages.

    Raises:
        CheckpointError: it is another kind of tokenizer, or contradicts itself.
    """
    kind = model_type(document)
    if kind != "WordPiece":
        raise CheckpointError(
            f"{name} has a tokenizer of the kind {shown(kind or 'unknown')}; expected WordPiece, "
            "BERT's own. For models such as RoBERTa or ALBERT use `bert_core.load_tokenizer`."
        )
    model = document["model"]
    prefix = model.get("continuing_subword_prefix", CONTINUATION)
    _expect(name, "model.continuing_subword_prefix", prefix, CONTINUATION)
    longest = model.get("max_input_chars_per_word", MAX_CHARS)
    if type(longest) is not int or longest < 0:
        refuse(name, "model.max_input_chars_per_word", longest, "a whole number")
    unknown = model.get("unk_token")
    if not isinstance(unknown, str):
        refuse(name, "model.unk_token", unknown, "a piece of the vocabulary")
    for part, expected in (("pre_tokenizer", "BertPreTokenizer"), ("normalizer", "BertNormalizer")):
        _expect(name, f"{part}.type", _type_of(document, part), expected)
    _check_decoder(document.get("decoder"), name)
    return WordPieceFile(
        pieces=tuple(in_order(model.get("vocab"), name)),
        unknown=unknown,
        **_normalizer(document["normalizer"], name),
        max_chars=longest,
    )


def document_of(
    found: WordPieceFile,
    added: Iterable[AddedToken],
    vocab: Mapping[str, int],
    frame: tuple[str, str],
) -> dict[str, Any]:
    """Return the contents of the `tokenizer.json` that describes a tokenizer.

    Args:
        found: the tokenizer.
        added: its added tokens.
        vocab: the id of each piece and of each added token.
        frame: [CLS] and [SEP], by their names.
    """
    single, pair = _templates(*frame)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": sorted(
            (as_entry(token, vocab[token.content]) for token in added), key=itemgetter("id")
        ),
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": found.clean_text,
            "handle_chinese_chars": found.chinese_chars,
            "strip_accents": found.strip_accents,
            "lowercase": found.lowercase,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [_element(each) for each in single],
            "pair": [_element(each) for each in pair],
            "special_tokens": {
                token: {"id": token, "ids": [vocab[token]], "tokens": [token]} for token in frame
            },
        },
        "decoder": {"type": "WordPiece", "prefix": CONTINUATION, "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": found.unknown,
            "continuing_subword_prefix": CONTINUATION,
            "max_input_chars_per_word": found.max_chars,
            "vocab": entries(found.pieces),
        },
    }


# -- the vocabulary -------------------------------------------------------------------------------


def in_order(vocab: object, name: str) -> list[str]:
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


def added_tokens(found: object, pieces: list[str], name: str) -> dict[str, Mapping[str, Any]]:
    """Return the added tokens with their flags, by id; new ones are put after the pieces.

    Raises:
        CheckpointError: one is malformed, or its id is not that of the vocabulary.
    """
    if not isinstance(found, list | None):
        refuse(name, "added_tokens", found, "a list")
    known = entries(pieces)
    added: dict[str, Mapping[str, Any]] = {}
    for each in sorted(found or (), key=_id_of):
        token = each.get("content") if isinstance(each, dict) else None
        if not isinstance(token, str) or not token or token in added:
            refuse(name, "an added token", each, "an object with a content of its own")
        for flag in _FLAGS:
            if not isinstance(each.get(flag, False), bool):
                refuse(name, f"{flag} of {shown(token)}", each[flag], "true or false")
        expected = known.get(token, len(pieces))
        if _id_of(each) != expected:
            refuse(
                name, f"the id of the added token {shown(token)}", each.get("id"), f"{expected:,}"
            )
        if token not in known:
            pieces.append(token)
        added[token] = each
    return added


def _id_of(token: object) -> int:
    number = token.get("id") if isinstance(token, dict) else None
    return number if type(number) is int else -1


# -- the other parts ------------------------------------------------------------------------------


def _normalizer(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Read the four switches of BERT's normalizer."""
    for key in ("clean_text", "handle_chinese_chars", "lowercase", "strip_accents"):
        may_be_null = key == "strip_accents" and given.get(key) is None
        if not isinstance(given.get(key), bool) and not may_be_null:
            refuse(name, f"normalizer.{key}", given.get(key), "true or false")
    return {
        "lowercase": given["lowercase"],
        "strip_accents": given.get("strip_accents"),
        "chinese_chars": given["handle_chinese_chars"],
        "clean_text": given["clean_text"],
    }


def _check_decoder(given: object, name: str) -> None:
    if given is not None and (
        not isinstance(given, dict)
        or given.get("type") != "WordPiece"
        or given.get("prefix") != CONTINUATION
    ):
        refuse(name, "decoder", given, "WordPiece with the prefix ##")


def check_template(given: object, frame: tuple[str, str], pieces: list[str], name: str) -> None:
    """Check that a text becomes [CLS] A [SEP], and a pair [CLS] A [SEP] B [SEP].

    Raises:
        CheckpointError: it becomes something else.
    """
    vocab = entries(pieces)
    number = {token: vocab[token] for token in frame if token in vocab}
    try:
        fits = given is not None and _adds(given, number)
    except (AttributeError, KeyError, TypeError, ValueError):
        fits = False
    if not fits:
        found = _short(given)
        cls, sep = frame
        expected = f"one that makes {cls} A {sep} and {cls} A {sep} B {sep}"
        refuse(name, "post_processor", found, expected)


def _adds(given: Any, number: Mapping[str, int]) -> bool:
    """Return whether a post-processor adds what BERT reads; a built-in exception if it is none."""
    if given["type"] == "BertProcessing":
        return [given["cls"], given["sep"]] == [[token, number[token]] for token in number]
    tokens = given["special_tokens"]
    parts = tuple(tuple(_written(each) for each in given[key]) for key in ("single", "pair"))
    return (
        given["type"] == "TemplateProcessing"
        and parts == _templates(*number)
        and all(tokens[token]["ids"] == [number[token]] for token in number)
    )


def _templates(cls: str, sep: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what a text becomes, and a pair: each element with its token type."""
    single = (f"{cls} 0", "A 0", f"{sep} 0")
    return single, (*single, "B 1", f"{sep} 1")


def _written(element: Any) -> str:
    """Write one element of a template: its name and token type."""
    ((kind, found),) = element.items()
    if kind != ("Sequence" if found["id"] in ("A", "B") else "SpecialToken"):
        raise ValueError
    return f"{found['id']} {found['type_id']}"


def _element(written: str) -> dict[str, Any]:
    """Read what `_written` writes."""
    token, token_type = written.rsplit(" ", 1)
    kind = "Sequence" if token in ("A", "B") else "SpecialToken"
    return {kind: {"id": token, "type_id": int(token_type)}}


def _type_of(document: Mapping[str, Any], part: str) -> object:
    found = document.get(part)
    return found.get("type") if isinstance(found, dict) else found


def _short(given: object) -> object:
    """Return what tells a post-processor from others."""
    return given.get("type") if isinstance(given, dict) and "type" in given else given


def _expect(name: str, what: str, found: object, expected: str) -> None:
    if found != expected:
        refuse(name, what, found, repr(expected))


def refuse(name: str, what: str, found: object, expected: str) -> NoReturn:
    """Raise a `CheckpointError` on one value of a file."""
    raise CheckpointError(f"{name}: {what} is {shown(found)}; expected {expected}.")
