"""`tokenizer.json`: a whole tokenizer in one file, as `tokenizers` and `transformers` write it.

`read_document` reads the file without trusting it; `wordpiece_of` understands BERT's WordPiece in
it and refuses everything else, because a rule that is skipped gives other ids. `family_files` reads
the other kinds, `added_files` the added tokens of all.

`truncation` and `padding` are settings of one program's calls; only their sides are read. `decoder`
concerns only text that is put together again from ids: BERT's is expected; whether it tidies spaces
is not read.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from tokenizers import Tokenizer

from bert_core.errors import CheckpointError
from bert_core.small_files import parse_json, read_small, shown
from bert_core.text.vocabulary import CONTINUATION, MAX_CHARS, MOST_PIECES, entries

TOKENIZER_NAME = "tokenizer.json"
_LARGEST = 32 * 1024 * 1024  # bytes; half a million pieces, one per line, take 14 MB
_MOST_VALUES = 2 * MOST_PIECES  # a list of a byte or two in the file takes 64 bytes in memory
_SWITCHES = {  # of the normalizer, and what `BertTokenizer` calls them
    "lowercase": "do_lower_case",
    "strip_accents": "strip_accents",
    "handle_chinese_chars": "tokenize_chinese_chars",
    "clean_text": "clean_text",
}
Place = tuple[int, str, int | None, int]
_FLAGS = ("normalized", "single_word", "lstrip", "rstrip", "special")


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


def wordpiece_of(document: Mapping[str, Any], name: str) -> tuple[list[str], dict[str, Any]]:
    """Understand a document as BERT's WordPiece tokenizer, without its added tokens.

    Args:
        document: the contents of a `tokenizer.json`.
        name: name of the file, for error messages.

    Returns:
        The pieces in the order of their ids ("" for an id without a piece), and keyword arguments
        of `BertTokenizer`.

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
        _expect(name, f"{part}.type", _type_of(document.get(part)), expected)
    decoder = document.get("decoder")
    if decoder is not None and (
        _type_of(decoder) != "WordPiece" or decoder.get("prefix") != CONTINUATION
    ):
        refuse(name, "decoder", decoder, "WordPiece with the prefix ##")
    options = {"max_input_chars_per_word": longest, "unk_token": unknown}
    normalizer = document["normalizer"]
    for key, option in _SWITCHES.items():
        value = normalizer.get(key)
        if not isinstance(value, bool) and (key != "strip_accents" or value is not None):
            refuse(name, f"normalizer.{key}", value, "true or false")
        options[option] = value
    return in_order(model.get("vocab"), name), options


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


# -- tokens around a text -------------------------------------------------------------------------


def frame_of(post_processor: object) -> tuple[Any, list[list[Place]]]:
    """Let `tokenizers` show what a post-processor puts around the text "A", and around "A" and "B".

    Returns:
        The post-processor, and for both cases each token: its id, itself, its text and token type.

    Raises:
        CheckpointError: it is none.
    """
    words = {"type": "WordLevel", "vocab": {"A": 0, "B": 1}, "unk_token": "A"}
    with in_words():
        frame = Tokenizer.from_str(json.dumps({"model": words, "post_processor": post_processor}))
        found = frame.encode("A"), frame.encode("A", "B")
    return frame.post_processor, [
        list(zip(each.ids, each.tokens, each.sequence_ids, each.type_ids, strict=True))
        for each in found
    ]


def check_template(given: object, frame: tuple[str, str], pieces: list[str], name: str) -> None:
    """Check that a text becomes [CLS] A [SEP], and a pair [CLS] A [SEP] B [SEP].

    Raises:
        CheckpointError: it becomes something else.
    """
    vocab = entries(pieces)
    cls, sep = ((vocab.get(token), token, None) for token in frame)
    single = [(*cls, 0), (0, "A", 0, 0), (*sep, 0)]
    try:
        _, found = frame_of(given)
    except CheckpointError:
        found = []
    if found != [single, [*single, (1, "B", 1, 1), (*sep, 1)]]:
        expected = "one that makes {0} A {1} and {0} A {1} B {1}".format(*frame)
        refuse(name, "post_processor", _type_of(given), expected)


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
            f"The library `tokenizers` cannot use this tokenizer's files: {str(error)[:200]}. "
            "Fetch them again."
        ) from None


# -- what is wrong --------------------------------------------------------------------------------


def _type_of(part: Any) -> Any:
    """Return what tells a part from others: its type."""
    return part["type"] if isinstance(part, dict) and "type" in part else part


def _expect(name: str, what: str, found: object, expected: str) -> None:
    if found != expected:
        refuse(name, what, found, repr(expected))


def refuse(name: str, what: str, found: object, expected: str) -> NoReturn:
    """Raise a `CheckpointError` on one value of a file."""
    raise CheckpointError(f"{name}: {what} is {shown(found)}; expected {expected}.")
