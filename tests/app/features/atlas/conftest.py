"""The atlas of the tiny model, measured on few texts."""

from collections import OrderedDict
from importlib import import_module

import pytest

from app.engine.compute.background import Background
from bert_core.analysis.head_atlas import HeadAtlas

TEXTS = (
    "the cat sat on the mat and the dog sat.",
    ("a dog on the mat", "the river bank, the bank!"),
    "the river is on the bank, the dog is on the mat",
    "playing on the bank, the cat sat on the dog <b>the end</b>",
)

MEASURED: Background[tuple[str, str], HeadAtlas] = Background()


@pytest.fixture
def few_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure on four texts instead of a hundred."""
    monkeypatch.setattr(import_module("app.features.atlas.task"), "MEASURED", MEASURED)
    monkeypatch.setattr("bert_core.analysis.fitting._cache", OrderedDict())  # of other texts
    library = ("fitting", "head_atlas", "head_statistics", "statistics_file")
    for name in ("app.features.atlas.task", *(f"bert_core.analysis.{each}" for each in library)):
        monkeypatch.setattr(import_module(name), "fixed_texts", lambda: TEXTS)
