"""Tiny taggers for the tests of the entity page: random ones, and ones that know their words."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from bert_core import BertConfig, BertForTokenClassification
from tests.conftest import VOCABULARY

NAMES = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG", "B-MISC", "I-MISC")
KNOWN = {
    "cat": "B-PER",
    "dog": "I-PER",
    "river": "B-LOC",
    "bank": "I-LOC",
    "mat": "B-ORG",
    "play": "B-MISC",
    "##ing": "I-MISC",
    "##ed": "B-LOC",
}
"""What a planted tagger says to which piece; to all others it says the first label."""


def save_tagger(
    folder: Path,
    *,
    names: Sequence[str] = NAMES,
    known: Mapping[str, str] | None = None,
    max_length: int = 48,
    sure: float = 0.6,
) -> Path:
    """Write a tiny tagger with its vocabulary.

    Args:
        folder: where.
        names: its labels; () for a configuration that names none.
        known: piece -> label. The layers of such a model add nothing to its word vectors, and
            places have no vectors, so each piece gets its label wherever it stands. None for a
            random model, in which everything depends on everything.
        max_length: the longest input.
        sure: how much a planted label stands out.
    """
    torch.manual_seed(5)
    extra = {"id2label": dict(enumerate(names))} if names else {"num_labels": 3}
    config = BertConfig(
        len(VOCABULARY),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=37,
        max_position_embeddings=max_length,
        initializer_range=0.5,
        **extra,
    )
    model = BertForTokenClassification(config)
    if known is not None:
        _plant(model, list(names), known, sure)
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return folder


def _plant(
    model: BertForTokenClassification, names: list[str], known: Mapping[str, str], sure: float
) -> None:
    """Make the label a function of the piece alone."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.startswith("bert.embeddings") and "LayerNorm" not in name:
                parameter.zero_()
            if "encoder" in name and "LayerNorm" not in name:
                parameter.zero_()
        words = model.bert.embeddings.word_embeddings.weight
        for number, piece in enumerate(VOCABULARY):
            words[number, names.index(known.get(piece, names[0]))] = 1.0
            words[number, 31] = 0.001 * number  # no two pieces have quite the same score
        model.classifier.weight.zero_()
        model.classifier.bias.zero_()
        for label in range(len(names)):
            model.classifier.weight[label, label] = sure
