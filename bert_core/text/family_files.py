"""The files of tokenizers other than BERT's, each understood as one `tokenizer.json`.

Byte-level BPE (RoBERTa; Radford et al. 2019) is stored in `tokenizer.json`, or in `vocab.json` with
`merges.txt`; Unigram (XLM-RoBERTa, CamemBERT, ALBERT; Kudo 2018) in `tokenizer.json`, or in a file
of SentencePiece. The library `tokenizers` computes what the document says. Its checks here come
first, because that library stops at some damaged files, and gives added tokens other ids than the
file says.
"""

import base64
import json
import math
import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from bert_core.checkpoints.sources.hub_names import MERGES as BPE_FILES
from bert_core.checkpoints.sources.hub_names import SENTENCEPIECE
from bert_core.errors import CheckpointError, ConfigError, MissingFileError
from bert_core.small_files import listed, read_small, shown
from bert_core.text.added import AddedToken, as_entry
from bert_core.text.added_files import files_beside, listed_contents, named_tokens
from bert_core.text.byte_level import SPACE
from bert_core.text.sentencepiece_file import SentencePieceFile, read_sentencepiece
from bert_core.text.stored import check_room, sides_of, token_types, told_length, uneven_padding
from bert_core.text.tokenizer_class import (
    CONFIG_NAME,
    LAYOUTS,
    MODEL_CONFIG,
    OF_FAMILY,
    Layout,
    Named,
    read_named,
    read_object,
)
from bert_core.text.tokenizer_json import (
    TOKENIZER_NAME,
    in_order,
    model_type,
    read_document,
    refuse,
)
from bert_core.text.vocabulary import MOST_PIECES, entries

VOCABULARY, MERGES = BPE_FILES
_LARGEST = 32 * 1024 * 1024  # bytes
ROLES = ("cls", "sep", "pad", "unk", "mask")
_DOWN = 100.0  # taken from a score so that a piece is never chosen
# the pieces in the order of their ids, the ranks of a BPE model, the scores of a Unigram model
_Understood = tuple[list[str], dict[tuple[str, str], int], dict[str, float]]


@dataclass(frozen=True, slots=True)
class FamilyFiles:
    """A tokenizer as its files describe it.

    Attributes:
        document: the contents of a `tokenizer.json`.
        pieces: all entries of the vocabulary in the order of their ids.
        ranks: BPE: pair of symbols -> number of its merge, from 0.
        scores: Unigram: piece -> log-probability.
        roles: role -> special token.
        special: all tokens that are no text.
        sides: see `sides_of`.
        max_len: longest input of the model in tokens; None for no limit.
        typed: whether the model has token types for two texts.
        contradictions: sentences on files that say different things, and which of them counts.
    """

    document: dict[str, Any]
    pieces: list[str]
    ranks: dict[tuple[str, str], int]
    scores: dict[str, float]
    roles: dict[str, str]
    special: tuple[str, ...]
    sides: dict[str, str]
    max_len: int | None = None
    typed: bool = True
    contradictions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """Which file of a folder has its tokenizer.

    Attributes:
        path: the file.
        layout: how it is understood.
        named: whether the configurations name this layout.
        document: the contents of a `tokenizer.json`; None for other files.
    """

    path: Path
    layout: Layout
    named: bool
    document: dict[str, Any] | None = None


def find_files(folder: Path, given: Path | None = None) -> Found:
    """Choose the file of a folder that has its tokenizer, and how it is understood.

    Args:
        folder: the folder of a model.
        given: one file of the folder, or None for the first that there is.

    Raises:
        MissingFileError: there is no file of a tokenizer of the class that is named.
        CheckpointError: a configuration or the file cannot be used.
        ConfigError: the model is of a family that is not implemented.
    """
    family = read_object(folder / MODEL_CONFIG).get("model_type")
    if family is not None and (not isinstance(family, str) or family not in OF_FAMILY):
        raise ConfigError(
            f"{folder / MODEL_CONFIG}: model_type is {shown(family)}; implemented are "
            f"{', '.join(OF_FAMILY)}."
        )
    named = read_named(folder)
    path, own = given or _first_of(folder, named), named.layout
    if path.suffix.lower() == ".json" and path.name != VOCABULARY:
        document = read_document(path)
        layout = _layout_in(document, own, str(path))
        return Found(path, layout, layout is own and not named.any_class, document)
    kind = _kind_of(path)
    if named.any_class or (named.by_class and own is not None and own.kind != kind):
        expected = _expected(None if named.any_class else own)
        raise CheckpointError(
            f"{path} is of the kind {kind}, but tokenizer_class says otherwise; expected {expected}"
            f". Copy that there, or correct tokenizer_class."
        )
    if own is not None and own.kind == kind:
        return Found(path, own, True)
    if kind == "Unigram":
        return Found(path, _unnamed_sentencepiece(path), False)
    return Found(path, next(each for each in LAYOUTS if each.kind == kind), False)


def _kind_of(path: Path) -> str:
    """Return the kind of tokenizer that a file other than `tokenizer.json` has by its name."""
    if path.name in BPE_FILES:
        return "BPE"
    return "Unigram" if path.suffix.lower() == ".model" else "WordPiece"


def _first_of(folder: Path, named: Named) -> Path:
    """Return the file of a folder that has the tokenizer."""
    own = [named.layout] if named.layout is not None and not named.any_class else []
    fixed = named.by_class or named.any_class
    for name in (TOKENIZER_NAME, *_names(own if fixed else [*own, *LAYOUTS])):
        if os.path.exists(folder / name):
            return folder / name
    others = [name for name in dict.fromkeys(_names(LAYOUTS)) if os.path.exists(folder / name)]
    says = " by its tokenizer_class" if fixed else ""
    raise MissingFileError(
        f"There is no tokenizer in {folder} (found: {listed(others)}); expected"
        f"{says} {_expected(own[0] if own else None)}. Copy it there"
        f"{', or correct tokenizer_class' if says else ''}."
    )


def _names(layouts: Iterable[Layout]) -> list[str]:
    return [name for each in layouts for name in each.files]


def _expected(layout: Layout | None) -> str:
    if layout is None:
        return TOKENIZER_NAME
    own = " with ".join(layout.files) if layout.kind == "BPE" else " or ".join(layout.files)
    return f"{TOKENIZER_NAME}, or {own}"


def _layout_in(document: Mapping[str, Any], own: Layout | None, name: str) -> Layout:
    """Return the layout of a `tokenizer.json`: it is complete, so it counts before any class."""
    kind = model_type(document)
    if own is not None and own.kind == kind:
        return own
    found = next((each for each in LAYOUTS if each.kind == kind), None)
    if found is None:
        kinds = ", ".join(dict.fromkeys(each.kind for each in LAYOUTS))
        refuse(name, "the kind of tokenizer", kind or "unknown", f"one of {kinds}")
    return found


def _unnamed_sentencepiece(path: Path) -> Layout:
    """Return the layout of a SentencePiece file beside a model that has another by its family."""
    known = {piece for piece, _ in read_sentencepiece(path).pieces}
    found = [each for each in LAYOUTS if each.kind == "Unigram" and each.roles[0] == "[CLS]"]
    if set(found[0].roles) <= known:
        return found[0]
    raise CheckpointError(
        f"Nothing says whose ids {path} has: expected tokenizer_class in {CONFIG_NAME}, "
        "XLMRobertaTokenizer or CamembertTokenizer, because they count otherwise. Add it there."
    )


def read_family(found: Found) -> FamilyFiles:
    """Read a tokenizer as `find_files` has chosen it.

    Raises:
        MissingFileError: a file is missing beside this one.
        CheckpointError: a file is damaged, is another family's, or contradicts itself or the model.
    """
    layout, path, files = found.layout, found.path, files_beside(found.path.parent)
    names = dict(zip(ROLES, layout.roles, strict=True))
    settings = files.settings
    if found.document is not None:
        document = _as_told(found, settings)
    elif layout.kind == "BPE":
        document = _from_merges(path.parent, settings)
    else:
        roles = {role: files.role(role, name) for role, name in names.items()}
        document = _from_sentencepiece(path, layout, settings, roles)
    pieces, ranks, scores = _MODELS[layout.kind](document["model"], str(path))
    if found.document is not None:
        names = _roles_in({*pieces, *listed_contents(document)}, names)
    if scores:
        names["unk"] = pieces[document["model"]["unk_id"]]
    # The published masks take the space before them.
    usual = {role: AddedToken(name, True, lstrip=role == "mask") for role, name in names.items()}
    named = named_tokens(files, pieces, usual, document)
    check_room(len(pieces), path)
    known, roles = entries(pieces), {**named.roles}
    if scores:
        roles["unk"] = names["unk"]
    special = (*roles.values(), *(each.content for each in named.added if each.special))
    added = (as_entry(each, known[each.content]) for each in named.added)
    document["added_tokens"] = sorted(added, key=itemgetter("id"))
    if _adds_nothing(document.get("post_processor")):
        if found.document is not None and not found.named:
            expected = "one that puts tokens around a text, because no tokenizer_class says which"
            refuse(str(path), "post_processor", None, expected)
        document["post_processor"] = _frame(layout, roles, known, settings, str(path))
    return FamilyFiles(
        document={**document, "truncation": None, "padding": None},
        pieces=pieces,
        ranks=ranks,
        scores=scores,
        roles=roles,
        special=tuple(dict.fromkeys(token for token in special if token in known)),
        sides=sides_of(settings, document),
        max_len=told_length(settings),
        typed=token_types(path.parent) > 1,
        contradictions=(
            *named.contradictions,
            *uneven_padding(path.parent, pieces, roles["pad"]),
            *(_other_pieces(path, pieces) if found.document is not None else ()),
        ),
    )


def _as_told(found: Found, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a `tokenizer.json` with the options that `tokenizer_config.json` has for its class.

    Raises:
        CheckpointError: the two contradict each other, and which of them counts is unknown.
    """
    document = dict(found.document or {})
    if found.named and found.layout.kind == "BPE":  # RobertaTokenizer takes only its own option
        for part in ("pre_tokenizer", "post_processor"):
            step = document.get(part)
            if isinstance(step, dict) and step.get("type") in ("ByteLevel", "RobertaProcessing"):
                spaced = settings.get("add_prefix_space") is True
                document[part] = {**step, "add_prefix_space": spaced}
    if found.named and found.layout.tokenizer_class == "AlbertTokenizer":
        steps = json.dumps(document.get("normalizer"))
        for option, does in (
            ("do_lower_case", '"Lowercase"' in steps),
            ("keep_accents", '"StripAccents"' not in steps),
        ):
            if isinstance(settings.get(option), bool) and settings[option] is not does:
                expected = f"{str(does).lower()}, as in {TOKENIZER_NAME}; make the two agree"
                refuse(str(found.path.with_name(CONFIG_NAME)), option, settings[option], expected)
    return document


def _other_pieces(path: Path, pieces: list[str]) -> Iterator[str]:
    """Say where another file lacks pieces that the `tokenizer.json` beside it has."""
    words = [piece for piece in pieces if piece.startswith((SPACE, "Ġ"))]
    for name in (*SENTENCEPIECE, VOCABULARY):
        other = path.with_name(name)
        raw = read_small(other, _LARGEST) if words and os.path.exists(other) else b""
        sample = words[:: len(words) // 100 + 1] if raw else []  # to read all takes seconds
        for piece in sample:
            spelled = {piece, json.dumps(piece)[1:-1]}  # JSON may escape what is not ASCII
            if not any(each.encode() in raw for each in spelled):
                yield (
                    f"{name} and {path.name} contradict each other: {shown(piece)} is only in the "
                    f"second; {path.name} is used."
                )
                break


def _roles_in(known: Container[str], roles: Mapping[str, str]) -> dict[str, str]:
    """Return roles with the tokens of another class where a `tokenizer.json` has those."""
    own = {}
    for place, (role, token) in enumerate(roles.items()):
        others = (each.roles[place] for each in LAYOUTS if each.roles[place] in known)
        own[role] = token if token in known else next(others, token)
    return own


# -- byte-level BPE -------------------------------------------------------------------------------


def _from_merges(folder: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Describe `vocab.json` with `merges.txt`, as published for RoBERTa."""
    for name, other in ((VOCABULARY, MERGES), (MERGES, VOCABULARY)):
        if not os.path.exists(folder / name):
            raise MissingFileError(
                f"There is {other} in {folder}, but no {name}; a byte-level BPE tokenizer needs "
                f"both. Copy it there."
            )
    path = folder / MERGES
    try:
        lines = read_small(path, _LARGEST).decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise CheckpointError(f"{path} is not UTF-8 text (byte {error.start}).") from None
    lines = [line.removesuffix("\r") for line in lines]
    steps = {"add_prefix_space": settings.get("add_prefix_space") is True, "trim_offsets": True}
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", **steps, "use_regex": True},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", **steps, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": "",
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": read_document(folder / VOCABULARY),
            "merges": [line for line in lines if line and not line.startswith("#version")],
        },
    }


def _bpe(model: Mapping[str, Any], name: str) -> _Understood:
    """Check a BPE model; return its pieces, and the rank of each pair of symbols."""
    pieces = in_order(model.get("vocab"), name)
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


# -- Unigram --------------------------------------------------------------------------------------


def _from_sentencepiece(
    path: Path, layout: Layout, settings: Mapping[str, Any], roles: Mapping[str, str]
) -> dict[str, Any]:
    """Describe a SentencePiece file, as published for XLM-RoBERTa, CamemBERT and ALBERT."""
    found = read_sentencepiece(path)
    _check_options(settings, str(path))
    own = roles.values()
    vocab = [
        (piece, score - _DOWN * (number in found.never and piece not in own))
        for number, (piece, score) in enumerate(found.pieces)
    ]
    unknown = found.unknown
    steps: list[dict[str, Any]] = []
    if layout.dropped:
        replaced = [piece for piece, _ in found.pieces[:3]]
        if replaced != ["<unk>", "<s>", "</s>"]:
            refuse(str(path), "the beginning", replaced, "<unk>, <s>, </s>, as fairseq writes it")
        first = [(piece, -_DOWN if piece == "<unk>NOTUSED" else 0.0) for piece in layout.first]
        vocab = [*first, *vocab[layout.dropped :], (roles["mask"], 0.0)]
        unknown = layout.first.index("<unk>")
    else:
        # As for BERT, "5," is never one piece (google-research/albert, `encode_pieces`).
        vocab = [(piece, score - _DOWN * _ends_in_comma(piece)) for piece, score in vocab]
        steps = [_replace("``", '"'), _replace("''", '"')]
        if settings.get("keep_accents") is not True:
            steps += [{"type": "NFKD"}, {"type": "StripAccents"}]
        if settings.get("do_lower_case") is not False:
            steps += [{"type": "Lowercase"}]
    if found.charsmap:
        charsmap = base64.b64encode(found.charsmap).decode("ascii")
        steps += [{"type": "Precompiled", "precompiled_charsmap": charsmap}]
    every = not layout.dropped and settings.get("remove_space") is not False
    blanks, cut, decoder = _spaces(found, r"\s" if every else " ")
    steps += blanks
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": steps} if steps else None,
        "pre_tokenizer": cut,
        "post_processor": None,
        "decoder": decoder,
        "model": {
            "type": "Unigram",
            "unk_id": unknown,
            "vocab": [*map(list, vocab)],
            "byte_fallback": False,
        },
    }


def _check_options(settings: Mapping[str, Any], name: str) -> None:
    """Reject options of a `tokenizer_config.json` that would give other pieces."""
    options = settings.get("sp_model_kwargs") or {}
    for key in ("enable_sampling", "add_bos", "add_eos", "reverse"):
        if isinstance(options, dict) and options.get(key):
            refuse(name, f"sp_model_kwargs.{key} in {CONFIG_NAME}", options[key], "false")
    if settings.get("add_prefix_space") is False:
        refuse(name, f"add_prefix_space in {CONFIG_NAME}", False, "true, as the published ones")


def _spaces(
    found: SentencePieceFile, blank: str
) -> tuple[list[dict[str, Any]], dict[str, Any] | None, dict[str, Any]]:
    """Return the normalizers, the pre-tokenizer and the decoder that concern spaces.

    Args:
        found: the settings of SentencePiece.
        blank: a pattern of what is a space; ALBERT's code removes every kind of it first.
    """
    keeps = found.keeps_spaces and blank == " "
    within = any(SPACE in piece[1:] for piece, _ in found.pieces)  # pieces of several words
    spaced = blank != " " or found.rules.startswith("nmt_")  # these make every kind of space one
    if found.prefixed and not keeps and not within and spaced:  # as published
        words = [{"type": "WhitespaceSplit"}, _metaspace("always")]
        return [], {"type": "Sequence", "pretokenizers": words}, _metaspace("always")
    steps = [_replace(f"^{blank}+|{blank}+$", "", "Regex"), _replace(f"{blank}+", " ", "Regex")]
    steps *= not keeps
    if found.prefixed:
        steps.append({"type": "Prepend", "prepend": SPACE})
    steps.append(_replace(" ", SPACE))
    if not keeps:
        steps.append(_replace(f"{SPACE}+$", "", "Regex"))
    back = [_replace(SPACE, " "), {"type": "Fuse"}]
    back.append({"type": "Strip", "content": " ", "start": int(found.prefixed), "stop": 0})
    cut = None if within else _metaspace("never")
    return steps, cut, {"type": "Sequence", "decoders": back}


def _metaspace(prepend: str) -> dict[str, Any]:
    return {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": prepend, "split": True}


def _ends_in_comma(piece: str) -> bool:
    """Return whether a piece ends in a digit and a comma."""
    return len(piece) > 1 and piece[-1] == "," and piece[-2].isdigit()


def _replace(old: str, new: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: old}, "content": new}


def _unigram(model: Mapping[str, Any], name: str) -> _Understood:
    """Check a Unigram model; return its pieces and their scores."""
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


_MODELS: dict[str, Callable[[Mapping[str, Any], str], _Understood]] = {
    "BPE": _bpe,
    "Unigram": _unigram,
}


# -- tokens around a text -------------------------------------------------------------------------


def _adds_nothing(post_processor: object) -> bool:
    """Return whether no tokens are put around a text: what trainers write before one is set."""
    return not isinstance(post_processor, dict) or post_processor.get("type") == "ByteLevel"


def _frame(
    layout: Layout,
    roles: Mapping[str, str],
    known: Mapping[str, int],
    settings: Mapping[str, Any],
    name: str,
) -> dict[str, Any]:
    """Describe what the family puts around a text and around a pair of texts."""
    cls, sep = roles["cls"], roles["sep"]
    for token in (cls, sep):
        if token not in known:
            raise CheckpointError(
                f"{name} has no {shown(token)}, which is put around every text; expected it among "
                f"its {len(known):,} pieces."
            )
    if layout.kind == "BPE":
        return {
            "type": "RobertaProcessing",
            "sep": [sep, known[sep]],
            "cls": [cls, known[cls]],
            "trim_offsets": True,
            "add_prefix_space": settings.get("add_prefix_space") is True,
        }
    second = 0 if layout.first else 1
    single = [(cls, 0), ("A", 0), (sep, 0)]
    between = [(sep, 0)] if layout.first else []
    pair = [*single, *between, ("B", second), (sep, second)]
    return {
        "type": "TemplateProcessing",
        "single": [_element(*each) for each in single],
        "pair": [_element(*each) for each in pair],
        "special_tokens": {
            token: {"id": token, "ids": [known[token]], "tokens": [token]} for token in (cls, sep)
        },
    }


def _element(name: str, token_type: int) -> dict[str, Any]:
    kind = "Sequence" if name in ("A", "B") else "SpecialToken"
    return {kind: {"id": name, "type_id": token_type}}
