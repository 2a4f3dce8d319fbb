"""Where a tokenizer is stored, and which of its files counts.

`tokenizer.json` is the vocabulary if there is one, else `vocab.txt`, as in `transformers`. The
switches of the normalizer (case, accents, Chinese characters) are those of `tokenizer_config.json`,
then those of `tokenizer.json`, then what the name says. Where two files contradict each other, the
tokenizer says so: `StoredTokenizer.contradictions`.
"""

import os
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bert_core.checkpoints.sources.hub_names import VOCABULARIES, Part
from bert_core.checkpoints.sources.resolve import ARCHIVE_ENDINGS, resolve
from bert_core.errors import BertError, CheckpointError, MissingFileError
from bert_core.families import FAMILIES
from bert_core.small_files import shown
from bert_core.text.added import AddedToken
from bert_core.text.added_files import files_beside, named_tokens
from bert_core.text.tokenizer_class import CONFIG_NAME, MODEL_CONFIG, read_named, read_object
from bert_core.text.tokenizer_json import (
    TOKENIZER_NAME,
    check_template,
    read_document,
    refuse,
    wordpiece_of,
)
from bert_core.text.vocabulary import (
    CONTINUATION,
    SPECIAL_TOKENS,
    VOCABULARY_NAME,
    as_line,
    check_vocabulary,
    path_of,
    read_vocabulary,
)

_NO_LIMIT = 1_000_000_000  # configurations use 1e30 for "no limit"
_SWITCHES = ("do_lower_case", "strip_accents", "tokenize_chinese_chars")
_USUAL = dict(zip(("unk", "sep", "pad", "cls", "mask"), SPECIAL_TOKENS, strict=True))
_SIDES = ("right", "left")


@dataclass(frozen=True, slots=True)
class StoredTokenizer:
    """What is needed to build a tokenizer from its files.

    Attributes:
        pieces: all pieces in the order of their ids, without added tokens beyond them.
        options: keyword arguments of `BertTokenizer`.
        sides: `truncation_side` and `padding_side`, where they are not "right".
        contradictions: sentences on files that say different things, and which of them counts.
    """

    pieces: Sequence[str]
    options: Mapping[str, Any]
    sides: Mapping[str, str]
    contradictions: tuple[str, ...] = ()


def vocabulary_file(folder: Path) -> Path | None:
    """Return the file of a folder that has its vocabulary; None if there is none."""
    paths = (folder / name for name in VOCABULARIES)
    # Unlike Path.exists, os.path.exists raises no exception if access is denied.
    return next((path for path in paths if os.path.exists(path)), None)


def find_tokenizer(
    name_or_path: str | os.PathLike[str],
    *,
    cache_dir: str | os.PathLike[str] | None = None,
    revision: str | None = None,
) -> StoredTokenizer:
    """Read the files of a tokenizer.

    Args:
        name_or_path: a model, see `resolve`; or a `vocab.txt` or `tokenizer.json` by itself.
        cache_dir: folder for downloads.
        revision: version of the source.

    Raises:
        MissingFileError: the name or path does not exist or has no vocabulary.
        CheckpointError: a file cannot be used.
    """
    path = Path(os.path.expanduser(path_of(name_or_path)))
    found: Path | None = path
    if os.path.isfile(path) and not path.name.lower().endswith(ARCHIVE_ENDINGS):
        folder, name = path.parent, f"{path.parent.name}/{path.name}"
    else:
        folder = resolve(name_or_path, cache_dir=cache_dir, revision=revision, part=Part.TOKENIZER)
        found, name = vocabulary_file(folder), _told_name(path)
        if "cased" not in name.lower():  # an archive's own name may not tell; try its folder
            name = _told_name(folder)
    named = read_named(folder)
    if found is not None and found.suffix.lower() == ".json":
        return _from_json(found)  # it counts before the class
    if named.by_class and named.layout is not None and named.layout.kind != "WordPiece":
        raise CheckpointError(
            f"{folder} has a {named.layout.tokenizer_class}; expected BERT's WordPiece. Open it "
            "with `bert_core.load_tokenizer`."
        )
    if found is None:
        raise MissingFileError(
            f"There is no {VOCABULARY_NAME} in {folder}, and no {TOKENIZER_NAME}; expected the "
            "vocabulary in the folder of the weights. Copy it there, or give the path of the file."
        )
    options = _options(folder / CONFIG_NAME)
    options.setdefault("do_lower_case", _lower_case_by_name(name))
    return _stored(found, read_vocabulary(found), options)


def _from_json(path: Path) -> StoredTokenizer:
    """Read a `tokenizer.json`, and compare it with the files beside it."""
    document = read_document(path)
    found = wordpiece_of(document, str(path))
    own: dict[str, Any] = {
        "do_lower_case": found.lowercase,
        "strip_accents": found.strip_accents,
        "tokenize_chinese_chars": found.chinese_chars,
        "clean_text": found.clean_text,
        "max_input_chars_per_word": found.max_chars,
        "unk_token": found.unknown,
    }
    told = _options(path.parent / CONFIG_NAME)
    void = {"do_basic_tokenize", *(_SWITCHES if files_beside(path.parent).whole else ())}
    says = [*_other_words(path, found.pieces), *_other_switches(own, told, void)]
    told = {key: value for key, value in told.items() if key not in void}
    return _stored(path, list(found.pieces), {**own, **told}, document, says)


def _stored(
    path: Path,
    pieces: list[str],
    options: dict[str, Any],
    document: Mapping[str, Any] | None = None,
    says: Sequence[str] = (),
) -> StoredTokenizer:
    """Add what the other files of the folder say of special and added tokens."""
    unusual = {"unk": options.pop("unk_token", SPECIAL_TOKENS[0])}
    usual = {role: AddedToken(name, True) for role, name in {**_USUAL, **unusual}.items()}
    files, every = files_beside(path.parent), list(pieces)
    named = named_tokens(files, every, usual, document)
    check_room(len(every), path)
    check_vocabulary(pieces, str(path), named.roles["unk"])
    if document is not None:
        if unusual["unk"] != named.roles["unk"]:
            refuse(str(path), "model.unk_token", unusual["unk"], repr(named.roles["unk"]))
        frame = named.roles["cls"], named.roles["sep"]
        check_template(document.get("post_processor"), frame, every, str(path))
    options |= {f"{role}_token": named.roles[role] for role in _USUAL}
    options |= {
        "never_split": (),
        "added_tokens": named.added,
        "token_types": token_types(path.parent),
    }
    uneven = uneven_padding(path.parent, every, named.roles["pad"])
    says = (*says, *named.contradictions, *uneven)
    return StoredTokenizer(pieces, options, sides_of(files.settings, document), says)


def sides_of(settings: Mapping[str, Any], document: Mapping[str, Any] | None) -> dict[str, str]:
    """Return on which sides texts are shortened and padded, where it is not the right one.

    Raises:
        CheckpointError: it is neither right nor left.
    """
    found: dict[str, str] = {}
    for part in ("truncation", "padding"):
        own = (document or {}).get(part)
        own = own.get("direction", "right") if isinstance(own, dict) else "right"
        side = settings.get(f"{part}_side", str(own).lower())
        if side not in _SIDES:
            refuse(CONFIG_NAME, f"{part}_side", side, "right or left")
        found |= {f"{part}_side": side} if side == "left" else {}
    return found


def token_types(folder: Path) -> int:
    """Return how many token types a model and its tokenizer have by their configurations."""
    settings, config = read_object(folder / CONFIG_NAME), _model_config(folder)
    inputs = settings.get("model_input_names")
    # This class is BERT's but for that; the model then takes zeros for both texts.
    own = str(settings.get("tokenizer_class") or config.get("tokenizer_class"))
    untyped = own.removesuffix("Fast") == "DistilBertTokenizer"
    if "token_type_ids" not in inputs if isinstance(inputs, list) else untyped:
        return 1
    if config.get("model_type") == "distilbert":
        return 0
    found = config.get("type_vocab_size")
    return found if type(found) is int else 2


def _model_config(folder: Path) -> dict[str, Any]:
    """Return the configuration of the model; {} for one that is refused when it is loaded."""
    try:
        return read_object(folder / MODEL_CONFIG)
    except BertError:
        return {}


def uneven_padding(folder: Path, pieces: Sequence[str], token: str) -> Iterator[str]:
    """Say where the model counts positions after another token than its tokenizer pads with."""
    config = _model_config(folder)
    family = FAMILIES.get(str(config.get("model_type")))
    if family is None or not family.counts_after_padding or token not in pieces:
        return
    number = config.get("pad_token_id", family.defaults["pad_token_id"])
    if type(number) is int and 0 <= number < len(pieces) and pieces[number] != token:
        other = shown(pieces[number])
        yield (
            f"{MODEL_CONFIG} says that padding has the id {number:,}, where the vocabulary has "
            f"{other}; {shown(token)} has the id {pieces.index(token):,}. Positions are counted by "
            f"{MODEL_CONFIG}, so {other} in a text does not count."
        )


def check_room(entries: int, path: Path) -> None:
    """Reject ids that the model in the same folder has no vectors for.

    Raises:
        CheckpointError: the model has fewer.
    """
    room = _model_config(path.parent).get("vocab_size")
    if type(room) is int and entries > room:
        raise CheckpointError(
            f"{path} has {entries:,} entries, added tokens included, but {MODEL_CONFIG} says that "
            f"the model has room for {room:,}; the two do not belong together."
        )


def _other_words(path: Path, pieces: Sequence[str]) -> Iterator[str]:
    """Say where a `vocab.txt` in the same folder has another vocabulary."""
    beside = path.with_name(VOCABULARY_NAME)
    if not os.path.exists(beside):
        return
    try:
        lines = read_vocabulary(beside)
    except BertError:
        yield f"{VOCABULARY_NAME} cannot be read; {path.name} is used."
        return
    for number, line in enumerate(lines):
        piece = as_line(pieces[number]) if number < len(pieces) else None
        if line != piece:
            yield (
                f"{VOCABULARY_NAME} and {path.name} contradict each other: the id {number:,} is "
                f"{shown(line)} in the first and {shown(piece) if piece else 'nothing'} in the "
                f"second; {path.name} is used."
            )
            return


def _other_switches(
    own: Mapping[str, Any], told: Mapping[str, Any], void: Container[str]
) -> Iterator[str]:
    """Say where `tokenizer_config.json` has other switches than `tokenizer.json`."""
    own = {**own, "do_basic_tokenize": True}  # `tokenizer.json` has no such switch: it does
    for switch in ("do_basic_tokenize", *_SWITCHES):
        if switch in told and told[switch] != _effective(own, switch):
            used = TOKENIZER_NAME if switch in void else CONFIG_NAME
            yield (
                f"{CONFIG_NAME} and {TOKENIZER_NAME} contradict each other: {switch} is "
                f"{str(told[switch]).lower()} in the first and "
                f"{str(_effective(own, switch)).lower()} in the second; {used} is used."
            )


def _effective(own: Mapping[str, Any], switch: str) -> bool:
    value = own[switch]
    return bool(own["do_lower_case"] if value is None else value)


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
    found = read_object(path)
    options: dict[str, Any] = {}
    for key in ("do_basic_tokenize", *_SWITCHES):
        value = found.get(key)
        if value is None:
            continue
        if not isinstance(value, bool):
            raise CheckpointError(f"{path}: {key} is {shown(value)}; expected true or false.")
        options[key] = value
    for key, expected in (("clean_text", True), ("wordpieces_prefix", CONTINUATION)):
        if found.get(key, expected) != expected:
            refuse(str(path), key, found[key], repr(expected))
    if (length := told_length(found)) is not None:
        options["max_len"] = length
    return options


def told_length(settings: Mapping[str, Any]) -> int | None:
    """Return the longest input in tokens by a `tokenizer_config.json`; None for no limit."""
    length = settings.get("model_max_length", settings.get("max_len"))
    known = isinstance(length, int) and not isinstance(length, bool)
    return length if known and 0 < length < _NO_LIMIT else None
