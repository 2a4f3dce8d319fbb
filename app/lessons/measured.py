"""What was measured of a model: the figures of all claims and steps, as a file has them.

Of the bundled model they are in `figures.json` (`python -m tools.derive lessons`); of a second one,
which lessons show beside it, in `reference.json` (`python -m app lessons measure --model NAME`).
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import TypeAdapter

from app.lessons.records import Figures
from app.lessons.shelf import FOLDER
from app.records.counted import wilson
from app.settings import settings
from bert_core.errors import InputError

FIGURES = FOLDER / "figures.json"
"""What was measured of the bundled model."""

REFERENCE = "reference.json"
"""What was measured of a second one: in the operator's folder of lessons, or in ours."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a step showed."""

    holds: Annotated[bool, "whether what it teaches was so"]
    values: Annotated[Mapping[str, str], "what was printed in the gaps of its reveal, by the gap"]


@dataclass(frozen=True, slots=True)
class Measured:
    """A model, and what was measured of it."""

    model: Annotated[str, "its name"]
    weights: Annotated[str, 'digest of its weights; "" for an empty column']
    claims: Annotated[Mapping[str, Figures], "by the names of the claims; not what it cannot do"]
    steps: Annotated[Mapping[str, Seen], "by lesson and number: `heads 1`"]

    def written(self) -> str:
        """Write it as JSON, a line for each claim and step, so that a change can be read."""
        rows = {name: _row(each) for name, each in self.claims.items()}
        steps = {name: asdict(each) for name, each in self.steps.items()}
        parts = [f'"model": {json.dumps(self.model)}', f'"weights": {json.dumps(self.weights)}',
                 f'"claims": {_lines(rows)}', f'"steps": {_lines(steps)}']  # fmt: skip
        return "{\n" + ",\n".join(parts) + "\n}\n"


_MEASURED = TypeAdapter(Measured)


def _lines(rows: Mapping[str, object]) -> str:
    lines = [f"  {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in rows.items()]
    return "{\n" + ",\n".join(lines) + "\n}"


def _row(found: Figures) -> dict[str, object]:
    """Write the figures of a claim, with the interval of its share; four digits are enough."""
    low, high = wilson(found.k, found.n)
    row = {"n": found.n, "k": found.k, "low": low, "high": high, **asdict(found)}
    known = {name: value for name, value in row.items() if value is not None and name != "left"}
    rounded: dict[str, object] = json.loads(json.dumps(known), parse_float=_digits)
    return rounded


def _digits(number: str) -> float:
    """Round to four places, or to three digits what is smaller: a p-value."""
    value = float(number)
    return round(value, 4) if abs(value) >= 0.1 else float(f"{value:.3g}")


def read(path: Path) -> Measured:
    """Read a file of figures.

    Raises:
        InputError: it is none.
    """
    try:
        return _MEASURED.validate_json(path.read_bytes())
    except ValueError:
        raise InputError(f"{path.name}: these are no figures of lessons. Measure again.") from None


@cache
def stored() -> Measured:
    """Return what was measured of the bundled model."""
    return read(FIGURES)


def reference() -> Measured | None:
    """Return what was measured of a second model; None for an empty column."""
    path = reference_file()
    found = read(path) if path.is_file() else None
    return found if found and found.weights else None


def reference_file() -> Path:
    """Return where the second column is: in the operator's folder, if there is one."""
    own = settings().lessons
    return (Path(own).expanduser() if own else FOLDER) / REFERENCE
