"""`Target`: the one number of a model's answer that an analysis explains.

The number is a log-probability or a difference of logits, never a probability: close to 0 and 1,
softmax is so flat that causes of the answer no longer move it, and gradients vanish. A probability
is used only where a bounded number is needed, to measure faithfulness (`Target.probability`).
"""

from dataclasses import dataclass
from typing import Annotated, Self

import torch
from torch import Tensor

from bert_core.analysis.forward import head_outputs
from bert_core.errors import InputError
from bert_core.families import NEXT
from bert_core.model.heads import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForNextSentencePrediction,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.model.losses import widened
from bert_core.model.pretrained import BertPreTrainedModel

_WORDS, _SPANS = (BertForMaskedLM, BertForPreTraining), (BertForQuestionAnswering,)
_PAIRS = (BertForNextSentencePrediction, BertForPreTraining)
_SCORES = (BertForMultipleChoice, BertForSequenceClassification)
_AT = "at position {0.position}"
_KINDS: dict[str, tuple[tuple[type[BertPreTrainedModel], ...], str]] = {
    "token": (_WORDS, "log-probability of token {0.chosen} " + _AT),
    "token_difference": (_WORDS, "logit of token {0.chosen} minus logit of token {0.other} " + _AT),
    "start": (_SPANS, "log-probability that the answer starts " + _AT),
    "end": (_SPANS, "log-probability that the answer ends " + _AT),
    "label": ((BertForTokenClassification,), "log-probability of label {0.chosen} " + _AT),
    "classification": ((BertForSequenceClassification,), "log-probability of label {0.chosen}"),
    "next_sentence": (_PAIRS, "logit of {1} minus logit of {2}"),
    "score": (_SCORES, "score {0.chosen} of the text"),
}
"""Kind -> the classes that can be asked, and what the number is."""
_PAIR = ('"B follows A"', '"B does not follow"')


@dataclass(frozen=True, slots=True)
class Target:
    """One number of a model's answer; build it with one of the methods below.

    >>> print(Target.token(4, 2003))
    log-probability of token 2003 at position 4
    """

    kind: Annotated[str, "the name of the method that built it"]
    position: Annotated[int, "the token whose vector the head reads; 0, [CLS], for a text"] = 0
    chosen: Annotated[int, "the token, label or class asked for"] = 0
    other: Annotated[int, "the token compared with"] = 0

    @classmethod
    def token(cls, position: int, token_id: int) -> Self:
        """Log-probability of a token at one position (masked words)."""
        return cls("token", position, token_id)

    @classmethod
    def token_difference(cls, position: int, token_id: int, other: int) -> Self:
        """Logit of a token minus that of another one at the same position (masked words)."""
        return cls("token_difference", position, token_id, other)

    @classmethod
    def start(cls, position: int) -> Self:
        """Log-probability that the answer starts here (question answering)."""
        return cls("start", position)

    @classmethod
    def end(cls, position: int) -> Self:
        """Log-probability that the answer ends here (question answering)."""
        return cls("end", position)

    @classmethod
    def label(cls, position: int, label: int) -> Self:
        """Log-probability of a label at one position (token classification)."""
        return cls("label", position, label)

    @classmethod
    def classification(cls, label: int) -> Self:
        """Log-probability of a label of the text."""
        return cls("classification", 0, label)

    @classmethod
    def next_sentence(cls, *, follows: bool = True) -> Self:
        """Logit of "B follows A" minus that of "B does not follow"; without `follows`, reversed."""
        return cls("next_sentence", 0, int(not follows), int(follows))

    @classmethod
    def score(cls, output: int = 0) -> Self:
        """A score of a text: of one choice, of a regression, or of a label judged by itself."""
        return cls("score", 0, output)

    def __str__(self) -> str:
        """Say in words what the number is."""
        pair = (_PAIR[self.chosen], _PAIR[self.other]) if self.kind == "next_sentence" else ()
        return _KINDS[self.kind][1].format(self, *pair)

    def check(self, model: BertPreTrainedModel, tokens: int) -> None:
        """Reject a model without the head that is asked, and a position outside the text.

        Raises:
            InputError: one of the two.
        """
        classes = _KINDS[self.kind][0]
        if not isinstance(model, classes):
            expected = " or ".join(cls.__name__ for cls in classes)
            raise InputError(
                f"The {self} cannot be asked of a {type(model).__name__}; expected {expected}."
            )
        if self.kind == "next_sentence" and model.config.family.sentence_head != NEXT:
            raise InputError(
                f"The {self} cannot be asked of this model: {model.config.family.title} was not "
                "trained for it. Ask a BERT."
            )
        if not 0 <= self.position < tokens:
            raise InputError(f"Found position {self.position}; the text has 0 to {tokens - 1}.")

    def read(self, model: BertPreTrainedModel, last: Tensor) -> Tensor:
        """Compute the number (B,) from last hidden states (B, T, D), through the head."""
        spans = self.kind in ("start", "end")
        here = slice(None) if spans else slice(self.position, self.position + 1)
        outputs = head_outputs(model, last[:, here])
        logits = {"start": outputs.start_logits, "end": outputs.end_logits}.get(
            self.kind, outputs.logits
        )
        if self.kind == "next_sentence" and outputs.seq_relationship_logits is not None:
            logits = outputs.seq_relationship_logits
        assert logits is not None
        logits = widened(logits).flatten(0, -2)  # (B, T), (B, V) or (B, C)
        self._check_scores(model, logits.shape[-1])
        if self.kind in ("token_difference", "next_sentence"):
            return logits[:, self.chosen] - logits[:, self.other]
        if self.kind == "score":
            return logits[:, self.chosen]
        return torch.log_softmax(logits, dim=-1)[:, self.position if spans else self.chosen]

    def _check_scores(self, model: BertPreTrainedModel, count: int) -> None:
        if self.kind in ("score", "classification"):
            problem: str = "score" if count == 1 else model.config.problem_type
            chooses = problem == "single_label_classification"
            if chooses != (self.kind == "classification"):
                right = "Target.classification(label)" if chooses else "Target.score(output)"
                raise InputError(
                    f"Found the {self}; the head has {count} outputs ({problem}). Use {right}."
                )
        for found in (self.chosen, self.other):
            if not 0 <= found < count:
                raise InputError(f"Found the {self}; the head gives 0 to {count - 1}.")

    def probability(self, values: Tensor) -> Tensor:
        """Convert values of the target to probabilities, where there is one.

        A log-probability becomes the probability, a difference of logits the probability between
        the two; a single score stays as it is.
        """
        if self.kind in ("token_difference", "next_sentence"):
            return torch.sigmoid(values)
        return values if self.kind == "score" else values.exp()
