"""An answer written as JSON, as a file that opens offline, for a terminal, and in a notebook."""

from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import Any

from app.declared import Declared, declared
from app.declared.answers import Answer as Answer
from app.declared.answers import answer, engine_named
from app.engine.models import Engine
from app.faces.paper.json import as_json
from app.faces.paper.page import Asked, page
from app.faces.paper.text import as_text
from app.words.html import framed
from bert_core.errors import InputError, count

MODEL = "model"

ABOUT_MODEL = 'the model that answers, by its name on this server; "" for the first one'
PROVENANCE = (
    "the model that answered, the SHA-256 of its weights, shortened, and, where there are any, "
    "`notices`: what must be known about the model first, and `left_out`: names of weights in its "
    "files that nothing here computes with"
)

# The longest request. The longest text, 100,000 characters, takes at most 600,000 as JSON.
BODY_BYTES = 1_000_000

TOO_LONG = f"The request is longer than {BODY_BYTES:,} bytes. Shorten the text."


def about(task: Declared) -> str:
    """Say what a task does, what it needs, and what must not be concluded from its answer."""
    row = task.feature
    needs = f" Needs a model with a trained {' and '.join(row.needs)}." if row.needs else ""
    return f"{task.about}{needs} Note: {row.beware}"


def record(answer: Answer) -> dict[str, Any]:
    """Return the result as plain values, and which model gave it; see `as_json`."""
    model = {"model": answer.model.name, "weights": answer.model.fingerprint}
    told = {"notices": [*answer.notices], "left_out": [*answer.model.left_out]}
    there = {key: each for key, each in told.items() if each}
    return {**as_json(answer.result), "provenance": {**model, **there}}


class Written(Answer):
    """An answer that writes itself; a notebook shows its page."""

    json = record

    def html(self) -> bytes:
        """Write the report as one file that opens offline."""
        texts = {
            each.field.label: "\n".join(value) if isinstance(value, tuple | list) else str(value)
            for each in self.declared.parameters
            if (value := self.given.get(each.name)) and each.is_text
        }
        row = self.declared.feature
        return page(row, self.model, self.report, self.notices, Asked(texts))

    def text(self, width: int = 100) -> str:
        """Write the report for a terminal of this width."""
        return as_text(self.declared.feature, self.model, self.report, self.notices, width=width)

    def __repr__(self) -> str:
        return shorten(f"{self.declared.feature.title}: {self.report.headline}", 160)

    def _repr_html_(self) -> str:
        return framed(self.html(), self.declared.feature.title).markup


def ask(task: str, /, *values: object, model: str = "", **given: object) -> Written:
    """Ask a task.

    Args:
        task: its name, such as "fill_mask".
        values: the parameters it needs, in their order.
        model: the name of a model on offer, or a folder on this machine; "" for the default one.
            Never a visitor's text: see `app.declared.answers.engine_of`.
        given: parameters by name.

    Raises:
        BertError: there is no such task or model, or it cannot answer; the message says why.
    """
    return ask_engine(declared(task), engine_named(model), values, given)


def ask_engine(
    found: Declared, engine: Engine, values: Sequence[object], given: Mapping[str, object]
) -> Written:
    """Ask a model a task, with values by their place and by their name.

    Raises:
        BertError: the values do not fit the task, or the model cannot answer.
    """
    task, needed = found.feature.slug, [each.name for each in found.parameters if each.required]
    if len(values) > len(needed):
        raise InputError(
            f"{task}: found {count(len(values), 'value')} without a name; expected at most "
            f"{len(needed)}{': ' if needed else ''}{', '.join(needed)}. Give the others by name."
        )
    placed = dict(zip(needed, values, strict=False))
    if twice := placed.keys() & given.keys():
        raise InputError(f"{min(twice)} is given twice: by its place and by its name.")
    return written(answer(found, engine, {**placed, **given}))


def written(answer: Answer) -> Written:
    """Let an answer write itself."""
    return Written(answer.declared, answer.result, answer.model, answer.notices, answer.given)
