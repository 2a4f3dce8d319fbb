"""Small random checkpoints of every family, written by `transformers`.

All sizes differ, and so do the activations of layers and heads. RoBERTa's texts have a padding
token inside, which shifts their positions; three layers of ALBERT share two sets of weights.
"""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from bert_core.families import FAMILIES
from bert_core.model.kinds import ALL_KINDS

BERT_SIZES: dict[str, Any] = {
    "vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4,
    "intermediate_size": 37, "max_position_embeddings": 19, "hidden_act": "relu",
}  # fmt: skip
SIZES: dict[str, dict[str, Any]] = {
    "bert": BERT_SIZES,
    **{
        name: {**BERT_SIZES, "type_vocab_size": 1, "layer_norm_eps": 1e-5}
        for name in ("roberta", "xlm-roberta", "camembert")
    },
    "distilbert": {
        "vocab_size": 99, "dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 37,
        "max_position_embeddings": 19, "activation": "relu",
    },
    "electra": {**BERT_SIZES, "embedding_size": 13},
    "albert": {**BERT_SIZES, "embedding_size": 13, "num_hidden_groups": 2},
}  # fmt: skip
LABELLED = ("BertForSequenceClassification", "BertForTokenClassification")
CASES = [
    pytest.param(family, name, id=f"{family}-{name}")
    for family, row in FAMILIES.items()
    for name in ALL_KINDS
    # Nothing in `transformers` has ALBERT's sentence head alone.
    if row.has(name) and name != "BertForSentenceOrderPrediction"
]
_FIRST = {each.values[0]: each.id for each in reversed(CASES)}
_EACH = {each.values[1]: each.id for each in CASES}
FEW = [
    pytest.param(
        *each.values,
        id=each.id,
        marks=() if each.id in {*_FIRST.values(), *_EACH.values()} else pytest.mark.slow,
    )
    for each in CASES
]
"""The same; in a short run every family and every head once."""


def make_peer(family: str, name: str, **changes: Any) -> Any:
    """Build the class of `transformers`, with weights that all matter."""
    row = FAMILIES[family]
    sizes = {**SIZES[family], **({"num_labels": 5} if name in LABELLED else {}), **changes}
    config = getattr(transformers, f"{row.classes}Config")(**sizes)
    cls = getattr(transformers, row.class_name(name))
    peer = cls._from_config(config, attn_implementation="eager").eval()
    generator = torch.Generator().manual_seed(len(family) + len(name))
    with torch.no_grad():
        for key, parameter in peer.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            scale = "norm" in key.lower() and key.endswith("weight")
            parameter.copy_(1 + 0.1 * noise if scale else 0.2 * noise)
    peer.tie_weights()
    return peer


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., tuple[Any, Path]]:
    """Build a peer and save it: (peer, folder)."""

    def save(family: str, name: str, **changes: Any) -> tuple[Any, Path]:
        peer, folder = make_peer(family, name, **changes), tmp_path / f"{family}-{name}"
        peer.save_pretrained(folder)
        return peer, folder

    return save


def inputs(family: str, name: str, *, pair: bool = False, length: int = 7) -> dict[str, Tensor]:
    """Three padded texts, or pairs of choices; one has a padding token inside."""
    pad = 1 if FAMILIES[family].counts_after_padding else 0
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(5, 99, (3, length), generator=generator)
    mask = (torch.arange(length) < torch.tensor([[length], [length - 3], [length]])).long()
    mask = mask.clamp_min(int(length < 4))
    ids = ids.masked_fill(mask == 0, pad)
    ids[2, length // 2] = pad
    found = {"input_ids": ids, "attention_mask": mask}
    if pair:
        found["token_type_ids"] = (torch.arange(length) > 2).long().expand(3, -1) * mask
    if name == "BertForMultipleChoice":
        return {key: torch.stack([each, each.roll(1, 0)], 1) for key, each in found.items()}
    return found


def outputs_of(peer: Any, given: dict[str, Tensor]) -> SimpleNamespace:
    """Run the peer, and give its results our names."""
    with torch.no_grad():
        found = peer(**given, output_hidden_states=True, output_attentions=True)
    names = ("logits", "start_logits", "end_logits", "pooler_output")
    values = {name: getattr(found, name, None) for name in names}
    if "prediction_logits" in found:
        values["logits"] = found.prediction_logits
    relation = found.get("seq_relationship_logits", found.get("sop_logits"))
    return SimpleNamespace(
        **values,
        seq_relationship_logits=relation,
        hidden_states=found.hidden_states,
        attentions=found.attentions,
    )
