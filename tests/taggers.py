"""Tiny taggers for the tests of the entity page: random, or with known labels for some words."""

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
"""The label of each piece in a planted tagger; all other pieces get the first label."""


def save_tagger(
    folder: Path,
    *,
    names: Sequence[str] = NAMES,
    known: Mapping[str, str] | None = None,
    max_length: int = 48,
    sure: float = 0.6,
) -> Path:
    """Save a tiny tagger with its vocabulary.

    Args:
        folder: folder to save to.
        names: label names; () for a configuration without them.
        known: label by piece. The layers of such a model add nothing to the word vectors, and
            its position vectors are zero, so a piece gets the same label at any position. None
            for a random model, in which every output depends on the whole input.
        max_length: the longest input.
        sure: how far a planted label is above the others.
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
    """Make the label depend only on the piece."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.startswith("bert.embeddings") and "LayerNorm" not in name:
                parameter.zero_()
            if "encoder" in name and "LayerNorm" not in name:
                parameter.zero_()
        words = model.bert.embeddings.word_embeddings.weight
        for number, piece in enumerate(VOCABULARY):
            words[number, names.index(known.get(piece, names[0]))] = 1.0
            words[number, 31] = 0.001 * number  # gives every piece a slightly different score
        model.classifier.weight.zero_()
        model.classifier.bias.zero_()
        for label in range(len(names)):
            model.classifier.weight[label, label] = sure
