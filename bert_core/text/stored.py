"""Where a tokenizer is stored, and which of its files counts.

`tokenizer.json` is the vocabulary if there is one, else `vocab.txt`, as in `transformers`. The
switches of the normalizer (case, accents, Chinese characters) are those of `tokenizer_config.json`,
then those of `tokenizer.json`, then what the name says. Where two files contradict each other, the
tokenizer says so: `StoredTokenizer.contradictions`.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bert_core.checkpoints.sources.hub_names import VOCABULARIES, Part
from bert_core.checkpoints.sources.resolve import ARCHIVE_ENDINGS, resolve
from bert_core.errors import BertError, CheckpointError, MissingFileError
from bert_core.families import FAMILIES
from bert_core.small_files import shown
from bert_core.text.basic import NEVER_SPLIT
from bert_core.text.tokenizer_class import CONFIG_NAME, MODEL_CONFIG, read_named, read_object
from bert_core.text.tokenizer_json import TOKENIZER_NAME, read_wordpiece
from bert_core.text.vocabulary import VOCABULARY_NAME, as_line, path_of, read_vocabulary

_NO_LIMIT = 1_000_000_000  # configurations use 1e30 for "no limit"
_SWITCHES = ("do_lower_case", "strip_accents", "tokenize_chinese_chars")


@dataclass(frozen=True, slots=True)
class StoredTokenizer:
    """What is needed to build a tokenizer from its files.

    Attributes:
        pieces: all pieces in the order of their ids.
        options: keyword arguments of `BertTokenizer`.
        contradictions: sentences on files that say different things, and which of them counts.
    """

    pieces: Sequence[str]
    options: Mapping[str, Any]
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
    options["token_types"] = token_types(folder)
    pieces = read_vocabulary(found)
    check_room(len(pieces), found)
    return StoredTokenizer(pieces, options, tuple(uneven_padding(folder, pieces, "[PAD]")))


def _from_json(path: Path) -> StoredTokenizer:
    """Read a `tokenizer.json`, and compare it with the files beside it."""
    found = read_wordpiece(path)
    check_room(len(found.pieces), path)
    own: dict[str, Any] = {
        "do_lower_case": found.lowercase,
        "strip_accents": found.strip_accents,
        "tokenize_chinese_chars": found.chinese_chars,
        "clean_text": found.clean_text,
        "max_input_chars_per_word": found.max_chars,
        "never_split": tuple(dict.fromkeys((*NEVER_SPLIT, *found.added))),
        "additional_special_tokens": tuple(
            token for token in found.special if token not in NEVER_SPLIT
        ),
    }
    told = _options(path.parent / CONFIG_NAME)
    told.pop("do_basic_tokenize", None)  # `tokenizer.json` has no such switch: it does
    says = (
        *_other_words(path, found.pieces),
        *_other_switches(own, told),
        *uneven_padding(path.parent, found.pieces, "[PAD]"),
    )
    options = {**own, **told, "token_types": token_types(path.parent)}
    return StoredTokenizer(found.pieces, options, says)


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
            f"{path} has {entries:,} entries, but {MODEL_CONFIG} says that the model has room for "
            f"{room:,}; the two do not belong together."
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


def _other_switches(own: Mapping[str, Any], told: Mapping[str, Any]) -> Iterator[str]:
    """Say where `tokenizer_config.json` has other switches than `tokenizer.json`."""
    for switch in _SWITCHES:
        if switch in told and told[switch] != _effective(own, switch):
            yield (
                f"{CONFIG_NAME} and {TOKENIZER_NAME} contradict each other: {switch} is "
                f"{str(told[switch]).lower()} in the first and "
                f"{str(_effective(own, switch)).lower()} in the second; {CONFIG_NAME} is used."
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
    if (length := told_length(found)) is not None:
        options["max_len"] = length
    return options


def told_length(settings: Mapping[str, Any]) -> int | None:
    """Return the longest input in tokens by a `tokenizer_config.json`; None for no limit."""
    length = settings.get("model_max_length", settings.get("max_len"))
    known = isinstance(length, int) and not isinstance(length, bool)
    return length if known and 0 < length < _NO_LIMIT else None
