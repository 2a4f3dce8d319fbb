"""What a step computes: quantities of its texts, conditions, and the gaps of its sentences."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Annotated, Any

from app.declared import declared
from app.engine.models import Engine
from app.lessons.quantities import QUANTITIES
from app.lessons.quantity import Reference, Value, among, printed, refer
from app.lessons.records import Choice, Condition, Look, Question, Values

GAP = re.compile(r"\{([^{}]+)\}")
"""A gap of a template."""

CLAIM, HEAD = "claim", "head"
"""Gaps that are no quantity of a text: `{claim:O4.k}`, `{head:previous}`."""

_SIGNS = "[CLS]", "[SEP]", "[MASK]"  # as files name them

Told = Callable[[Reference], tuple[str, Value]]
"""Says how a figure of a claim, or the head with a role, is printed, and it."""


def filled_words(template: str, words: Mapping[str, str]) -> str:
    """Fill the placeholders of a template; other gaps stay.

    >>> filled_words("{p:{thing}} for {thing}", {"thing": "bird"})
    '{p:bird} for bird'
    """
    return GAP.sub(lambda gap: words.get(gap[1], gap[0]), template)


def filled_look(look: Look, columns: Sequence[str]) -> Look:
    """Fill the columns of an item into the templates of a claim."""
    words = {str(number): text for number, text in enumerate(columns)}

    def fill(values: Values) -> Values:
        return {k: filled_words(v, words) if isinstance(v, str) else v for k, v in values.items()}

    return Look(fill(look.values), {k: fill(v) for k, v in look.beside.items()}, words)


@dataclass(slots=True)
class Looking:
    """Asks a task what one look needs, each thing once."""

    engine: Annotated[Engine, "the model"]
    task: Annotated[str, "the name of the task"]
    look: Annotated[Look, "what is looked at"]
    figure: Annotated[Told | None, "tells the figures of claims, and heads by their roles"] = None
    _results: dict[tuple[str, str, str], Any] = field(default_factory=dict)

    def result(self, look: str = "", *, fills: str = "", about: str = "") -> Any:
        """Return the record of the task; the parameter `fills` gets a further value."""
        key = (look, fills, about)
        if key not in self._results:
            values = dict(among(self.look.beside, "text", look) if look else self.look.values)
            given = {**values, fills: about} if fills else values
            self._results[key] = declared(self.task).run(self.engine, given)
        return self._results[key]

    def given(self) -> list[tuple[str, str]]:
        """Return the texts that the model is given, with their labels; settings are none."""
        return [
            (each.field.label.partition(" (")[0], value)
            for each in declared(self.task).parameters
            if isinstance(value := self.look.values.get(each.name), str)
            if value and not each.choices
        ]

    def named(self, reference: str) -> str:
        """Return the name of a quantity with the words of the look and the model's own signs."""
        named, own = filled_words(reference, self.look.names), self.engine.tokenizer
        for sign, its in zip(_SIGNS, (own.cls_token, own.sep_token, own.mask_token), strict=True):
            named = named.replace(sign, its)
        return named

    def kind_and_value(self, reference: str) -> tuple[str, Value]:
        """Return how a quantity is printed, and its value."""
        found = refer(self.named(reference))
        if found.name in {CLAIM, HEAD} and self.figure is not None:
            return self.figure(found)
        return self.asked(found.name, found.about, found.look)

    def asked(self, name: str, about: str = "", look: str = "") -> tuple[str, Value]:
        """Return how a quantity is printed, and its value; `about` may be a visitor's text."""
        quantity = among(QUANTITIES[self.task], "quantity", name)
        fills = quantity.fills if about else ""
        result = self.result(look, fills=fills, about=about if fills else "")
        return quantity.kind, quantity.read(result, about)

    def value(self, reference: str) -> Value:
        """Return the value of a quantity."""
        return self.kind_and_value(reference)[1]

    def fill(self, template: str) -> str:
        """Fill a template: its words, then its quantities."""
        return self.filled(template, lambda gap: printed(*self.kind_and_value(gap)))

    def filled(self, template: str, value: Callable[[str], str]) -> str:
        """Fill a template: its words, then its gaps with values that are had from elsewhere."""
        words = filled_words(template, self.look.names)

        def written(gap: re.Match[str]) -> str:
            says = value(gap[1])
            begins = words[: gap.start()].rstrip()[-1:] in {"", ".", "?"}
            return says[:1].upper() + says[1:] if begins else says

        return GAP.sub(written, words)

    def printed_gaps(self, template: str) -> dict[str, str]:
        """Return what is printed in each gap of a template."""
        gaps = GAP.findall(filled_words(template, self.look.names))
        return {gap: printed(*self.kind_and_value(gap)) for gap in gaps}

    def truth(self, question: Question) -> tuple[str, Value]:
        """Return how the truth of a question is printed, and it."""
        kind, value = self.kind_and_value(question.of)
        if question.minus:
            value = float(value) - float(self.value(question.minus))
        return kind, value

    def says(self, question: Question) -> str:
        """Return the answer to a question, in words."""
        says = [self.fill(each.say) for each in question.choices]
        if says and (right := self.right(question)) is not None:
            return says[right]
        kind, value = self.truth(question)
        unit = f" {question.unit}" if question.unit and kind != "share" else ""
        return f"{printed(kind, value)}{unit}"

    def ends(self, question: Question) -> tuple[int, int]:
        """Return the ends of the scale of a number; a count goes up to all that were counted."""
        all_of = question.of.removesuffix(".k") + ".n"
        return question.from_, question.to or round(float(self.value(all_of)))

    def right(self, question: Question) -> int | None:
        """Return the number of the choice that is right; None if none is."""
        if not question.of:
            return next((n for n, each in enumerate(question.choices) if each.right), None)
        truth, names = self.truth(question)[1], self.look.names
        fits = [n for n, each in enumerate(question.choices) if _fits(each, truth, names)]
        rest = [n for n, each in enumerate(question.choices) if each.otherwise]
        return next(iter(fits + rest), None)

    def holds(self, conditions: Sequence[Condition]) -> bool:
        """Return whether all conditions hold."""
        return all(self._holds(each) for each in conditions)

    def _holds(self, each: Condition) -> bool:
        if each.is_:
            return self.value(each.of[0]) == filled_words(each.is_, self.look.names)
        if each.same or each.other:
            equal = self.value(each.of[0]) == self.value(each.same or each.other)
            return equal == bool(each.same)
        return bool(holds_of(each, self.value))


def holds_of(each: Condition, value: Callable[[str], Any]) -> Any:
    """Return whether a condition of numbers holds; of arrays, where it does."""
    total, other = (sum(map(value, names)) for names in (each.of, each.more))
    return total > each.times * other if each.more else _within(total, each.least, each.most)


def _within(value: Any, least: float | None, most: float | None) -> Any:
    low, high = -inf if least is None else least, inf if most is None else most
    return (value >= low) & (value <= high)


def _fits(choice: Choice, truth: Value, words: Mapping[str, str]) -> bool:
    if choice.is_:
        return truth == filled_words(choice.is_, words)
    if isinstance(truth, str) or (choice.least is None and choice.most is None):
        return False
    return bool(_within(truth, choice.least, choice.most))
