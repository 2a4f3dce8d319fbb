"""Count parameters, operations and memory of BERT's family, without any weights."""

import tomllib
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from app.engine.models import Engine
from app.features.variants.result import About, Counted, VariantsResult
from app.features.variants.task_sees import sees
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
