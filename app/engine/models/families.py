"""What the site says about the family of a model: BERT, and those made from it."""

from collections.abc import Mapping
from dataclasses import dataclass

from bert_core import BertConfig


@dataclass(frozen=True, slots=True)
class Kin:
    """One family, in the words of the site.

    Attributes:
        title: its name.
        types: how many token types its models have.
        instead: what it learned in place of BERT's next sentence, after "It learned"; "" for BERT.
    """

    title: str
    types: int
    instead: str = ""


_HIDDEN = "hidden words alone, from running text"
_KIN: Mapping[str, Kin] = {
    "bert": Kin("BERT", 2),
    "roberta": Kin("RoBERTa", 1, _HIDDEN),
    "xlm-roberta": Kin("XLM-RoBERTa", 1, f"{_HIDDEN} in a hundred languages"),
    "camembert": Kin("CamemBERT", 1, f"{_HIDDEN} in French"),
    "distilbert": Kin("DistilBERT", 1, "to give a BERT’s answers at hidden words"),
    "electra": Kin("ELECTRA", 2, "to find words that another model had replaced"),
    "albert": Kin("ALBERT", 2, "whether two sentences were swapped"),
}
# The heads that not every family has.
_ONLY = {
    "BertForNextSentencePrediction": "bert",
    "BertForSentenceOrderPrediction": "albert",
    "BertForReplacedTokenDetection": "electra",
}


def kind_of(config: BertConfig) -> str:
    """Return the `model_type` of a configuration."""
    return str(getattr(config, "model_type", None) or config.extra.get("model_type", "bert"))


def kin_of(config: BertConfig) -> Kin:
    """Return what the site says about the family of a model."""
    return _KIN.get(kind_of(config), _KIN["bert"])


def max_length(config: BertConfig) -> int:
    """Return how many tokens fit, the added ones included; RoBERTa's table has two rows more."""
    return int(getattr(config, "max_length", config.max_position_embeddings))


def why_without(config: BertConfig, name: str) -> str:
    """Say why models of this family have no head of a class; "" if they may have one.

    >>> why_without(BertConfig(99), "BertForNextSentencePrediction")
    ''
    """
    if _ONLY.get(name, kind_of(config)) == kind_of(config):
        return ""
    kin = kin_of(config)
    if name != "BertForNextSentencePrediction":
        return f"{kin.title} has no such head."
    return (
        f"{kin.title} was not trained to tell which sentence comes next: it learned {kin.instead}. "
        "Choose a BERT for this page."
    )
