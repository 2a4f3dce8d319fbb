"""Published models that visitors can download with one click, where downloads are allowed.

Public sites offer only those that are pinned to a commit, if the server has a copy of it.
"""

from dataclasses import dataclass
from typing import Annotated

from app.engine.models.copies import HubId


@dataclass(frozen=True, slots=True)
class Curated:
    """A published model of the BERT family."""

    wanted: Annotated[HubId, "its id on the Hub"]
    can: Annotated[str, "what it is for"]
    heads: Annotated[tuple[str, ...], "classes of `bert_core` whose heads it was trained for"]
    megabytes: Annotated[int, "size of its weights in 10^6 bytes, about"]
    licence: Annotated[str, 'as stated by its authors; "" if they state none']
    commit: Annotated[str, 'the version that public sites offer; "": they do not'] = ""


_WORDS = ("BertForMaskedLM",)
_PAIRS = (*_WORDS, "BertForNextSentencePrediction")
_NAMES = ("BertForTokenClassification",)
_ANSWERS = ("BertForQuestionAnswering",)
_LABELS = ("BertForSequenceClassification",)
_BASE_UNCASED = "86b5e0934494bd15c9632b12f734a8a67f723594"
_BASE_CASED = "cd5ef92a9fb2f889e972770a36d4ed042daf221e"
_NER = "d1a3e8f13f8c3566299d95fcfc9a8d2382a9affc"
_DISTIL_SST = "distilbert/distilbert-base-uncased-finetuned-sst-2-english"

CURATED = tuple(
    Curated(HubId(*name.split("@")), *about)  # type: ignore[arg-type]
    for name, *about in (
        ("google-bert/bert-base-uncased", "masked words, next sentence", _PAIRS, 440, "Apache 2.0",
         _BASE_UNCASED),
        ("google-bert/bert-base-cased", "the same, with capitals", _PAIRS, 436, "Apache 2.0",
         _BASE_CASED),
        ("dslim/bert-base-NER", "named entities", _NAMES, 433, "MIT", _NER),
        ("deepset/bert-base-cased-squad2", "question answering", _ANSWERS, 433, "CC BY 4.0"),
        # main has no safetensors
        ("textattack/bert-base-uncased-SST-2@refs/pr/2", "sentiment of a review", _LABELS, 438, ""),
        ("FacebookAI/roberta-base", "masked words, RoBERTa", _WORDS, 499, "MIT"),
        ("FacebookAI/xlm-roberta-base", "masked words in a hundred languages", _WORDS, 1116, "MIT"),
        ("almanach/camembert-base", "masked words in French", _WORDS, 445, "MIT"),
        ("distilbert/distilbert-base-uncased", "masked words, half the layers of BERT", _WORDS, 268,
         "Apache 2.0"),
        ("google/electra-small-generator", "masked words, ELECTRA", _WORDS, 54, "Apache 2.0"),
        ("albert/albert-base-v2", "masked words, one layer twelve times, ALBERT", _WORDS, 47,
         "Apache 2.0"),
        ("deepset/roberta-base-squad2", "question answering, RoBERTa", _ANSWERS, 496, "CC BY 4.0"),
        (_DISTIL_SST, "sentiment of a review, DistilBERT", _LABELS, 268, "Apache 2.0"),
    )
)  # fmt: skip
"""Sizes and revisions of BERT's: the file listings of the repositories; sizes of the others are
rounded."""

PINNED = frozenset((each.wanted.name, each.commit) for each in CURATED if each.commit)
"""The id and the commit of each model that public sites may offer."""
