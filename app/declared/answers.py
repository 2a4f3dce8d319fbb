"""Asking a task by its name: the one way in for every face but the pages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

from app.declared.tasks import Declared
from app.engine.compute.visitor import current_visit
from app.engine.counted import counted
from app.engine.models import Engine, Provenance, offers, open_engine
from app.engine.models.facts import offered_facts
from app.engine.models.fit import notices, remarks
from app.engine.models.second import BESIDE
from app.engine.models.shelf import is_there, offer_of
from app.engine.models.usable import offered
from app.words.screen import Report


@dataclass(frozen=True)
class Answer:
    """What a task answers, as data; `app.faces.paper.answers` writes it."""

    declared: Annotated[Declared, "the task"]
    result: Annotated[Any, "the task's own result, a frozen dataclass"]
    model: Annotated[Provenance, "which model answered"]
    notices: Annotated[tuple[str, ...], "what should be known about this model first"] = ()
    given: Annotated[
        Mapping[str, object], "the values that were given, by the names of their parameters"
    ] = field(default_factory=dict)

    @cached_property
    def report(self) -> Report:
        """The result as it would appear on paper."""
        return self.declared.screen(self.result).report()


def answer(found: Declared, engine: Engine, given: Mapping[str, object], **own: object) -> Answer:
    """Run a task with values from outside, which are checked.

    `own` is what the program itself passes to the task, such as `progress`.

    Raises:
        BertError: the model cannot answer, or a value cannot be used.
    """
    with counted(found.feature.slug, current_visit().interface):
        told = fitting(found, engine) + on_second(found, given)
        result = found.run(engine, given, **own)
        return Answer(found, result, engine.provenance, told, found.by_name(given))


def engine_named(model: str) -> Engine:
    """Return a model on offer, or one in a folder on this machine; never for a visitor's text.

    "" means the default model.

    Raises:
        BertError: there is no such model, or it cannot be loaded.
    """
    folder = model and model not in offers() and is_there(model)
    return open_engine(offer_of(model)) if folder else engine_of(model)


def engine_of(name: object) -> Engine:
    """Return the model on offer under this name, which may come from a visitor; "" for the default.

    Raises:
        BertError: no such model is on offer, or it cannot be loaded.
    """
    return open_engine(offered(name or next(iter(offers()))))


def fitting(found: Declared, engine: Engine) -> tuple[str, ...]:
    """Return what should be known about this model before its answer.

    Raises:
        CheckpointError: it cannot answer, or only with random weights.
    """
    told = notices(engine.facts)
    if not found.feature.takes_text:  # such a task shows the model, whatever it can do
        return told
    return told + remarks(engine.provenance.name, engine.facts, found.feature.needs)


def on_second(found: Declared, given: Mapping[str, object]) -> tuple[str, ...]:
    """Return what must be known about the second model that a task was given."""
    names = (given.get(each.name) for each in found.parameters if each.field.model)
    every = (offered_facts(offered(name, BESIDE)) for name in names if name)
    return tuple(says for facts in every for says in notices(facts, "The second model"))
