"""Find the names of a text with two models, and compare them by the characters they cover."""

from bisect import bisect_right
from typing import Annotated

from app.engine.models import Engine
from app.engine.models.second import asked_twice
from app.features.ner.result import AGGREGATION_NAMES, Name, NerResult
from app.features.ner.task import ner
from app.records.fields import Field
from app.records.two_answers import Both, Said, TwoAnswers
from bert_core.reading.alignment import stretch_ends
from bert_core.reading.entities import Aggregation
from bert_core.reading.running import Progress


def ner_two_models(
    engine: Engine,
    text: Annotated[str, Field("Text", lines=6, hint="A few sentences with names in them.")],
    *,
    beside: Annotated[str, Field("Second model", lines=1, model=True)] = "",
    aggregation: Annotated[
        Aggregation,
        Field("What decides the label of a word?", names=tuple(AGGREGATION_NAMES.items())),
    ] = "first",
    progress: Progress | None = None,
) -> TwoAnswers:
    """Find the names in a text with two models, and compare what each finds, place by place.

    Args:
        engine: the first model.
        text: the text.
        beside: the second model, by its name on offer; "" for the first other one that can answer.
        aggregation: what decides the label of a word of several pieces; see `ner`.
        progress: called for each window with the number done and the total, for each model anew.

    Raises:
        InputError: the text has no piece, or there is no such model.
    """
    return both(
        *asked_twice(
            engine,
            beside,
            ("BertForTokenClassification",),
            lambda each: ner(each, text, aggregation=aggregation, progress=progress),
        )
    )


def both(models: tuple[str, str], first: NerResult, second: NerResult) -> TwoAnswers:
    """Compare the entities of two models; those that overlap are at one place.

    Args:
        models: their names.
        first: what one model found.
        second: what the other one found.
    """
    found = (first.entities, second.entities)
    ends = stretch_ends([(each.start, each.end) for names in found for each in names])
    places: dict[int, tuple[list[Name], list[Name]]] = {}
    for which, names in enumerate(found):
        for each in names:
            place = bisect_right(ends, each.start)
            places.setdefault(place, ([], []))[which].append(each)
    return TwoAnswers(models, (), tuple(_row(first.text, *places[at]) for at in sorted(places)))


def _row(text: str, first: list[Name], second: list[Name]) -> Both:
    """Compare what two models found at one place."""
    every = [*first, *second]
    start, end = min(each.start for each in every), max(each.end for each in every)
    spans = [[(each.start, each.end, each.label) for each in names] for names in (first, second)]
    return Both(text[start:end], _said(first), _said(second), spans[0] != spans[1])


def _said(names: list[Name]) -> Said:
    """Write what a model found at one place; one name has its score."""
    if not names:
        return Said("")
    text = "; ".join(f"{each.text} ({each.label})" for each in names)
    return Said(text, names[0].score if len(names) == 1 else None)
