"""The files of tokenizers other than BERT's, each understood as one `tokenizer.json`.

Byte-level BPE (RoBERTa; Radford et al. 2019) is stored in `tokenizer.json`, or in `vocab.json` with
`merges.txt`; Unigram (XLM-RoBERTa, CamemBERT, ALBERT; Kudo 2018) in `tokenizer.json`, or in a file
of SentencePiece. The library `tokenizers` computes what the document says. Its checks here come
first, because that library stops at some damaged files, and gives added tokens other ids than the
file says.
"""

import base64
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from bert_core.checkpoints.sources.hub_names import MERGES as BPE_FILES
from bert_core.checkpoints.sources.hub_names import SENTENCEPIECE
from bert_core.errors import CheckpointError, ConfigError, MissingFileError
from bert_core.small_files import listed, read_small, shown
from bert_core.text.added import AddedToken, as_entry
from bert_core.text.added_files import CONFIG_NAME, named_tokens
from bert_core.text.byte_level import SPACE
from bert_core.text.sentencepiece_file import read_sentencepiece
from bert_core.text.stored import (
    MODEL_CONFIG,
    check_room,
    files_beside,
    read_object,
    sides_of,
    told_length,
)
from bert_core.text.tokenizer_json import (
    TOKENIZER_NAME,
    in_order,
    model_type,
    read_document,
    refuse,
)
from bert_core.text.vocabulary import MOST_PIECES, VOCABULARY_NAME, entries

VOCABULARY, MERGES = BPE_FILES
_LARGEST = 32 * 1024 * 1024  # bytes
ROLES = ("cls", "sep", "pad", "unk", "mask")
_DOWN = 100.0  # taken from a score so that a piece is never chosen
# the pieces in the order of their ids, the ranks of a BPE model, the scores of a Unigram model
_Understood = tuple[list[str], dict[tuple[str, str], int], dict[str, float]]


@dataclass(frozen=True, slots=True)
class Layout:
    """How the published tokenizers of one family are built.

    Attributes:
        kind: "BPE" or "Unigram".
        tokenizer_class: its name in `transformers`.
        roles: the special tokens for `ROLES`.
        first: Unigram: entries before the pieces of the SentencePiece file.
        dropped: Unigram: how many pieces of that file they replace.
    """

    kind: str
    tokenizer_class: str
    roles: tuple[str, ...] = ("<s>", "</s>", "<pad>", "<unk>", "<mask>")
    first: tuple[str, ...] = ()
    dropped: int = 0


# XLM-RoBERTa and CamemBERT keep the ids of fairseq, whose dictionary begins otherwise than the file
# of SentencePiece (<unk>, <s>, </s>). ALBERT's file has all special tokens itself.
LAYOUTS = {
    "roberta": Layout("BPE", "RobertaTokenizer"),
    "xlm-roberta": Layout(
        "Unigram", "XLMRobertaTokenizer", first=("<s>", "<pad>", "</s>", "<unk>"), dropped=3
    ),
    "camembert": Layout(
        "Unigram",
        "CamembertTokenizer",
        first=("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED"),
        dropped=1,
    ),
    "albert": Layout(
        "Unigram", "AlbertTokenizer", roles=("[CLS]", "[SEP]", "<pad>", "<unk>", "[MASK]")
    ),
}
WORDPIECE_FAMILIES = ("bert", "distilbert", "electra")
_ANY_CLASS = ("PreTrainedTokenizer", "TokenizersBackend")


@dataclass(frozen=True, slots=True)
class FamilyFiles:
    """A tokenizer as its files describe it.

    Attributes:
        document: the contents of a `tokenizer.json`.
        layout: how the family's tokenizers are built.
        pieces: all entries of the vocabulary in the order of their ids.
        ranks: BPE: pair of symbols -> number of its merge, from 0.
        scores: Unigram: piece -> log-probability.
        roles: role -> special token.
        special: all tokens that are no text.
        sides: see `sides_of`.
        contradictions: sentences on files that say different things, and which of them counts.
        max_len: longest input of the model in tokens; None for no limit.
        typed: whether the model has token types for two texts.
    """

    document: dict[str, Any]
    layout: Layout
    pieces: list[str]
    ranks: dict[tuple[str, str], int]
    scores: dict[str, float]
    roles: dict[str, str]
    special: tuple[str, ...]
    sides: dict[str, str]
    contradictions: tuple[str, ...] = ()
    max_len: int | None = None
    typed: bool = True


def family_of(folder: Path) -> str:
    """Return the family whose tokenizer a folder has; "" if neither of its configurations says.

    Raises:
        CheckpointError: a configuration is damaged.
        ConfigError: it is a family that is not implemented.
    """
    written = class_of(read_object(folder / CONFIG_NAME))
    found = read_object(folder / MODEL_CONFIG).get("model_type")
    by_class = [family for family, each in LAYOUTS.items() if each.tokenizer_class == written]
    families = (*WORDPIECE_FAMILIES, *LAYOUTS)
    if found is not None and found not in families:
        raise ConfigError(
            f"{folder / MODEL_CONFIG}: model_type is {shown(found)}; implemented are "
            f"{', '.join(families)}."
        )
    if by_class and found not in WORDPIECE_FAMILIES:
        return by_class[0]  # the class counts, as in `transformers`
    return str(found or "")


def read_family(folder: Path, family: str, given: Path | None = None) -> FamilyFiles:
    """Read the tokenizer of a folder.

    Args:
        folder: the folder of its files.
        family: a key of `LAYOUTS`.
        given: one file of the folder to read, or None for the first that there is.

    Raises:
        MissingFileError: there is no file of a tokenizer of this family.
        CheckpointError: a file is damaged, is another family's, or contradicts itself or the model.
    """
    layout, files = LAYOUTS[family], files_beside(folder)
    settings = files.settings
    path = given or _first_of(folder, family)
    mask = files.role("mask", layout.roles[-1])
    document = _document(path, family, settings, mask)
    _check_kind(document, family, settings, str(path))
    pieces, ranks, scores = _MODELS[model_type(document)](document["model"], str(path))
    names = dict(zip(ROLES, layout.roles, strict=True))
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
        document["post_processor"] = _frame(layout, roles, known, settings, str(path))
    types = read_object(folder / MODEL_CONFIG).get("type_vocab_size", 2)
    return FamilyFiles(
        document={**document, "truncation": None, "padding": None},
        layout=layout,
        pieces=pieces,
        ranks=ranks,
        scores=scores,
        roles=roles,
        special=tuple(dict.fromkeys(token for token in special if token in known)),
        sides=sides_of(settings, document),
        contradictions=named.contradictions,
        max_len=told_length(settings),
        typed=type(types) is not int or types > 1,
    )


# -- which file -----------------------------------------------------------------------------------


def _first_of(folder: Path, family: str) -> Path:
    """Return the file of a folder that has the tokenizer."""
    own: tuple[str, ...] = (VOCABULARY,) if LAYOUTS[family].kind == "BPE" else SENTENCEPIECE
    for name in (TOKENIZER_NAME, *own):
        if os.path.exists(folder / name):
            return folder / name
    every = (VOCABULARY_NAME, VOCABULARY, MERGES, *SENTENCEPIECE)
    others = [name for name in every if os.path.exists(folder / name)]
    raise MissingFileError(
        f"There is no tokenizer of a {family} model in {folder} (found: {listed(others)}); "
        f"expected {_expected(family)}. Copy it there."
    )


def _expected(family: str) -> str:
    bpe = LAYOUTS[family].kind == "BPE"
    own = f"{VOCABULARY} with {MERGES}" if bpe else " or ".join(SENTENCEPIECE)
    return f"{TOKENIZER_NAME}, or {own}"


def _document(path: Path, family: str, settings: Mapping[str, Any], mask: str) -> dict[str, Any]:
    """Return the contents of a `tokenizer.json`, or what they would be for other files."""
    layout = LAYOUTS[family]
    if path.name in (VOCABULARY, MERGES) and layout.kind == "BPE":
        return _from_merges(path.parent, settings)
    if path.suffix.lower() == ".model" and layout.kind == "Unigram":
        return _from_sentencepiece(path, layout, settings, mask)
    if path.suffix.lower() == ".json" and path.name != VOCABULARY:
        return read_document(path)
    raise CheckpointError(
        f"{path} is no file of a {family} model's tokenizer; expected {_expected(family)}."
    )


def _check_kind(
    document: Mapping[str, Any], family: str, settings: Mapping[str, Any], name: str
) -> None:
    """Reject a kind of tokenizer that the family does not have, unless its class may be any."""
    kind, own = model_type(document), LAYOUTS[family].kind
    if kind not in _MODELS or (kind != own and class_of(settings) not in _ANY_CLASS):
        raise CheckpointError(
            f"{name} has a tokenizer of the kind {shown(kind or 'unknown')}; expected {own}, which "
            f"{family} models read. Check that the file belongs to the model."
        )


def class_of(settings: Mapping[str, Any]) -> str:
    """Return the `tokenizer_class` of a `tokenizer_config.json` by its present name."""
    return str(settings.get("tokenizer_class")).removesuffix("Fast")


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
    path: Path, layout: Layout, settings: Mapping[str, Any], mask: str
) -> dict[str, Any]:
    """Describe a SentencePiece file, as published for XLM-RoBERTa, CamemBERT and ALBERT."""
    found = read_sentencepiece(path)
    vocab, unknown = list(found.pieces), found.unknown
    steps: list[dict[str, Any]] = []
    if layout.dropped:
        replaced = [piece for piece, _ in found.pieces[:3]]
        if replaced != ["<unk>", "<s>", "</s>"]:
            refuse(str(path), "the beginning", replaced, "<unk>, <s>, </s>, as fairseq writes it")
        first = [(piece, -_DOWN if piece == "<unk>NOTUSED" else 0.0) for piece in layout.first]
        vocab = [*first, *vocab[layout.dropped :], (mask, 0.0)]
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
    space = {
        "type": "Metaspace",
        "replacement": SPACE,
        "prepend_scheme": "always",
        "split": True,
    }
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": steps} if steps else None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "WhitespaceSplit"}, space],
        },
        "post_processor": None,
        "decoder": space,
        "model": {
            "type": "Unigram",
            "unk_id": unknown,
            "vocab": [*map(list, vocab)],
            "byte_fallback": False,
        },
    }


def _ends_in_comma(piece: str) -> bool:
    """Return whether a piece ends in a digit and a comma."""
    return len(piece) > 1 and piece[-1] == "," and piece[-2].isdigit()


def _replace(old: str, new: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


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
