"""What is offered: our lessons and those in the operator's folder, paths, claims, the glossary.

A visitor's text is looked up in this table; it never becomes a path.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from app.declared import declared
from app.lessons.paths import paths
from app.lessons.reading import read_claims, read_glossary, read_lesson
from app.lessons.records import Claim, Lesson, Term
from app.settings import ASSETS, settings
from bert_core.errors import BertError, InputError

FOLDER = ASSETS / "lessons"
"""The folder of our lessons."""

_NAMED = 3  # lessons behind a "?"
_PATHS = "paths.toml"  # read by `app.lessons.paths`


@dataclass(frozen=True, slots=True)
class Shelf:
    """What is offered."""

    lessons: Annotated[Mapping[str, Lesson], "by slug; ours first"]
    faults: Annotated[
        tuple[str, ...], "what is wrong with files of the operator's folder, which are not offered"
    ]


@cache
def claims() -> dict[str, Claim]:
    """Return all claims by their names."""
    return read_claims(sorted((FOLDER / "claims").glob("*.toml")))


@cache
def glossary() -> dict[str, Term]:
    """Return all terms by their names."""
    return read_glossary(ASSETS / "glossary.toml")


def shelf() -> Shelf:
    """Return what is offered."""
    return _shelf(settings().lessons)


def lesson(slug: str) -> Lesson:
    """Return a lesson.

    Raises:
        InputError: there is none of this name.
    """
    found = shelf().lessons
    if slug not in found:
        raise InputError(
            f"There is no lesson named {slug[:60]!r}. Lessons are: {', '.join(found)}."
        )
    return found[slug]


def following(slug: str, on: str = "") -> Lesson | None:
    """Return the lesson after this one; None after the last one."""
    for path in sorted(paths(), key=lambda each: each.slug != on):
        if slug in path.lessons[:-1]:
            return shelf().lessons[path.lessons[path.lessons.index(slug) + 1]]
    return None


def about(slug: str) -> list[Lesson]:
    """Return the lessons that use a page, in the order of the paths."""
    return [each for each in in_order() if _uses(each, slug)]


def mostly_about(slug: str) -> list[Lesson]:
    """Return the three lessons that use a page most, in the order of the paths."""
    found = about(slug)
    most = sorted(found, key=lambda each: -_uses(each, slug))[:_NAMED]
    return sorted(most, key=found.index)


def _uses(lesson: Lesson, slug: str) -> int:
    """Return how many steps use a page."""
    return sum(declared(step.page).feature.folder == slug for step in lesson.steps)


def in_order() -> list[Lesson]:
    """Return all lessons in the order of the paths; those on none come last."""
    found = shelf().lessons
    names = dict.fromkeys([*(name for path in paths() for name in path.lessons), *found])
    return [found[name] for name in names if name in found]


@cache
def _shelf(own: str) -> Shelf:
    files = sorted(path for path in FOLDER.glob("*.toml") if path.name != _PATHS)
    found = {path.stem: read_lesson(path) for path in files}
    faults = []
    for path in sorted(Path(own).expanduser().glob("*.toml")) if own else ():
        try:
            if path.stem in found:
                raise InputError(f"{path.name}: there is a lesson of ours with this name.")
            found[path.stem] = read_lesson(path, own=True)
        except (BertError, OSError) as error:
            faults.append(str(error))
    return Shelf(found, tuple(faults))
