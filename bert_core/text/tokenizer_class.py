"""Which tokenizer a folder has: what `tokenizer_class` says, else what the model's family has.

The tokenizer and the model are chosen independently of each other, as in `transformers`: a BERT may
read its text with XLM-RoBERTa's tokenizer, a RoBERTa with BERT's. `tokenizer_config.json` counts
before `config.json`. A class that is not listed here has rules of its own, so it is refused.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from bert_core.checkpoints.sources.hub_names import MERGES, SENTENCEPIECE
from bert_core.errors import CheckpointError
from bert_core.small_files import parse_json, read_small, shown
from bert_core.text.vocabulary import VOCABULARY_NAME

CONFIG_NAME = "tokenizer_config.json"
MODEL_CONFIG = "config.json"
ANY_CLASS = "PreTrainedTokenizerFast"  # computes whatever `tokenizer.json` describes
_LARGEST = 4 * 1024 * 1024  # bytes; lists of added tokens can be long


@dataclass(frozen=True, slots=True)
class Layout:
    """How the published tokenizers of one class are built.

    Attributes:
        tokenizer_class: its name in `transformers`.
        kind: "WordPiece", "BPE" (byte-level) or "Unigram".
        files: its files without `tokenizer.json`.
        roles: the tokens for the first place, the last place, padding, unknown words and masks.
        first: Unigram: entries before the pieces of the SentencePiece file.
        dropped: Unigram: how many pieces of that file they replace.
    """

    tokenizer_class: str
    kind: str
    files: tuple[str, ...]
    roles: tuple[str, ...] = ("<s>", "</s>", "<pad>", "<unk>", "<mask>")
    first: tuple[str, ...] = ()
    dropped: int = 0


# XLM-RoBERTa and CamemBERT keep the ids of fairseq, whose dictionary begins otherwise than the file
# of SentencePiece (<unk>, <s>, </s>). ALBERT's file has all special tokens itself.
_BERT = Layout(
    "BertTokenizer",
    "WordPiece",
    (VOCABULARY_NAME,),
    roles=("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]"),
)
_ROBERTA = Layout("RobertaTokenizer", "BPE", MERGES)
_XLM_ROBERTA = Layout(
    "XLMRobertaTokenizer",
    "Unigram",
    SENTENCEPIECE,
    first=("<s>", "<pad>", "</s>", "<unk>"),
    dropped=3,
)
_CAMEMBERT = Layout(
    "CamembertTokenizer",
    "Unigram",
    SENTENCEPIECE,
    first=("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED"),
    dropped=1,
)
_ALBERT = Layout(
    "AlbertTokenizer",
    "Unigram",
    SENTENCEPIECE,
    roles=("[CLS]", "[SEP]", "<pad>", "<unk>", "[MASK]"),
)
LAYOUTS = (_BERT, _ROBERTA, _XLM_ROBERTA, _CAMEMBERT, _ALBERT)
OF_FAMILY = {
    "bert": _BERT,
    "distilbert": _BERT,
    "electra": _BERT,
    "roberta": _ROBERTA,
    "xlm-roberta": _XLM_ROBERTA,
    "camembert": _CAMEMBERT,
    "albert": _ALBERT,
}
"""`model_type` -> the tokenizer that such models have if no class is named."""
# What these classes are in `transformers`: the class beside them, under another name.
_SYNONYMS = {
    **dict.fromkeys(
        (
            "BertTokenizerLegacy",
            "ConvBertTokenizer",
            "DistilBertTokenizer",
            "ElectraTokenizer",
            "LayoutLMTokenizer",
            "LxmertTokenizer",
            "MobileBertTokenizer",
            "SqueezeBertTokenizer",
        ),
        _BERT,
    ),
    **dict.fromkeys(("BartTokenizer", "LEDTokenizer", "LongformerTokenizer"), _ROBERTA),
}
_CLASSES = {each.tokenizer_class: each for each in LAYOUTS} | _SYNONYMS
_ANY_CLASSES = ("PreTrainedTokenizer", "TokenizersBackend")
_JAPANESE = "BertJapaneseTokenizer"
_REASONS = {
    _JAPANESE: "it first cuts a text into words by a Japanese dictionary or program",
    "BertTokenizerLegacy": "it composes characters (NFC) before it looks them up",
    "PhobertTokenizer": "it expects Vietnamese text that was cut into words before",
    "BertweetTokenizer": "it rewrites names, links and emoji first",
}


@dataclass(frozen=True, slots=True)
class Named:
    """What the configurations of a folder say about its tokenizer.

    Attributes:
        layout: that of its class, else of the model's family; None if neither is named.
        by_class: whether a class of this package's own is named.
        any_class: whether the class is one that only `tokenizer.json` describes.
        settings: the contents of `tokenizer_config.json`.
    """

    layout: Layout | None
    by_class: bool
    any_class: bool
    settings: Mapping[str, Any]


def read_named(folder: Path) -> Named:
    """Read which tokenizer a folder has by its configurations.

    Raises:
        CheckpointError: a configuration is damaged, or names a tokenizer that is not implemented.
    """
    settings, config = read_object(folder / CONFIG_NAME), read_object(folder / MODEL_CONFIG)
    family = str(config.get("model_type"))
    for name, found in ((CONFIG_NAME, settings), (MODEL_CONFIG, config)):
        if remote := _remote_class(found):
            _refuse(folder / name, f"auto_map.AutoTokenizer is {shown(remote)}", "it is a program")
    told = [each for each in (settings, config) if each.get("tokenizer_class")]
    if not told:
        for key in ("word_tokenizer_type", "subword_tokenizer_type"):
            if kind := settings.get(key):
                _refuse(folder / CONFIG_NAME, f"{key} is {shown(kind)}", _REASONS[_JAPANESE])
        return Named(OF_FAMILY.get(family), False, False, settings)
    name = str(told[0]["tokenizer_class"])
    present = name.removesuffix("Fast")
    if present in _ANY_CLASSES:
        return Named(OF_FAMILY.get(family), False, True, settings)
    legacy = present == "BertTokenizerLegacy" and settings.get("do_lower_case") is False
    if present not in _CLASSES or legacy:
        path = folder / (CONFIG_NAME if told[0] is settings else MODEL_CONFIG)
        reason = _REASONS.get(present, "its rules are not implemented here")
        _refuse(path, f"tokenizer_class is {shown(name)}", reason)
    return Named(_CLASSES[present], True, False, settings)


def _remote_class(settings: Mapping[str, Any]) -> object:
    """Return the tokenizer of a program that comes with a model; nothing if there is none."""
    found = settings.get("auto_map")
    return found.get("AutoTokenizer") if isinstance(found, dict) else found


def _refuse(path: Path, found: str, reason: str) -> NoReturn:
    expected = ", ".join(each.tokenizer_class for each in LAYOUTS)
    raise CheckpointError(
        f"{path}: {found}, whose ids cannot be computed: {reason}. Expected {expected} or a synonym"
        f" of one, or {ANY_CLASS} with a tokenizer.json that describes this tokenizer whole."
    )


def read_object(path: Path) -> dict[str, Any]:
    """Read a configuration; {} if there is none.

    Raises:
        CheckpointError: it is not a JSON object.
    """
    if not os.path.exists(path):
        return {}
    found = parse_json(read_small(path, _LARGEST), str(path))
    if not isinstance(found, dict):
        raise CheckpointError(f"{path} contains a {type(found).__name__}; expected a JSON object.")
    return found
