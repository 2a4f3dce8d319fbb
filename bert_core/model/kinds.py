"""`KINDS`, the table of BERT's eight classes: one row per class, read by all code that lists them.

`ALL_KINDS` has two more, which only other families are trained for.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from bert_core.families import BERT
from bert_core.model.bert import BertModel
from bert_core.model.heads import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForNextSentencePrediction,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.model.relative_heads import (
    BertForReplacedTokenDetection,
    BertForSentenceOrderPrediction,
)


@dataclass(frozen=True, slots=True)
class StoredOutput:
    """An output that `bert_core.verification` stores as a reference value."""

    output: Annotated[str, "a field of `ModelOutputs`"]
    texts: Annotated[str, "the texts to compute it on, a key of `verification.texts.BATCHES`"]
    at: Annotated[str, 'its tokens: "all", the "last", or "masks", those that are [MASK]'] = "all"


@dataclass(frozen=True, slots=True)
class ModelKind:
    """One class of model: its name in words, its outputs, and how it is verified."""

    cls: type[BertPreTrainedModel]
    answers: Annotated[str, 'what its head answers, as a title; "" if it has not one head alone']
    head: Annotated[str, "name of its head in running text"]
    outputs: Annotated[Mapping[str, str], "own fields of `ModelOutputs` -> letters of their axes"]
    stored: Annotated[tuple[StoredOutput, ...], "outputs that verification stores"]
    reads_pairs: Annotated[bool, "whether an input is a pair of texts"] = False

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.cls.__name__

    def has_axis(self, letter: str) -> bool:
        """Return whether one of its outputs has this axis, such as V or C."""
        return any(letter in axes for axes in self.outputs.values())


_PADDED, _LONG = StoredOutput("logits", "padded"), StoredOutput("logits", "long")
_WORDS = (StoredOutput("logits", "masked", "masks"), StoredOutput("logits", "long", "masks"))
_ROWS = (
    ModelKind(
        BertModel, "", "encoder",
        {"attentions": "BHTT", "last_hidden_state": "BTD", "pooler_output": "BD"},
        (StoredOutput("attentions", "short"), StoredOutput("attentions", "pair"),
         StoredOutput("last_hidden_state", "padded", "last"),
         StoredOutput("last_hidden_state", "full", "last"),
         StoredOutput("pooler_output", "padded")),
    ),
    ModelKind(
        BertForPreTraining, "", "pair of pre-training heads",
        {"logits": "BTV", "seq_relationship_logits": "B2"},
        (*_WORDS, StoredOutput("seq_relationship_logits", "padded")), reads_pairs=True,
    ),
    ModelKind(BertForMaskedLM, "Hidden words", "masked-word head", {"logits": "BTV"}, _WORDS),
    ModelKind(BertForNextSentencePrediction, "Next sentence", "next-sentence head",
              {"logits": "B2"}, (_PADDED, _LONG), reads_pairs=True),
    ModelKind(
        BertForQuestionAnswering, "Answers in a text", "question-answering head",
        {"start_logits": "BT", "end_logits": "BT"},
        (StoredOutput("start_logits", "asked"), StoredOutput("end_logits", "asked"),
         StoredOutput("start_logits", "full"), StoredOutput("end_logits", "full")),
        reads_pairs=True,
    ),
    ModelKind(BertForTokenClassification, "Labels of words", "head for labelling words",
              {"logits": "BTC"}, (_PADDED, _LONG, StoredOutput("logits", "full"))),
    ModelKind(BertForSequenceClassification, "Labels of texts", "head for classifying texts",
              {"logits": "BC"}, (_PADDED, _LONG)),
    ModelKind(BertForMultipleChoice, "One of several choices", "multiple-choice head",
              {"logits": "BN"}, (StoredOutput("logits", "choices"),), reads_pairs=True),
    ModelKind(BertForSentenceOrderPrediction, "Order of sentences", "sentence-order head",
              {"logits": "B2"}, (_PADDED, _LONG), reads_pairs=True),
    ModelKind(BertForReplacedTokenDetection, "Replaced tokens", "head for replaced tokens",
              {"logits": "BT"}, (_PADDED, _LONG)),
)  # fmt: skip

ALL_KINDS: Mapping[str, ModelKind] = {kind.name: kind for kind in _ROWS}
"""Class name -> its description; `Family.has` says which families are trained for it."""
KINDS: Mapping[str, ModelKind] = {n: kind for n, kind in ALL_KINDS.items() if BERT.has(n)}
"""Those of BERT. All code that lists BERT's classes reads this table."""
