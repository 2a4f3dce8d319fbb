"""Which tokenizer a folder has: what `tokenizer_class` says, else what the model's family has.

The tokenizer and the model are chosen independently of each other, as in `transformers`: a BERT may
read its text with XLM-RoBERTa's tokenizer, a RoBERTa with BERT's. `tokenizer_config.json` counts
before `config.json`. A class that is not listed here has rules of its own, so it is refused.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NoReturn

from bert_core.checkpoints.sources.hub_names import MERGES, SENTENCEPIECE
from bert_core.errors import CheckpointError, ConfigError
from bert_core.small_files import parse_json, read_small, shown
from bert_core.text.vocabulary import VOCABULARY_NAME

CONFIG_NAME = "tokenizer_config.json"
MODEL_CONFIG = "config.json"
MAP_NAME = "special_tokens_map.json"
ADDED_NAME = "added_tokens.json"
ANY_CLASS = "PreTrainedTokenizerFast"  # computes whatever `tokenizer.json` describes
_LARGEST = 4 * 1024 * 1024  # bytes; lists of added tokens can be long


@dataclass(frozen=True, slots=True)
class Layout:
    """How the published tokenizers of one class are built."""

    tokenizer_class: Annotated[str, "its name in `transformers`"]
    kind: Annotated[str, '"WordPiece", "BPE" (byte-level) or "Unigram"']
    files: Annotated[tuple[str, ...], "its files without `tokenizer.json`"]
    families: Annotated[tuple[str, ...], "`model_type` of models that have it by default"]
    synonyms: Annotated[tuple[str, ...], "classes of other names that are this one"] = ()
    roles: Annotated[
        tuple[str, ...],
        "the tokens for the first place, the last place, padding, unknown words and masks",
    ] = ("<s>", "</s>", "<pad>", "<unk>", "<mask>")
    first: Annotated[
        tuple[str, ...], "Unigram: entries before the pieces of the SentencePiece file"
    ] = ()
    dropped: Annotated[int, "Unigram: how many pieces of that file they replace"] = 0


# XLM-RoBERTa and CamemBERT keep the ids of fairseq, whose dictionary begins otherwise than the file
# of SentencePiece (<unk>, <s>, </s>). ALBERT's file has all special tokens itself.
LAYOUTS = (
    Layout(
        "BertTokenizer",
        "WordPiece",
        (VOCABULARY_NAME,),
        families=("bert", "distilbert", "electra"),
        synonyms=(
            *("ConvBertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "LayoutLMTokenizer"),
            *("LxmertTokenizer", "MobileBertTokenizer", "SqueezeBertTokenizer"),
        ),
        roles=("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]"),
    ),
    Layout(
        "RobertaTokenizer",
        "BPE",
        MERGES,
        families=("roberta",),
        synonyms=("BartTokenizer", "LEDTokenizer", "LongformerTokenizer"),
    ),
    Layout(
        "XLMRobertaTokenizer",
        "Unigram",
        SENTENCEPIECE,
        families=("xlm-roberta",),
        first=("<s>", "<pad>", "</s>", "<unk>"),
        dropped=3,
    ),
    Layout(
        "CamembertTokenizer",
        "Unigram",
        SENTENCEPIECE,
        families=("camembert",),
        first=("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED"),
        dropped=1,
    ),
    Layout(
        "AlbertTokenizer",
        "Unigram",
        SENTENCEPIECE,
        families=("albert",),
        roles=("[CLS]", "[SEP]", "<pad>", "<unk>", "[MASK]"),
    ),
)
OF_FAMILY = {family: each for each in LAYOUTS for family in each.families}
"""`model_type` -> the tokenizer that such models have if no class is named."""
_CLASSES = {name: each for each in LAYOUTS for name in (each.tokenizer_class, *each.synonyms)}
_ANY_CLASSES = ("PreTrainedTokenizer", "TokenizersBackend")
_JAPANESE = "BertJapaneseTokenizer"
_REASONS = {
    _JAPANESE: "it first cuts a text into words by a Japanese dictionary or program",
    "PhobertTokenizer": "it expects Vietnamese text that was cut into words before",
    "BertweetTokenizer": "it rewrites names, links and emoji first",
}


@dataclass(frozen=True, slots=True)
class Folder:
    """The files beside a vocabulary, {} where there is none, and the tokenizer that they name."""

    path: Annotated[Path, "where they are"]
    settings: Annotated[Mapping[str, Any], "`tokenizer_config.json`"]
    config: Annotated[Mapping[str, Any], "`config.json`, which is the model's"]
    names: Annotated[Mapping[str, Any], "`special_tokens_map.json`"]
    ids: Annotated[Mapping[str, Any], "`added_tokens.json`"]
    layout: Annotated[Layout | None, "of the class, else of the model's family; or None"]
    by_class: Annotated[bool, "whether a class of this package's own is named"]
    any_class: Annotated[bool, "whether the class is one that takes any `tokenizer.json` as it is"]

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """The layouts that files other than `tokenizer.json` may have here, its own first."""
        if self.any_class:
            return ()
        own = () if self.layout is None else (self.layout,)
        return own if self.by_class else (*own, *LAYOUTS)


def read_folder(path: Path, *, every_family: bool) -> Folder:
    """Read the configurations of a folder, and which tokenizer it has by them."""
    names = CONFIG_NAME, MODEL_CONFIG, MAP_NAME, ADDED_NAME
    settings, config, special, ids = (_read_object(path / name) for name in names)
    family = config.get("model_type")
    if not every_family and family is not None and str(family) not in OF_FAMILY:
        raise ConfigError(
            f"{path / MODEL_CONFIG}: model_type is {shown(family)}; implemented are "
            f"{', '.join(OF_FAMILY)}."
        )
    named = _class_named(path, settings, config)
    layout = _CLASSES.get(named, OF_FAMILY.get(str(family)))
    by_class, any_class = named in _CLASSES, named in _ANY_CLASSES
    return Folder(path, settings, config, special, ids, layout, by_class, any_class)


def _class_named(path: Path, settings: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """Return the class that a folder names, without "Fast"; "" if it names none."""
    named: list[tuple[Path, str]] = []
    for place, found in ((path / CONFIG_NAME, settings), (path / MODEL_CONFIG, config)):
        remote = found.get("auto_map")
        if remote := remote.get("AutoTokenizer") if isinstance(remote, dict) else remote:
            _refuse(place, f"auto_map.AutoTokenizer is {shown(remote)}", "it is a program")
        if found.get("tokenizer_class"):
            named.append((place, str(found["tokenizer_class"])))
    if not named:
        for key in ("word_tokenizer_type", "subword_tokenizer_type"):
            if kind := settings.get(key):
                _refuse(path / CONFIG_NAME, f"{key} is {shown(kind)}", _REASONS[_JAPANESE])
        return ""
    place, name = named[0]
    present = name.removesuffix("Fast")
    if present not in (*_CLASSES, *_ANY_CLASSES):
        reason = _REASONS.get(present, "its rules are not implemented here")
        _refuse(place, f"tokenizer_class is {shown(name)}", reason)
    return present


def _refuse(path: Path, found: str, reason: str) -> NoReturn:
    expected = ", ".join(each.tokenizer_class for each in LAYOUTS)
    raise CheckpointError(
        f"{path}: {found}, whose ids cannot be computed: {reason}. Expected {expected} or a synonym"
        f" of one, or {ANY_CLASS} with a tokenizer.json that describes this tokenizer whole."
    )


def _read_object(path: Path) -> dict[str, Any]:
    """Read a configuration; {} if there is none (CheckpointError: it is not a JSON object)."""
    if not os.path.exists(path):
        return {}
    found = parse_json(read_small(path, _LARGEST), str(path))
    if not isinstance(found, dict):
        raise CheckpointError(f"{path} contains a {type(found).__name__}; expected a JSON object.")
    return found
