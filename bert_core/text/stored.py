"""Where a tokenizer is stored, which of its files counts, and what they say together.

Every tokenizer is read as one `tokenizer.json`, or described as one (`first_files`). Switches in
`tokenizer_config.json` (case, accents, Chinese characters) count before those of `tokenizer.json`;
the name of the model says only what no file does.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any

from bert_core.checkpoints.sources.hub_names import SENTENCEPIECE, Part
from bert_core.checkpoints.sources.resolve import ARCHIVE_ENDINGS, resolve
from bert_core.errors import CheckpointError, MissingFileError
from bert_core.small_files import listed
from bert_core.text.added import AddedToken, as_entry
from bert_core.text.added_files import ids_in, named_tokens, role_of
from bert_core.text.first_files import MERGES, VOCABULARY, describe, frame
from bert_core.text.tokenizer_class import (
    CONFIG_NAME,
    LAYOUTS,
    MODEL_CONFIG,
    Folder,
    Layout,
    read_folder,
)
from bert_core.text.tokenizer_json import (
    SWITCHES,
    TOKENIZER_NAME,
    frame_of,
    model_of,
    model_type,
    read_document,
    refuse,
)
from bert_core.text.vocabulary import (
    CONTINUATION,
    entries,
    path_of,
)

ROLES = ("cls", "sep", "pad", "unk", "mask")
WORDPIECE = "WordPiece"
_NO_LIMIT = 1_000_000_000  # configurations use 1e30 for "no limit"
_BASIC, _STRIP = "do_basic_tokenize", "strip_accents"
_SWITCHES = [_BASIC, *SWITCHES]  # that may be set


@dataclass(frozen=True, slots=True)
class TokenizerFiles:
    """A tokenizer as its files describe it."""

    kind: Annotated[str, '"WordPiece", "BPE" or "Unigram"']
    document: Annotated[dict[str, Any], "the contents of a `tokenizer.json`"]
    own_pieces: Annotated[list[str], "the pieces of its model in the order of their ids"]
    pieces: Annotated[list[str], "the same, and the added tokens beyond them"]
    ranks: Annotated[dict[tuple[str, str], int], "BPE: pair of symbols -> its merge"]
    scores: Annotated[dict[str, float], "Unigram: piece -> log-probability"]
    roles: Annotated[dict[str, str], "role -> special token"]
    added: Annotated[tuple[AddedToken, ...], "all tokens that are found before anything else"]
    sides: Annotated[tuple[str, str], '"right" or "left": truncation, padding']
    max_len: Annotated[int | None, "longest input of the model in tokens; None for no limit"]
    token_types: Annotated[int, "number of token types of the model and its tokenizer"]
    basic: Annotated[bool, "whether a text is normalised, and split at punctuation"]


@dataclass(frozen=True, slots=True)
class _Found:
    """Which file of a folder has its tokenizer, and how it is understood."""

    folder: Folder
    path: Path
    layout: Layout
    document: dict[str, Any] | None = None  # the contents of a `tokenizer.json`

    @property
    def named(self) -> bool:
        """Whether the configurations name this layout."""
        return self.layout is self.folder.layout and not self.folder.any_class


def read_tokenizer(
    name_or_path: str | os.PathLike[str],
    cache_dir: str | os.PathLike[str] | None,
    revision: str | None,
    *,
    kind: str | None = None,
) -> TokenizerFiles:
    """Read the files of a tokenizer of a model (see `resolve`), or beside one of them.

    `kind` is the only kind that is expected, of models of any family; or None for every kind.
    """
    name = Path(os.path.expanduser(path_of(name_or_path)))
    given = os.path.isfile(name) and not name.name.lower().endswith(ARCHIVE_ENDINGS)
    place = (
        name.parent
        if given
        else resolve(name_or_path, cache_dir=cache_dir, revision=revision, part=Part.TOKENIZER)
    )
    found = _find(read_folder(place, every_family=kind is not None), name if given else None)
    if kind not in (None, found.layout.kind):
        expected = f"{kind}, BERT's own; `bert_core.load_tokenizer` opens every kind"
        refuse(str(found.path), "the kind of tokenizer", found.layout.kind, expected)
    return _read(found, lowercase=_lower_cased(name, place))


# -- which file counts ----------------------------------------------------------------------------


def _find(folder: Folder, given: Path | None) -> _Found:
    """Choose the file of a folder that has its tokenizer, and how it is understood."""
    path = given or _first_of(folder)
    if path.suffix.lower() == ".json" and path.name != VOCABULARY:
        document = read_document(path)  # it is complete, so it counts before any class
        kind = model_type(document)
        own = [folder.layout] if folder.layout is not None else []
        for layout in (*own, *LAYOUTS):
            if layout.kind == kind:
                return _Found(folder, path, layout, document)
        kinds = ", ".join(dict.fromkeys(each.kind for each in LAYOUTS))
        refuse(str(path), "the kind of tokenizer", kind or "unknown", f"one of {kinds}")
    by_name = "Unigram" if path.suffix.lower() == ".model" else WORDPIECE
    kind = "BPE" if path.name in (VOCABULARY, MERGES) else by_name
    fitting = [each for each in folder.layouts if each.kind == kind]
    if not fitting:
        raise CheckpointError(
            f"{path} is of the kind {kind}, but tokenizer_class says otherwise; expected "
            f"{_expected(folder.layouts)}. Copy that there, or correct tokenizer_class."
        )
    if kind == "Unigram" and fitting[0] is not folder.layout:
        fitting = [e for e in LAYOUTS if e.kind == kind and not e.dropped]  # ALBERT's name for it
        if path.name != SENTENCEPIECE[1]:
            raise CheckpointError(
                f"Nothing says whose ids {path} has: expected tokenizer_class in {CONFIG_NAME}, "
                "XLMRobertaTokenizer or CamembertTokenizer, because they count otherwise."
            )
    return _Found(folder, path, fitting[0])


def _first_of(folder: Folder) -> Path:
    for name in (TOKENIZER_NAME, *_names(folder.layouts)):
        if os.path.exists(folder.path / name):
            return folder.path / name
    others = [name for name in _names(LAYOUTS) if os.path.exists(folder.path / name)]
    fixed = folder.by_class or folder.any_class
    raise MissingFileError(
        f"There is no tokenizer in {folder.path} (found: {listed(others)}); expected"
        f"{' by its tokenizer_class' * fixed} {_expected(folder.layouts)}. Copy it there"
        f"{', or correct tokenizer_class' * fixed}."
    )


def _names(layouts: Iterable[Layout]) -> list[str]:
    return [*dict.fromkeys(name for each in layouts for name in each.files)]


def _expected(layouts: Iterable[Layout]) -> str:
    joined = ((" with " if each.kind == "BPE" else " or ").join(each.files) for each in layouts)
    return ", or ".join([TOKENIZER_NAME, *dict.fromkeys(joined)])


def _lower_cased(*places: Path) -> bool:
    """Return what the name of a model says of its case, as far as it does.

    >>> _lower_cased(Path("models--google-bert--bert-base-cased/snapshots/cd5ef92a"))
    False
    """
    # The folder of a snapshot is named after its commit.
    names = (p.parents[1].name if p.parent.name == "snapshots" else p.name for p in places)
    return next(("uncased" in name.lower() for name in names if "cased" in name.lower()), True)


# -- what the files say ---------------------------------------------------------------------------


def _read(found: _Found, *, lowercase: bool) -> TokenizerFiles:
    folder, path, layout = found.folder, found.path, found.layout
    words, document = layout.kind == WORDPIECE, dict(found.document or {})
    names = dict(zip(ROLES, layout.roles, strict=True))
    if found.document is None:
        roles = {role: role_of(folder, role, name) for role, name in names.items()}
        document = describe(path, layout, folder.settings, roles, lowercase=lowercase)
    own, ranks, scores = model_of(document, str(path))
    pieces = [*own]
    if found.document is not None:
        # A `tokenizer.json` may have the tokens of another class.
        there = {*own, *ids_in(document.get("added_tokens"))}
        for place, (role, token) in enumerate(names.items()):
            others = (each.roles[place] for each in LAYOUTS)
            names[role] = next((each for each in (token, *others) if each in there), token)
    if layout.kind != "BPE":
        model = document["model"]
        names["unk"] = model["unk_token"] if words else own[model["unk_id"]]
    basic = _obey(found, document)
    # The published masks take the space before them, except BERT's.
    usual = {
        role: AddedToken(token, True, lstrip=role == "mask" and not words)
        for role, token in names.items()
    }
    roles, tokens = named_tokens(folder, pieces, usual, document.get("added_tokens"))
    room = folder.config.get("vocab_size")
    if type(room) is int and len(pieces) > room:
        raise CheckpointError(
            f"{path} has {len(pieces):,} entries, added tokens included, but {MODEL_CONFIG} says "
            f"that the model has room for {room:,}; the two do not belong together."
        )
    known = entries(pieces)
    if words and roles["unk"] != names["unk"]:
        refuse(str(path), "model.unk_token", names["unk"], repr(roles["unk"]))
    roles |= {"unk": names["unk"]} if scores else {}
    added = (as_entry(each, known[each.content]) for each in tokens)
    sides = (_side(part, folder.settings, document) for part in ("truncation", "padding"))
    length = folder.settings.get("model_max_length", folder.settings.get("max_len"))
    document |= {
        "added_tokens": sorted(added, key=itemgetter("id")),
        "post_processor": _framed(found, document.get("post_processor"), roles, known),
    }
    return TokenizerFiles(
        kind=layout.kind,
        own_pieces=own,
        pieces=pieces,
        ranks=ranks,
        scores=scores,
        roles=roles,
        added=tokens,
        sides=(next(sides), next(sides)),
        document={**document, "truncation": None, "padding": None},
        max_len=length if type(length) is int and 0 < length < _NO_LIMIT else None,
        token_types=_token_types(folder),
        basic=basic,
    )


def _framed(
    found: _Found, given: object, roles: Mapping[str, str], known: Mapping[str, int]
) -> object:
    """Return what is put around texts: what a `tokenizer.json` says, else what the layout has."""
    layout, settings, name = found.layout, found.folder.settings, str(found.path)
    kind = given.get("type") if isinstance(given, dict) else None
    words = layout.kind == WORDPIECE
    if given is None or kind == "ByteLevel":  # adds nothing: what trainers write before one is set
        if found.document is None and words:  # a vocabulary may lack these tokens
            return None
        if found.document is not None and not found.named:
            expected = "one that puts tokens around a text, because no tokenizer_class says which"
            refuse(name, "post_processor", given, expected)
        return frame(layout, roles, known, settings, name)
    if words:
        _, usual = frame_of(frame(layout, roles, known, settings, name))
        try:
            _, places = frame_of(given)
        except CheckpointError:
            places = []
        if places != usual:
            texts = (" ".join(token for _, token, *_ in each) for each in usual)
            refuse(name, "post_processor", kind, f"one that makes {' and '.join(texts)}")
    return given


def _side(part: str, settings: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    own = document.get(part)
    own = own.get("direction", "right") if isinstance(own, dict) else "right"
    side = settings.get(f"{part}_side", str(own).lower())
    if side not in ("right", "left"):
        refuse(CONFIG_NAME, f"{part}_side", side, "right or left")
    return str(side)


def _token_types(folder: Folder) -> int:
    settings, config = folder.settings, folder.config
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


# -- options of the classes -----------------------------------------------------------------------


def _obey(found: _Found, document: dict[str, Any]) -> bool:
    """Put the options that `tokenizer_config.json` has for its class into a document.

    Returns whether a text is normalised, and split at punctuation. An option that is malformed, or
    of which it is unknown what counts, is refused.
    """
    if found.layout.kind == WORDPIECE:
        return _obey_switches(found, document)
    settings = found.folder.settings
    if found.named and found.layout.kind == "BPE":  # RobertaTokenizer takes only its own option
        for part in ("pre_tokenizer", "post_processor"):
            step = document.get(part)
            if isinstance(step, dict) and step.get("type") in ("ByteLevel", "RobertaProcessing"):
                spaced = settings.get("add_prefix_space") is True
                document[part] = {**step, "add_prefix_space": spaced}
    if found.named and found.document and found.layout.tokenizer_class == "AlbertTokenizer":
        steps = json.dumps(document.get("normalizer"))
        for option, does in (
            ("do_lower_case", '"Lowercase"' in steps),
            ("keep_accents", '"StripAccents"' not in steps),
        ):
            if isinstance(settings.get(option), bool) and settings[option] is not does:
                expected = f"{str(does).lower()}, as in {TOKENIZER_NAME}; make the two agree"
                refuse(str(found.path.with_name(CONFIG_NAME)), option, settings[option], expected)
    return True


def _obey_switches(found: _Found, document: dict[str, Any]) -> bool:
    settings, path = found.folder.settings, str(found.folder.path / CONFIG_NAME)
    for key, expected in (("clean_text", True), ("wordpieces_prefix", CONTINUATION)):
        if settings.get(key, expected) != expected:
            refuse(path, key, settings[key], repr(expected))
    whole, basic = found.document is not None, True
    does = document["normalizer"] = dict(document["normalizer"])
    for switch in _SWITCHES:
        value = settings.get(switch)
        if value is not None and not isinstance(value, bool):
            refuse(path, switch, value, "true or false")
        if whole and (switch == _BASIC or found.folder.any_class):
            continue  # the whole description counts
        if switch == _BASIC:
            basic = value is not False
        elif value is not None or (switch == _STRIP and switch in settings):
            does[SWITCHES[switch]] = value
        elif whole and settings:  # `transformers` takes the default of BERT's class
            value, default = does[SWITCHES[switch]], switch != _STRIP or does["lowercase"]
            if value not in (None, default):
                expected = f"{json.dumps(value)}, as in {TOKENIZER_NAME}; make the two agree"
                refuse(path, switch, None, expected)
    return basic
