"""Lessons on the command line: what a model shows of them, sheets to print, and measuring.

`python -m app lessons measure --model NAME` counts every claim and looks at every step, as far as
the model can answer. Lessons show what it writes as a second column beside the bundled model.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.faces.paper.arguments import Parser, refused, say

if TYPE_CHECKING:
    from app.engine.models import Engine
    from app.lessons.records import Lesson

MEASURE = "measure"
_SITE = "http://localhost:8501"
_SIGNS = {True: "holds", False: "does not hold", None: "cannot be told"}


def main(arguments: Sequence[str]) -> int:
    """Print what a model shows of lessons, measure it, or write a sheet; return the exit status."""
    parser = Parser(prog="python -m app lesson", description=__doc__)
    parser.add_argument("lesson", nargs="?", default="", help="its name, or `measure`; "
                        "without it: all lessons")  # fmt: skip
    parser.add_argument("--sheet", metavar="FILE", default="", help="write a page for students "
                        "and one for their teacher (HTML)")  # fmt: skip
    parser.add_argument("--site", metavar="ADDRESS", default=_SITE, help="of the site that "
                        f"students open; default: {_SITE}")  # fmt: skip
    parser.add_argument("--out", type=Path, metavar="FILE", help="of `measure`; default: where "
                        "lessons look for the second column")  # fmt: skip
    parser.add_argument("--model", default="", help="a model on offer, or a folder")
    given = parser.parse_args(arguments)
    if given.sheet and not given.lesson:
        parser.error("--sheet needs the name of a lesson")
    from app.engine.models import open_engine
    from app.engine.models.shelf import offer_of, offers
    from app.lessons.measured import reference_file
    from app.lessons.sheet import sheet
    from app.lessons.shelf import lesson, shelf
    from bert_core.errors import BertError

    out = given.out or (reference_file() if given.lesson == MEASURE else Path(given.sheet))
    try:
        asked = offers().get(given.model) or offer_of(given.model) if given.model else None
        if given.lesson == MEASURE:
            return _measure(open_engine(asked), out)
        found = [lesson(given.lesson)] if given.lesson else list(shelf().lessons.values())
        engine = open_engine(asked)
        if given.sheet:
            out.write_bytes(sheet(engine, found[0], given.site))
            sys.stderr.write(f"{given.sheet}: two pages, to be printed from a browser.\n")
            return 0
        say(f"{engine.provenance.name}, weights {engine.provenance.fingerprint}")
        for each in found:
            say("\n".join(_lines(engine, each)))
    except BertError as error:
        return refused(error)
    except OSError as error:
        return refused(f"{out} cannot be written: {error.strerror}.")
    return 0


def _measure(engine: "Engine", out: Path) -> int:
    from app.lessons.measuring import measure

    found = measure(engine, lambda line: sys.stderr.writelines([line, "\n"]))
    out.write_text(found.written(), encoding="utf-8")
    counts = f"{len(found.claims)} claims and {len(found.steps)} steps"
    say(f"{out}: {counts} of {found.model}, weights {found.weights}")
    return 0


def _lines(engine: "Engine", found: "Lesson") -> Iterator[str]:
    from app.lessons.view import shown_by

    yield f"\n{found.slug}: {found.title} ({found.minutes} minutes)"
    for says, holds, figures in shown_by(engine, found):
        yield f"  {_SIGNS[holds]}: {says}: {figures}"
