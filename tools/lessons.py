"""Measure what lessons say of the bundled model: `python -m tools.derive lessons`.

Every claim is counted; the figures are written into `assets/lessons/figures.json`.
"""

import json
from collections.abc import Callable

from app.engine.models import Engine
from app.lessons.claims import count_again, looked, stored
from app.lessons.looking import Looking
from app.lessons.records import Lesson
from app.lessons.shelf import FIGURES, claims, shelf


def measure(engine: Engine, say: Callable[[str], None]) -> list[str]:
    """Write the figures; return what a person has to put right."""
    figures = {}
    for name, claim in claims().items():
        found = count_again(engine, name)
        figures[name] = {"n": found.n, "k": found.k, "holds": found.holds, "tell": found.tell}
        figures[name] |= {"head": found.head} if claim.role else {}
        say(f"{name}: {found.k} of {found.n}{'' if found.holds else ', which its test refuses'}")
    ours = [each for each in shelf().lessons.values() if not each.own]
    rounded = json.loads(json.dumps(figures), parse_float=lambda number: round(float(number), 4))
    rows = {"weights": engine.provenance.fingerprint, "claims": rounded}
    FIGURES.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    stored.cache_clear()
    refused = [name for name, row in figures.items() if not row["holds"]]
    return [
        *(f"assets/lessons/claims: {name} no longer holds" for name in refused),
        *(says for each in ours for says in failing(engine, each)),
    ]


def failing(engine: Engine, lesson: Lesson) -> list[str]:
    """Say which steps of a lesson do not hold with their text."""
    return [
        f"assets/lessons/{lesson.slug}.toml: step {number} does not hold with its text"
        for number, step in enumerate(lesson.steps, 1)
        if not Looking(engine, step.page, looked(engine, step.look)).holds(step.holds)
    ]
