"""What was measured beforehand on one model: the first table of docs/causes.md."""

import tomllib
from functools import cache
from pathlib import Path

from app.engine.models import Engine
from app.features.why.result import Figure, Many

_FILE = Path(__file__).with_name("measured.toml")


def measured(engine: Engine) -> Many | None:
    """Return what was measured on a model's weights; None for other weights."""
    weights, found = _read()
    return found if engine.provenance.fingerprint == weights else None


@cache
def _read() -> tuple[str, Many]:
    read = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    figures = tuple(
        Figure(method, comp, suff, (around_comp, around_suff), -1)
        for method, (comp, around_comp, suff, around_suff) in read["figures"].items()
    )
    return read["weights"], Many("fill_mask", read["texts"], figures)
