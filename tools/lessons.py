"""Measure what lessons say of the bundled model: `python -m tools.derive lessons`.

Every claim is counted and every step looked at; the figures are written into
`assets/lessons/figures.json`.
"""

from collections.abc import Callable

from app.engine.models import Engine
from app.lessons.measured import FIGURES, stored
from app.lessons.measuring import measure as measured


def measure(engine: Engine, say: Callable[[str], None]) -> list[str]:
    """Write the figures; return what a person has to put right."""
    found = measured(engine, say)
    FIGURES.write_text(found.written(), encoding="utf-8")
    stored.cache_clear()
    return [
        *(f"assets/lessons/claims: {name} no longer holds"
          for name, each in found.claims.items() if not each.holds),
        *(f"assets/lessons/{name.replace(' ', '.toml: step ')} does not hold with its text"
          for name, each in found.steps.items() if not each.holds),
    ]  # fmt: skip
