"""What a page shows after a question: markup and JSON, or the reason why there is no result."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from app.catalog import Feature
from app.declared import Declared
from app.declared.answers import answer, engine_of, on_second
from app.engine.models import Engine
from app.engine.models.fit import Severity, misfits, notices
from app.engine.models.usable import another_fitting
from app.faces.gradio.work import message_of
from app.faces.paper.answers import record
from app.faces.paper.page import signature
from app.lessons.shelf import mostly_about
from app.lessons.view import lesson_links
from app.records.fields import SHUFFLE
from app.words.blocks import HINT_END, beware, cautions, line, note
from app.words.html import Html, filled, join, tag, visible
from app.words.notes import example_note, misfit_note


@dataclass(frozen=True, slots=True)
class Written:
    """An answer as a page shows it."""

    markup: Annotated[Html, "notices, the report, the caution and the model"]
    json: Annotated[dict[str, Any] | None, "the fields of the result; None if there is none"]


def write(declared: Declared, given: Mapping[str, object], model: object) -> Written:
    """Ask the model and write its answer, or why it gives none."""
    row = declared.feature
    try:
        engine = engine_of(model)
        told = join(*_misfits(engine, row))
        if _is_unfit(engine, row):
            return Written(_framed(told, _foot(engine, row)), None)
        found = answer(declared, engine, given)
        note_ = _example_note(declared, given)
        lessons = lesson_links(mostly_about(row.folder), "lessons?lesson={}")
        blocks = (filled(each, HINT_END, lessons) for each in found.report.drawn())
        told = join(told, *cautions(on_second(declared, given)))
        return Written(_framed(told, *blocks, note_, _foot(engine, row)), record(found))
    except Exception as error:  # noqa: BLE001 - whatever it is, the visitor is told
        return Written(_framed(note(visible(message_of(error)), caution=True)), None)


def _is_unfit(engine: Engine, row: Feature) -> bool:
    found = misfits(engine.facts, row.needs)
    return row.takes_text and any(each.severity is not Severity.REMARK for each in found)


def _framed(*blocks: Html) -> Html:
    return tag("div", *blocks, class_="bx-result", role="status")


def _misfits(engine: Engine, row: Feature) -> Iterator[Html]:
    yield from cautions(notices(engine.facts))
    if not row.takes_text:
        return
    for each in misfits(engine.facts, row.needs):
        grave = each.severity is not Severity.REMARK
        noise = each.severity is Severity.NOISE
        yield misfit_note(each.says, each.names, grave=grave, noise=noise)
    if _is_unfit(engine, row):
        other = another_fitting(engine.provenance.name, row.needs)
        yield line(
            f"Choose {visible(other)} instead." if other else "No other model here suits this page."
        )


def _example_note(declared: Declared, given: Mapping[str, object]) -> Html:
    if any(given.get(each.name) for each in declared.parameters if each.field is SHUFFLE):
        return join()
    for each in declared.examples:
        values = declared.example_values(each.values)
        if each.note and values and all(given.get(name) == value for name, value in values.items()):
            return example_note(each.note)
    return join()


def _foot(engine: Engine, row: Feature) -> Html:
    privacy = "Your text goes only to this server and is not written to disk."
    return join(beware(row.beware), line(f"{visible(signature(engine.provenance))} {privacy}"))
