"""Why a model has no head of a class: its family has none, or its labels cannot be used."""

from bert_core import BertConfig
from bert_core.model.kinds import KINDS

_LEARNED = {
    "roberta": "hidden words alone, in running text",
    "xlm-roberta": "hidden words alone, in running text of a hundred languages",
    "camembert": "hidden words alone, in running French text",
    "distilbert": "to give the answers of a BERT at hidden words",
    "electra": "to find words that another model had replaced",
    "albert": "hidden words, and whether two sentences were swapped",
}


def why_without(config: BertConfig, name: str) -> str:
    """Say why a model has no head of a class, whatever its weights are; "" if it may have one.

    >>> config = BertConfig(99, model_type="electra")
    >>> why_without(config, "BertForMaskedLM")
    ''
    >>> why_without(config, "BertForNextSentencePrediction")[:60]
    'ELECTRA was not trained to tell which sentence comes next: i'
    """
    family = config.family
    if family.has(name):
        fault = config.label_fault if KINDS[name].has_axis("C") else ""
        return fault and f"Its labels cannot be used: {fault}"
    if name != "BertForNextSentencePrediction":
        return f"{family.title} was not trained for this."
    learned = _LEARNED.get(family.model_type, "something else")
    return (
        f"{family.title} was not trained to tell which sentence comes next: it learned {learned}. "
        "Choose a BERT for this page."
    )
