"""The recorded runs of the lab. Others are trained in the browser."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from app.engine.models import Engine
from app.features.lab.result import (
    LabResult,
    Phenomenon,
    Point,
    Row,
    Settings,
    Start,
    changed,
    file_name,
)
from app.records.fields import Field
from app.settings import LIVE
from bert_core.errors import InputError

RUNS = LIVE / "runs"


def lab(
    engine: Engine,
    *,
    corpus: Annotated[Literal["grammar", "facts"], Field("Text to train on")] = "grammar",
    mask_rate: Annotated[int, Field("Hidden words (%)", low=15, high=80)] = 15,
    layers: Annotated[int, Field("Layers", low=1, high=4)] = 2,
    learning_rate: Annotated[float, Field("Learning rate", low=3e-4, high=0.1)] = 2e-3,
    positions: Annotated[bool, Field("Positions")] = True,
    shuffled: Annotated[bool, Field("Shuffled words")] = False,
    sentences: Annotated[int, Field("Sentences", low=200, high=20_000)] = 20_000,
    next_sentence: Annotated[bool, Field("Sentence pairs")] = False,
    shared: Annotated[bool, Field("Shared layers")] = False,
) -> LabResult:
    """Show what a tiny BERT learns when it is trained from scratch.

    The answer is a recorded run: leave all settings as they are, or change one as an example does.
    Any other run is trained in the browser, on the page of the lab.

    Args:
        engine: not used; the lab has its own model.
        corpus: a generated grammar, or facts about countries.
        mask_rate: share of the words that is hidden, in percent.
        layers: of the model.
        learning_rate: at its highest.
        positions: whether the model is told the order of the words.
        shuffled: whether the words of each sentence are shuffled.
        sentences: to train on.
        next_sentence: whether rows are pairs, and the second task is trained too.
        shared: whether all layers share one set of weights, as in ALBERT.

    Raises:
        InputError: a value is not one of its choices, or the run is not recorded.
    """
    values = changed(
        {
            "corpus": corpus,
            "mask_rate": mask_rate,
            "layers": layers,
            "learning_rate": learning_rate,
            "positions": positions,
            "shuffled": shuffled,
            "sentences": sentences,
            "next_sentence": next_sentence,
            "shared": shared,
        }
    )
    found = recorded(values)
    if found is None:
        raise InputError(
            f"Found {', '.join(f'{name}={value}' for name, value in values.items())}; expected the "
            "usual settings, or one change that an example has. Other runs are trained in your "
            "browser: open the page of the lab."
        )
    return found


def recorded(values: Settings, folder: Path = RUNS) -> LabResult | None:
    """Return the recorded run with exactly these settings; None if there is none."""
    path = folder / file_name(values)
    return read(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None


def read(run: Mapping[str, Any]) -> LabResult:
    """Read what `live/lab.js` has written of a run."""
    start = _tuples(run["start"])
    phenomena = tuple(Phenomenon(**each) for each in start["phenomena"])
    rows = tuple(Row(**_tuples(each)) for each in start["rows"])
    points = tuple(Point(**_tuples(each)) for each in run["points"])
    return LabResult(
        Start(**start | {"phenomena": phenomena, "rows": rows}), points, run["diverged"]
    )


def _tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """Turn lists, which JSON has instead of tuples, back."""
    return {name: _tuple(value) for name, value in values.items()}


def _tuple(value: Any) -> Any:
    return tuple(map(_tuple, value)) if isinstance(value, list) else value
