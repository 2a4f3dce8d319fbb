"""`KINDS`, the table of BERT's eight classes: one row per class, read by all code that lists them.

The two classes that only other families are trained with are in `ALL_KINDS`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

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
    """An output that `bert_core.verification` stores as a reference value.

    Attributes:
        output: a field of `ModelOutputs`.
        texts: the batch of texts to compute it on, a key of `verification.texts.BATCHES`.
        at: tokens to store: "all", the "last", or "masks", those that are [MASK] (the scores of
            all words at one token take 120 kB).
    """

    output: str
    texts: str
    at: str = "all"


@dataclass(frozen=True, slots=True)
class ModelKind:
    """One class of model: its name in words, its outputs, and how it is verified.

    Attributes:
        cls: the class.
        answers: the kind of answer its head gives, as a title such as "Hidden words"; "" if no
            single head belongs to the class.
        head: name of its head in running text, such as "masked-word head".
        outputs: its own fields of `ModelOutputs` -> their axes, in the letters of
            `bert_core.model.outputs`; N is the number of choices.
        stored: outputs that verification stores.
        reads_pairs: whether an input is a pair of texts.
    """

    cls: type[BertPreTrainedModel]
    answers: str
    head: str
    outputs: Mapping[str, str]
    stored: tuple[StoredOutput, ...]
    reads_pairs: bool = False

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.cls.__name__

    def has_axis(self, letter: str) -> bool:
        """Return whether one of its outputs has this axis, such as V or C."""
        return any(letter in axes for axes in self.outputs.values())


_TEXT_LOGITS = (StoredOutput("logits", "padded"), StoredOutput("logits", "long"))
_WORD_LOGITS = (StoredOutput("logits", "masked", "masks"), StoredOutput("logits", "long", "masks"))

KINDS: Mapping[str, ModelKind] = {
    kind.name: kind
    for kind in (
        ModelKind(
            BertModel,
            "",
            "encoder",
            {"attentions": "BHTT", "last_hidden_state": "BTD", "pooler_output": "BD"},
            (
                StoredOutput("attentions", "short"),
                StoredOutput("attentions", "pair"),
                StoredOutput("last_hidden_state", "padded", "last"),
                StoredOutput("last_hidden_state", "full", "last"),
                StoredOutput("pooler_output", "padded"),
            ),
        ),
        ModelKind(
            BertForPreTraining,
            "",
            "pair of pre-training heads",
            {"logits": "BTV", "seq_relationship_logits": "B2"},
            (*_WORD_LOGITS, StoredOutput("seq_relationship_logits", "padded")),
            reads_pairs=True,
        ),
        ModelKind(
            BertForMaskedLM, "Hidden words", "masked-word head", {"logits": "BTV"}, _WORD_LOGITS
        ),
        ModelKind(
            BertForNextSentencePrediction,
            "Next sentence",
            "next-sentence head",
            {"logits": "B2"},
            _TEXT_LOGITS,
            reads_pairs=True,
        ),
        ModelKind(
            BertForQuestionAnswering,
            "Answers in a text",
            "question-answering head",
            {"start_logits": "BT", "end_logits": "BT"},
            (
                StoredOutput("start_logits", "asked"),
                StoredOutput("end_logits", "asked"),
                StoredOutput("start_logits", "full"),
                StoredOutput("end_logits", "full"),
            ),
            reads_pairs=True,
        ),
        ModelKind(
            BertForTokenClassification,
            "Labels of words",
            "head for labelling words",
            {"logits": "BTC"},
            (*_TEXT_LOGITS, StoredOutput("logits", "full")),
        ),
        ModelKind(
            BertForSequenceClassification,
            "Labels of texts",
            "head for classifying texts",
            {"logits": "BC"},
            _TEXT_LOGITS,
        ),
        ModelKind(
            BertForMultipleChoice,
            "One of several choices",
            "multiple-choice head",
            {"logits": "BN"},
            (StoredOutput("logits", "choices"),),
            reads_pairs=True,
        ),
    )
}
"""Class name -> its description. All code that lists BERT's classes reads this table."""

ALL_KINDS: Mapping[str, ModelKind] = {
    **KINDS,
    BertForSentenceOrderPrediction.__name__: ModelKind(
        BertForSentenceOrderPrediction,
        "Order of sentences",
        "sentence-order head",
        {"logits": "B2"},
        _TEXT_LOGITS,
        reads_pairs=True,
    ),
    BertForReplacedTokenDetection.__name__: ModelKind(
        BertForReplacedTokenDetection,
        "Replaced tokens",
        "head for replaced tokens",
        {"logits": "BT"},
        _TEXT_LOGITS,
    ),
}
"""`KINDS`, and the classes that only other families are trained for; `Family.has` says which."""
