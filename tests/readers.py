"""Readers for the tests of the question page: chosen logits, and a model with known answers."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import torch

from app.engine.models import Engine, Provenance
from bert_core import BertConfig, BertForQuestionAnswering, BertTokenizer, Encoding
from bert_core.model.outputs import ModelOutputs
from tests.conftest import VOCABULARY

Rule = Callable[[Encoding, int], tuple[float, float]]
"""Maps an input and a token position to the start and end logits."""

_NUMBERS = itertools.count()


@dataclass
class PlantedEngine:
    """An engine whose logits are chosen by a test, and which records its calls.

    Attributes:
        rule: gives the logits.
        max_length: the longest input.
        calls: number of inputs in each call.
        config: configuration of the model it replaces.
    """

    tokenizer: BertTokenizer
    rule: Rule
    provenance: Provenance
    max_length: int = 48
    calls: list[int] = field(default_factory=list)
    config: BertConfig = field(default_factory=lambda: BertConfig(len(VOCABULARY)))

    calibration = Engine.calibration

    @property
    def facts(self) -> SimpleNamespace:
        """Return facts of a model whose temperatures were not measured."""
        return SimpleNamespace(errors={})

    def model(self, _: type) -> "PlantedEngine":
        """Return an object with a configuration, as a model has."""
        return self

    def run(self, _: type, encodings: Encoding | Sequence[Encoding]) -> ModelOutputs:
        """Return padded outputs as `Engine.run` does, with noise in the padding."""
        batch = [encodings] if isinstance(encodings, Encoding) else list(encodings)
        self.calls.append(len(batch))
        width = max(len(each) for each in batch)
        assert width <= self.max_length
        logits = torch.full((2, len(batch), width), 99.0)
        for row, each in enumerate(batch):
            for at in range(len(each)):
                logits[0, row, at], logits[1, row, at] = self.rule(each, at)
        return ModelOutputs(
            torch.zeros(len(batch), width, 1), start_logits=logits[0], end_logits=logits[1]
        )


def planted(engine: Engine, rule: Rule, *, max_length: int = 48) -> Engine:
    """Create an engine whose logits follow a rule."""
    provenance = replace(engine.provenance, fingerprint=f"planted {next(_NUMBERS)}")
    return PlantedEngine(engine.tokenizer, rule, provenance, max_length)  # type: ignore[return-value]


def by_token(
    starts: Mapping[str, float],
    ends: Mapping[str, float],
    *,
    null: float = 0.0,
    other: float = -9.0,
) -> Rule:
    """Create a rule in which a token's logits depend only on its spelling.

    Args:
        starts: start logits by token of the passage.
        ends: end logits by token of the passage.
        null: start and end logit of [CLS].
        other: all other logits, including those of the question.
    """

    def rule(encoding: Encoding, at: int) -> tuple[float, float]:
        if at == 0:
            return null, null
        if encoding.sequence_ids[at] != 1:
            return other, other
        token = encoding.tokens[at]
        return starts.get(token, other), ends.get(token, other)

    return rule


def save_reader(folder: Path, start: str, end: str, *, max_length: int = 48) -> Path:
    """Save a model that answers from one piece to another, at any position.

    Its layers add nothing to the word vectors, and its position vectors are zero.
    """
    config = BertConfig(
        len(VOCABULARY),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=37,
        max_position_embeddings=max_length,
    )
    model = BertForQuestionAnswering(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.startswith(("bert.embeddings", "bert.encoder")) and "LayerNorm" not in name:
                parameter.zero_()
        words = model.bert.embeddings.word_embeddings.weight
        for number, piece in enumerate(VOCABULARY):
            words[number, {start: 1, end: 2}.get(piece, 0)] = 1.0
        model.qa_outputs.weight.zero_()
        model.qa_outputs.bias.zero_()
        model.qa_outputs.weight[0, 1] = model.qa_outputs.weight[1, 2] = 2.0
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return folder
