"""A feature that exists only in tests: what a new one needs to have every interface."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Annotated, Any, Literal

import pandas as pd

from app import catalog
from app.catalog import Feature
from app.declared import Declared, declared
from app.engine.models import Engine
from app.records.fields import Field
from app.words.html import join, tag, visible
from app.words.pictures import picture, svg
from app.words.screen import Screen
from bert_core.errors import InputError

VALUES = {
    "text": "the cat sat on the mat\nthe cat sat on the [MASK]",
    "word": "cat",
    "first": "the cat",
    "second": "a dog",
    "passage": "the cat sat on the mat",
    "question": "the cat",
    "context": "the cat",
    "choices": ["sat", "mat"],
    "words": "cat / dog",
    "paragraph": "The cat sat. A dog sat on the mat.",
    "piece": "cat",
    "table": "text,label\nthe cat sat,0\na dog on the mat,1",
    "against": "the dog sat on the mat\nthe cat sat on the [MASK]",
}
"""Values for parameters that features need, in words of the tiny vocabulary."""


def needed(found: Declared) -> dict[str, Any]:
    """Return what a task needs; what is not named above is that of its first example."""
    own = found.example_values(found.examples[0].values) if found.examples else {}
    return {each.name: VALUES.get(each.name) or own[each.name]
            for each in found.parameters if each.required}  # fmt: skip


@dataclass(frozen=True, slots=True)
class MadeUpResult:
    """What the made-up feature found.

    Attributes:
        words: the words of the text.
        share: what was given, 0 to 1.
    """

    words: tuple[str, ...]
    share: float


def made_up(
    engine: Engine,
    text: Annotated[str, Field("A text", lines=2)],
    *,
    layer: Annotated[int | None, Field("A layer", key="at", low=0, high=9)] = None,
    share: float = 0.5,
    how: Literal["mean", "max"] = "mean",
    many: Sequence[str] = (),
    on: bool = False,
    progress: type | None = None,
) -> MadeUpResult:
    """Split a text at its spaces.

    An example of any task.

    Args:
        engine: the model.
        text: a text.
        layer: a layer.
        share: a share; it goes
            over two lines.
        how: how.
        many: more words.
        on: whether they come first.
        progress: never given from outside.

    Raises:
        InputError: the text is empty.
    """
    if not text.strip():
        raise InputError("The text is empty. Type a word.")
    words = [*text.split(), *many]
    return MadeUpResult(tuple(reversed(words) if on else words), share)


def screen(result: MadeUpResult, model: str = "") -> Screen:
    """Say what is shown."""
    drawn = picture(
        "made-up",
        lambda width: svg(width, 10, tag("text", visible(result.words[0]))),
        alt="The first word.",
        table=pd.DataFrame({"word": result.words}),
    )
    told = tag("p", visible(" ".join(result.words)))
    return Screen(f"The text has {len(result.words)} words.", (told, drawn), first=(join(),))


@contextmanager
def registered() -> Iterator[str]:
    """Add the feature to the catalog for a while; return its slug."""
    row = Feature("made_up", "Made up", "", "", catalog.TEXT, "See words.", "They are words.")
    folder = f"app.features.{row.slug}"
    before = catalog.FEATURES
    modules = {name: ModuleType(f"{folder}.{name}") for name in ("task", "view")}
    modules["task"].made_up = made_up  # type: ignore[attr-defined]
    modules["view"].screen = screen  # type: ignore[attr-defined]
    sys.modules[folder] = ModuleType(folder)
    sys.modules.update({each.__name__: each for each in modules.values()})
    catalog.FEATURES = (*before, row)
    try:
        yield row.slug
    finally:
        catalog.FEATURES = before
        declared.cache_clear()
        for name in (folder, *(each.__name__ for each in modules.values())):
            del sys.modules[name]
