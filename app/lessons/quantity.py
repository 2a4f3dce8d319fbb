"""What a quantity is: how a file names one, and how its value is printed."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import isnan
from typing import Annotated, Any, Literal

from app.words.format import percent

Value = str | float
_REFERENCE = re.compile(r"(?:(\w+)\.)?(\w+)(?::(.+))?")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number or a word that is read from a result."""

    kind: Annotated[Literal["word", "share", "number"], "how it is printed"]
    read: Annotated[Callable[[Any, str], Value], "reads it, given the result and what it is about"]
    fills: Annotated[str, 'the parameter of the task that gets what it is about; "" for none'] = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """A quantity as a file names it."""

    look: Annotated[str, 'which text; "" for the step\'s own']
    name: Annotated[str, "of the quantity"]
    about: Annotated[str, 'what it is about; "" for nothing']


def refer(text: str) -> Reference | None:
    """Read how a file names a quantity; None if that is no such name.

    >>> refer("plain.p:are")
    Reference(look='plain', name='p', about='are')
    >>> refer("claim:O4.k")
    Reference(look='', name='claim', about='O4.k')
    """
    found = _REFERENCE.fullmatch(text.strip())
    return found and Reference(found[1] or "", found[2], found[3] or "")


def printed(kind: str, value: Value) -> str:
    """Print a value.

    >>> printed("share", 0.632), printed("number", 4.0), printed("number", 2.5)
    ('63 %', '4', '2.5')
    """
    if isinstance(value, str):
        return value
    if isnan(value):
        return "not counted"
    if kind == "share":
        return percent(value, 0, finest=2)
    says = f"{value:,.0f}" if float(value).is_integer() else f"{value:.2f}".rstrip("0")
    return says.replace("-", "−")
