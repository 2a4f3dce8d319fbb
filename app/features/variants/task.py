"""Count parameters, operations and memory of BERT's family, without any weights."""

import tomllib
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
from torch import Tensor, nn

from app.engine.models import Engine
from app.features.variants.result import About, Counted, Sees, VariantsResult
from app.records.fields import Field
from bert_core import BertModel
from bert_core.model.sizes import Architecture

MODEL = "model"
LENGTH = 512
MOST_LAYERS, MOST_SIZE, LONGEST = 1_000, 10_000_000, 1_000_000
_FAMILY = Path(__file__).with_name("family.toml")

Base = Literal["model", "bert", "roberta", "albert", "distilbert", "electra", "modernbert"]


def variants(
    engine: Engine,
    base: Annotated[Base, Field("Start from", "base")] = "model",
    layers: Annotated[int | None, Field("Layers", "own_layers", low=1, high=MOST_LAYERS)] = None,
    width: Annotated[int | None, Field("Width", "own_width", low=1, high=MOST_SIZE)] = None,
    heads: Annotated[int | None, Field("Heads", "own_heads", low=1, high=MOST_SIZE)] = None,
    vocabulary: Annotated[
        int | None, Field("Vocabulary", "own_vocabulary", low=1, high=MOST_SIZE)
    ] = None,
    length: Annotated[int, Field("Tokens of the text", "tokens", low=1, high=LONGEST)] = LENGTH,
) -> VariantsResult:
    """Compare BERT and five models based on it with a configuration of your own.

    Args:
        engine: the model.
        base: what your configuration starts from: one of the six, or "model" for the chosen model.
        layers: of your configuration; None for those of its base.
        width: of the vectors between its layers; the feed-forward network keeps its proportion.
            None for that of its base.
        heads: in each of its layers; they divide the width. None for those of its base.
        vocabulary: number of its pieces; None for that of its base.
        length: length of the text, in tokens. A published model that reads fewer is counted for the
            most that it reads; yours is made to read all of them.

    Raises:
        InputError: the heads do not divide the width.
    """
    start = start_of(engine, base)
    sizes = {"layers": layers, "width": width, "heads": heads, "vocabulary": vocabulary}
    known = {name: value for name, value in sizes.items() if value is not None}
    own = start.edited(**known, length=length)
    family = tuple(
        _counted(
            row["slug"], row["name"], Architecture.from_config(row["config"]), length,
            About(**{each.name: {"lab": None, **row}[each.name] for each in fields(About)}),
        )
        for row in published()
    )  # fmt: skip
    return VariantsResult(
        length=length,
        family=family,
        base=base,
        own=_counted("own", "Yours", own, length, None),
        changed=tuple(
            name for name in (*sizes, "length") if getattr(own, name) != getattr(start, name)
        ),
        sees=sees(),
    )


def start_of(engine: Engine, base: str) -> Architecture:
    """Return the sizes that a configuration starts from: a published model's, or the engine's."""
    for row in published():
        if row["slug"] == base:
            return Architecture.from_config(row["config"])
    config = engine.model(BertModel).config
    return Architecture.from_config({**config.to_dict(), "model_type": config.model_type})


@cache
def published() -> tuple[dict[str, Any], ...]:
    """Read the six published models, by year."""
    return tuple(tomllib.loads(_FAMILY.read_text(encoding="utf-8"))["model"])


def _counted(
    slug: str, name: str, architecture: Architecture, length: int, about: About | None
) -> Counted:
    tokens = min(length, architecture.length)
    return Counted(
        slug=slug,
        name=name,
        architecture=architecture,
        parameters=architecture.parameters(),
        flops=architecture.flops(tokens),
        memory=architecture.memory(tokens),
        tokens=tokens,
        about=about,
    )


WORDS = ("the", "keys", "to", "it", "are", "old")
_SIZE = 8


@cache
def sees() -> tuple[Sees, ...]:
    """Return for each model which words the guess at each position sees, (T, T)."""
    count = len(WORDS)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(_SIZE, 2, _SIZE, dropout=0.0, batch_first=True)
        reader, backward = (nn.LSTM(_SIZE, _SIZE, batch_first=True) for _ in range(2))
    future = torch.ones(count, count).triu(1).bool()
    bert = _reached(layer, 0)
    gpt = _reached(lambda x: layer(x, src_mask=future), -1)
    left = _reached(lambda x: reader(x)[0], -1)
    right = _reached(lambda x: backward(x.flip(1))[0].flip(1), 1)
    return (
        Sees("BERT", WORDS, "one reader sees both sides of [MASK]", (bert,)),
        Sees("GPT", WORDS, "one reader sees what is before", (gpt,)),
        Sees("ELMo", WORDS, "two readers, each of one side, joined only at the end", (left, right)),
    )


def _reached(layer: Callable[[Tensor], Tensor], read: int) -> tuple[tuple[bool, ...], ...]:
    """Return which words move the guess at each position, which is read so many places on."""
    count = len(WORDS)
    x = torch.randn(1, count, _SIZE, generator=torch.Generator().manual_seed(1))
    moved = torch.autograd.functional.jacobian(layer, x)  # type: ignore[no-untyped-call]
    seen = (moved[0, :, :, 0].abs().amax((1, 3)) > 0).tolist()  # (T, T): of y by x
    places = [row + read for row in range(count)]
    return tuple(
        tuple(0 <= at < count and seen[at][column] and column != row for column in range(count))
        for row, at in enumerate(places)
    )
