"""Counting from a configuration: against real models, reference classes, PyTorch's counter."""

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode

import app
from bert_core import BertConfig
from bert_core.errors import ConfigError, InputError
from bert_core.model.sizes import PARTS, Architecture, Split

FAMILY = tomllib.loads(
    (Path(app.__file__).parent / "features" / "variants" / "family.toml").read_text("utf-8")
)["model"]
CLASSES = {
    "bert": transformers.BertModel,
    "roberta": transformers.RobertaModel,
    "albert": transformers.AlbertModel,
    "distilbert": transformers.DistilBertModel,
    "electra": transformers.ElectraModel,
    "modernbert": transformers.ModernBertModel,
}
SMALL = {
    "vocab_size": 99,
    "max_position_embeddings": 40,
    **{f"{name}_token_id": 1 for name in ("pad", "bos", "eos", "cls", "sep")},
}
SIZES = [
    {"hidden_size": 36, "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": 50},
    {"hidden_size": 24, "num_hidden_layers": 5, "num_attention_heads": 2, "type_vocab_size": 1},
]
WORDS = {
    "embedding": ("word_embeddings", "tok_embeddings", "position_embeddings", "token_type",
                  "embedding_hidden_mapping_in", "embeddings_project"),
    "rest": ("norm", "pooler"),
    "attention": ("attention", "attn"),
}  # fmt: skip


def reference(values: dict[str, Any]) -> Any:
    """The class of `transformers` on the meta device."""
    with torch.device("meta"):
        config = transformers.AutoConfig.for_model(**values)
        config._attn_implementation = "eager"
        return CLASSES[values["model_type"]](config).eval()


def by_part(model: Any) -> dict[str, int]:
    """The parameters of a reference model, sorted into parts by their names."""
    found = Counter(dict.fromkeys(PARTS, 0))
    for name, value in model.named_parameters():
        low = name.lower()
        parts = (part for part, words in WORDS.items() if any(word in low for word in words))
        found[next(parts, "feed-forward")] += value.numel()
    return dict(found)


def edits() -> list[dict[str, Any]]:
    """Each configuration as published, and small ones of unequal sizes."""
    small = [
        {**row["config"], **SMALL, **sizes}
        for row in FAMILY
        for sizes in SIZES
        if "hidden_size" in row["config"]
    ]
    distil = {**FAMILY[3]["config"], **SMALL, "dim": 36, "n_layers": 3, "n_heads": 3}
    electra = {**FAMILY[4]["config"], **SMALL, **SIZES[0], "embedding_size": 8}
    return [*(row["config"] for row in FAMILY), *small, distil, electra]


@pytest.mark.parametrize("values", edits(), ids=lambda v: f"{v['model_type']}-{v['vocab_size']}")
def test_every_part_has_as_many_parameters_as_in_the_reference_class(
    values: dict[str, Any],
) -> None:
    model = reference(values)
    counted = Architecture.from_config(values).parameters()
    assert counted.total == sum(each.numel() for each in model.parameters())
    assert dict(zip(PARTS, counted.parts, strict=True)) == by_part(model)


@pytest.mark.parametrize("row", FAMILY, ids=lambda row: row["slug"])
def test_the_counts_are_the_published_ones(row: dict[str, Any]) -> None:
    total = Architecture.from_config(row["config"]).parameters().total
    assert total / 1e6 == pytest.approx(row["published"], abs=1.2)  # as authors round


@pytest.mark.parametrize("values", edits(), ids=lambda v: f"{v['model_type']}-{v['vocab_size']}")
def test_as_many_operations_as_pytorch_counts(values: dict[str, Any]) -> None:
    """Without the pooler, and at a length at which local layers still see everything."""
    length = 24
    model = reference(values)
    ids = torch.zeros(1, length, dtype=torch.long, device="meta")
    given = {}
    if values["model_type"] in {"bert", "roberta", "albert", "electra"}:
        given["token_type_ids"] = ids
    if values["model_type"] == "roberta":
        given["position_ids"] = ids
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(ids, **given)
    architecture = Architecture.from_config(values)
    pooler = 2 * architecture.width**2 if architecture.pooler else 0
    rotation = 0
    if values["model_type"] == "modernbert":  # positions times frequencies, per kind of layer
        rotation = counter.get_total_flops() - length * architecture.flops(length).total
        assert 0 <= rotation <= 2 * length * architecture.width
    found = counter.get_total_flops() - pooler - rotation
    assert length * architecture.flops(length).total == found


def test_local_layers_see_their_window_only() -> None:
    modern = Architecture.from_config(FAMILY[5]["config"])
    assert modern.reaches(1_000)[:4] == (1_000, 129, 129, 1_000)
    assert modern.reaches(100) == (100,) * 22
    assert modern.reaches(1_000).count(1_000) == 8
    long, short = modern.flops(1_000), modern.flops(129)
    assert long.attention - short.attention == 8 * 4 * 768 * (1_000 - 129)
    assert long.feed_forward == short.feed_forward


def test_shared_layers_are_stored_once_and_computed_every_time() -> None:
    bert, albert = (Architecture.from_config(FAMILY[n]["config"]) for n in (0, 2))
    assert 12 * albert.parameters().attention == bert.parameters().attention
    assert albert.flops(512).attention == bert.flops(512).attention
    assert albert.edited(layers=24).parameters() == albert.parameters()
    assert albert.edited(layers=24).flops(512).attention == 2 * albert.flops(512).attention


def test_an_edited_architecture_is_the_model_of_that_configuration() -> None:
    bert = Architecture.from_config(FAMILY[0]["config"])
    edited = bert.edited(layers=3, width=96, heads=4, vocabulary=1_000, length=64)
    config = BertConfig(
        1_000,
        hidden_size=96,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=384,
        max_position_embeddings=64,
    )
    assert edited == Architecture.from_config({**config.to_dict(), "model_type": "bert"})
    assert bert.edited() == bert
    roberta = Architecture.from_config(FAMILY[1]["config"])
    assert (roberta.length, roberta.edited(length=100).positions) == (512, 102)
    modern = Architecture.from_config(FAMILY[5]["config"])
    assert modern.edited(length=100).positions == 0


def test_memory_is_bytes_and_a_split_adds_up() -> None:
    split = Split(1, 2, 3, 4)
    assert (split.total, split.parts) == (10, (1, 2, 3, 4))
    bert = Architecture.from_config(FAMILY[0]["config"])
    memory = bert.memory(10)
    assert memory.float32 == 2 * memory.float16 == memory.training // 4 == 4 * 109_482_240
    assert memory.attention == 4 * 12 * 12 * 10 * 10


def test_another_model_and_a_text_that_is_too_long_are_refused() -> None:
    with pytest.raises(ConfigError, match="'gpt2'; implemented are bert, roberta"):
        Architecture.from_config({"model_type": "gpt2"})
    with pytest.raises(InputError, match="513 tokens; this model reads 1 to 512"):
        Architecture.from_config(FAMILY[0]["config"]).flops(513)
