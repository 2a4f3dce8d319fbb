"""What a family of models was trained on in place of BERT's next sentence, in words."""

from bert_core import BertConfig

_LEARNED = {
    "roberta": "hidden words alone, in running text",
    "xlm-roberta": "hidden words alone, in running text of a hundred languages",
    "camembert": "hidden words alone, in running French text",
    "distilbert": "to give the answers of a BERT at hidden words",
    "electra": "to find words that another model had replaced",
    "albert": "hidden words, and whether two sentences were swapped",
}


def why_without(config: BertConfig, name: str) -> str:
    """Say why the family of a model has no head of a class; "" if it has one.

    >>> config = BertConfig(99, model_type="electra")
    >>> why_without(config, "BertForMaskedLM")
    ''
    >>> why_without(config, "BertForNextSentencePrediction")[:60]
    'ELECTRA was not trained to tell which sentence comes next: i'
    """
    family = config.family
    if family.has(name):
        return ""
    if name != "BertForNextSentencePrediction":
        return f"{family.title} was not trained for this."
    learned = _LEARNED.get(family.model_type, "something else")
    return (
        f"{family.title} was not trained to tell which sentence comes next: it learned {learned}. "
        "Choose a BERT for this page."
    )
