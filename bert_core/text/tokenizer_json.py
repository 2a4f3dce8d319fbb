"""`tokenizer.json`: a whole tokenizer in one file, as `tokenizers` and `transformers` write it.

`read_document` reads the file without trusting it; `wordpiece_of` understands BERT's WordPiece in
it and refuses everything else, because a rule that is skipped gives other ids. `family_files` reads
the other kinds. `document_of` is the way back.

`truncation` and `padding` are settings of one program's calls, and are not read. `decoder` concerns
only text that is put together again from ids: BERT's is expected; whether it tidies spaces is not
read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from bert_core.errors import CheckpointError
from bert_core.small_files import parse_json, read_small, shown
from bert_core.text.vocabulary import MOST_PIECES, SPECIAL_TOKENS, check_vocabulary
from bert_core.text.wordpiece import CONTINUATION, MAX_CHARS

TOKENIZER_NAME = "tokenizer.json"
_LARGEST = 32 * 1024 * 1024  # bytes; half a million pieces, one per line, take 14 MB
_MOST_VALUES = 2 * MOST_PIECES  # a list of a byte or two in the file takes 64 bytes in memory
_FRAME: tuple[str, ...] = ("[CLS]", "[SEP]")
_SINGLE = ("[CLS] 0", "A 0", "[SEP] 0")
_PAIR = (*_SINGLE, "B 1", "[SEP] 1")
_FLAGS = ("normalized", "single_word", "lstrip", "rstrip", "special")


@dataclass(frozen=True, slots=True)
class WordPieceFile:
    """BERT's tokenizer as a `tokenizer.json` describes it.

    Attributes:
        pieces: all pieces in the order of their ids, added tokens included.
        lowercase: lower-case the text.
        strip_accents: drop accents; None follows `lowercase`.
        chinese_chars: make every Chinese character a word of its own.
        clean_text: remove control characters.
        max_chars: longer words become [UNK].
        added: tokens to find in the text before anything else.
        special: those of `added` that are no text.
    """

    pieces: tuple[str, ...]
    lowercase: bool = True
    strip_accents: bool | None = None
    chinese_chars: bool = True
    clean_text: bool = True
    max_chars: int = MAX_CHARS
    added: tuple[str, ...] = ()
    special: tuple[str, ...] = ()


def read_wordpiece(path: Path) -> WordPieceFile:
    """Read the WordPiece tokenizer in a `tokenizer.json`.

    Raises:
        MissingFileError: the file does not exist.
        CheckpointError: it is damaged, too large, or not BERT's WordPiece.
    """
    return wordpiece_of(read_document(path), str(path))


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
    """Understand a document as BERT's WordPiece tokenizer.

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
    _expect(name, "model.unk_token", model.get("unk_token"), SPECIAL_TOKENS[0])
    prefix = model.get("continuing_subword_prefix", CONTINUATION)
    _expect(name, "model.continuing_subword_prefix", prefix, CONTINUATION)
    longest = model.get("max_input_chars_per_word", MAX_CHARS)
    if type(longest) is not int or longest < 0:
        refuse(name, "model.max_input_chars_per_word", longest, "a whole number")
    pieces = in_order(model.get("vocab"), name)
    added = added_tokens(document.get("added_tokens"), pieces, name)
    for token, flags in added.items():
        _check_plain(flags, token, name)
    check_vocabulary(pieces, name)
    for part, expected in (("pre_tokenizer", "BertPreTokenizer"), ("normalizer", "BertNormalizer")):
        _expect(name, f"{part}.type", _type_of(document, part), expected)
    _check_decoder(document.get("decoder"), name)
    _check_template(document.get("post_processor"), pieces, name)
    return WordPieceFile(
        pieces=tuple(pieces),
        **_normalizer(document["normalizer"], name),
        max_chars=longest,
        added=tuple(added),
        special=tuple(token for token, flags in added.items() if flags.get("special") is True),
    )


def document_of(found: WordPieceFile) -> dict[str, Any]:
    """Return the contents of the `tokenizer.json` that describes a tokenizer."""
    vocab = {piece: number for number, piece in enumerate(found.pieces)}
    given = dict.fromkeys(_FLAGS, False)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": vocab[token], "content": token, **given, "special": token in found.special}
            for token in sorted(found.added, key=vocab.__getitem__)
        ],
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
            "single": [_element(each) for each in _SINGLE],
            "pair": [_element(each) for each in _PAIR],
            "special_tokens": {
                token: {"id": token, "ids": [vocab[token]], "tokens": [token]} for token in _FRAME
            },
        },
        "decoder": {"type": "WordPiece", "prefix": CONTINUATION, "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": SPECIAL_TOKENS[0],
            "continuing_subword_prefix": CONTINUATION,
            "max_input_chars_per_word": found.max_chars,
            "vocab": vocab,
        },
    }


# -- the vocabulary -------------------------------------------------------------------------------


def in_order(vocab: object, name: str) -> list[str]:
    """Return the pieces in the order of their ids, which must be 0, 1, 2 and so on."""
    if not isinstance(vocab, dict) or len(vocab) > MOST_PIECES:
        refuse(name, "model.vocab", vocab, f"an object of at most {MOST_PIECES:,} pieces and ids")
    pieces: list[str | None] = [None] * len(vocab)
    for piece, number in vocab.items():
        if type(number) is not int or number < 0:
            refuse(name, f"the id of {shown(piece)}", number, "a whole number from 0")
        if number >= len(pieces):
            raise CheckpointError(
                f"{name}: {shown(piece)} has the id {shown(number)}, but there are "
                f"{len(pieces):,} pieces, so the ids have a gap; expected 0 to {len(pieces) - 1:,}."
            )
        if pieces[number] is not None:
            raise CheckpointError(
                f"{name}: {shown(pieces[number])} and {shown(piece)} have the same id, {number:,}; "
                "expected an id of its own for each piece."
            )
        pieces[number] = piece
    return [piece for piece in pieces if piece is not None]  # no gaps: as many ids as pieces


def added_tokens(found: object, pieces: list[str], name: str) -> dict[str, Mapping[str, Any]]:
    """Return the added tokens with their flags, by id; new ones are put after the pieces.

    Raises:
        CheckpointError: one is malformed, or its id is not that of the vocabulary.
    """
    if not isinstance(found, list | None):
        refuse(name, "added_tokens", found, "a list")
    known = {piece: number for number, piece in enumerate(pieces)}
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


def _check_plain(given: Mapping[str, Any], token: str, name: str) -> None:
    asked = [flag for flag in _FLAGS if given.get(flag) and flag != "special"]
    if asked or " " in token:
        asked = asked or ["a space"]
        raise CheckpointError(
            f"{name}: the added token {shown(token)} has {' and '.join(asked)}, which is not "
            "implemented; expected tokens that are found in the text as it is written."
        )


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


def _check_template(given: object, pieces: list[str], name: str) -> None:
    """Check that a text becomes [CLS] A [SEP], and a pair [CLS] A [SEP] B [SEP]."""
    number = {token: pieces.index(token) for token in _FRAME if token in pieces}
    try:
        fits = given is not None and _adds(given, number)
    except (AttributeError, KeyError, TypeError, ValueError):
        fits = False
    if not fits:
        found = _short(given)
        refuse(
            name, "post_processor", found, "one that makes [CLS] A [SEP] and [CLS] A [SEP] B [SEP]"
        )


def _adds(given: Any, number: Mapping[str, int]) -> bool:
    """Return whether a post-processor adds what BERT reads; a built-in exception if it is none."""
    if given["type"] == "BertProcessing":
        return [given["cls"], given["sep"]] == [[token, number[token]] for token in number]
    tokens = given["special_tokens"]
    parts = tuple(tuple(_written(each) for each in given[key]) for key in ("single", "pair"))
    return (
        given["type"] == "TemplateProcessing"
        and parts == (_SINGLE, _PAIR)
        and all(tokens[token]["ids"] == [number[token]] for token in _FRAME)
    )


def _written(element: Any) -> str:
    """Write one element of a template: its name and token type."""
    ((kind, found),) = element.items()
    special = found["id"] in SPECIAL_TOKENS
    if kind != ("SpecialToken" if special else "Sequence"):
        raise ValueError
    return f"{found['id']} {found['type_id']}"


def _element(written: str) -> dict[str, Any]:
    """Read what `_written` writes."""
    token, token_type = written.split()
    kind = "SpecialToken" if token in SPECIAL_TOKENS else "Sequence"
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
