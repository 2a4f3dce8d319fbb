"""What a quantity is: how a file names one, and how its value is printed."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isnan
from typing import Annotated, Any, Literal, TypeVar

from app.words.format import percent
from bert_core.errors import InputError

Value = str | float
T = TypeVar("T")
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


def among(known: Mapping[str, T], what: str, name: str) -> T:
    """Return what a file names.

    Raises:
        InputError: there is nothing of this name.
    """
    if name not in known:
        names = ", ".join(known) or "none"
        raise InputError(f"Found the {what} {name[:60]!r}; expected one of {names}.")
    return known[name]


def refer(text: str) -> Reference:
    """Read how a file names a quantity.

    >>> refer("plain.p:are")
    Reference(look='plain', name='p', about='are')
    >>> refer("claim:O4.k")
    Reference(look='', name='claim', about='O4.k')
    """
    found = _REFERENCE.fullmatch(text.strip())
    return Reference(found[1] or "", found[2], found[3] or "") if found else Reference("", text, "")


def printed(kind: str, value: Value) -> str:
    """Print a value.

    >>> printed("share", 0.632), printed("number", 4.0), printed("number", 2.5)
    ('63 %', '4', '2.5')
    >>> printed("number", 0.8983)  # as precise as 0.89 beside it
    '0.90'
    """
    if isinstance(value, str):
        return value
    if isnan(value):
        return "not counted"
    if kind == "share":
        return percent(value, 0, finest=2)
    says = f"{value:,.0f}" if float(value).is_integer() else f"{value:.2f}"
    says = says.rstrip("0") if abs(value) > 1 and "." in says else says
    return says.replace("-", "−")
