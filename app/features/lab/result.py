"""A run of the lab: what it starts from, and how it looked at each moment.

The lab trains in the visitor's browser (`live/lab.js`). Recorded runs are written by the same code
and read by the task (`python -m tools.lab`).
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from bert_core.errors import InputError

Value = str | int | float | bool
Settings = Mapping[str, Value]  # what differs from the usual run


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting."""

    name: Annotated[str, "in links and in the API"]
    label: Annotated[str, "on the screen"]
    choices: Annotated[tuple[Value, ...], "what it can be, the usual value first"]
    names: Annotated[
        tuple[str, ...], "of the choices on the screen; () if they are shown as they are"
    ] = ()

    def shown(self, value: Value) -> str:
        """Return a value as a person reads it."""
        if self.names:
            return self.names[self.choices.index(value)]
        if isinstance(value, bool):
            return "yes" if value else "no"
        return f"{value:,}" if isinstance(value, int) else f"{value:g}"


@cache
def settings() -> Mapping[str, Setting]:
    """Return all settings by name."""
    read = tomllib.loads(Path(__file__).with_name("settings.toml").read_text(encoding="utf-8"))
    rows = (
        Setting(row["name"], row["label"], tuple(row["choices"]), tuple(row.get("names", ())))
        for row in read["setting"]
    )
    return {each.name: each for each in rows}


def changed(values: Settings) -> dict[str, Value]:
    """Return what differs from the usual run, in the order of the settings.

    >>> changed({"mask_rate": 40, "layers": 2})
    {'mask_rate': 40}

    Raises:
        InputError: a value is none of its choices.
    """
    found: dict[str, Value] = {}
    for name, setting in settings().items():
        value = values.get(name, setting.choices[0])
        if (type(value), value) not in [(type(each), each) for each in setting.choices]:
            raise InputError(
                f"{name} is {str(value)[:40]!r}; expected one of "
                f"{', '.join(map(str, setting.choices))}."
            )
        if value != setting.choices[0]:
            found[name] = value
    return found


def link(values: Settings) -> dict[str, str]:
    """Return a run as the parameters of an address.

    >>> link({"mask_rate": 40, "positions": False})
    {'mask_rate': '40', 'positions': 'False'}
    """
    return {name: str(value) for name, value in changed(values).items()}


def of_address(given: Mapping[str, str]) -> Settings:
    """Read the parameters of an address; what is none of the choices is left out.

    >>> of_address({"mask_rate": "40", "positions": "False", "layers": "9", "text": "x"})
    {'mask_rate': 40, 'positions': False}
    """
    rows = settings().items()
    known = {name: {str(each): each for each in setting.choices} for name, setting in rows}
    return changed({name: known[name][given[name]] for name in known
                    if given.get(name) in known[name]})  # fmt: skip


def named(values: Settings) -> str:
    """Name a run by what differs from the usual one.

    >>> named({"positions": False, "mask_rate": 40}), named({})
    ('Hidden words (%): 40, Positions: no', 'the usual run')
    """
    parts = (f"{settings()[name].label}: {settings()[name].shown(value)}"
             for name, value in changed(values).items())  # fmt: skip
    return ", ".join(parts) or "the usual run"


def file_name(values: Settings) -> str:
    """Return the name of a recording; settings are few choices, so it is never a path.

    >>> file_name({"mask_rate": 80}), file_name({})
    ('mask_rate-80.json', 'usual.json')
    """
    return ("_".join("-".join(pair) for pair in link(values).items()) or "usual") + ".json"


Guess = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Phenomenon:
    """Something to be learned, measured with gaps in sentences that are never trained on."""

    name: Annotated[str, "as shown"]
    floor: Annotated[float, "the share right if one always says the most frequent word of the gap"]
    ceiling: Annotated[float | None, "the largest share anyone can get right; None if unknown"]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the first batch."""

    pieces: Annotated[tuple[str, ...], "before hiding"]
    seen: Annotated[tuple[str, ...], "what the model sees"]
    fates: Annotated[tuple[str, ...], 'for each piece "", "masked", "replaced" or "kept"']
    segments: Annotated[tuple[int, ...], "0 or 1 for each piece"]
    follows: Annotated[bool | None, "whether the second sentence follows; None if there is one"]


@dataclass(frozen=True, slots=True)
class Start:
    """What a run starts from; nothing here changes while it trains."""

    settings: Annotated[Mapping[str, str | int | float | bool], "of the run"]
    sentences: Annotated[int, "number of sentences to train on"]
    words: Annotated[int, "number of different words"]
    vocabulary: Annotated[int, "number of pieces"]
    parameters: Annotated[int, "of the model"]
    log_v: Annotated[float, "loss of a guesser for whom all pieces are equally probable, in nats"]
    unigram: Annotated[float, "loss of a guesser who knows only how frequent each piece is"]
    phenomena: Annotated[tuple[Phenomenon, ...], "what is measured"]
    watched: Annotated[tuple[tuple[str, str], ...], "the gaps that are shown, with their answers"]
    rows: Annotated[tuple[Row, ...], "rows of the first batch"]


@dataclass(frozen=True, slots=True)
class Point:
    """How a run looked after some step."""

    step: Annotated[int, "number of steps done"]
    learning_rate: Annotated[float, "of the last step"]
    loss: Annotated[float, "mean loss of the hidden words since the last point, in nats"]
    held_out: Annotated[float, "loss of hidden words in sentences that are never trained on"]
    accuracy: Annotated[tuple[float, ...], "share of right first guesses, by phenomenon"]
    guesses: Annotated[tuple[Guess, ...], "by gap, the most probable words and probabilities"]
    next_sentence: Annotated[float | None, "loss of the second task; None if it is off"] = None

    def way(self, phenomena: tuple[Phenomenon, ...]) -> float:
        """Return the way from guessing to the best possible, 0 to 1, over all phenomena together.

        A phenomenon without a known ceiling counts up to 1.
        """
        floor = sum(each.floor for each in phenomena)
        ceiling = sum(1.0 if each.ceiling is None else each.ceiling for each in phenomena)
        return min(1.0, (sum(self.accuracy) - floor) / (ceiling - floor))


@dataclass(frozen=True, slots=True)
class LabResult:
    """One run from its start to its end."""

    start: Annotated[Start, "what it starts from"]
    points: Annotated[tuple[Point, ...], "how it looked at each moment, the newest last"]
    diverged: Annotated[str, 'why it ended early; "" if it did not']
