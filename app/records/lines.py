"""A box that takes many: one text a line, and after a sign what belongs to it."""

import re
from dataclasses import dataclass

from bert_core.errors import InputError

MOST = 500
"""Texts at once."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a box.

    Attributes:
        number: of the line, counted from 1.
        text: before the sign.
        more: after it; "" without one.
    """

    number: int
    text: str
    more: str


def read_lines(typed: str, what: str, *, signs: str = r"\t|\|") -> tuple[Line, ...]:
    r"""Split a text into its lines, and each line at the first sign; empty lines are left out.

    Args:
        typed: the text.
        what: what a line is, in the plural.
        signs: a pattern; a tab or a vertical bar if not given.

    Raises:
        InputError: there are no lines or too many.

    >>> read_lines("Who?\tAnna | Paul\n\nWhere? | here", "questions")[1]
    Line(number=3, text='Where?', more='here')
    """
    split = (re.split(signs, line, maxsplit=1) for line in typed.removeprefix("\ufeff").split("\n"))
    found = tuple(
        Line(number, parts[0].strip(), parts[1].strip() if len(parts) > 1 else "")
        for number, parts in enumerate(split, start=1)
        if any(part.strip() for part in parts)
    )
    if not 1 <= len(found) <= MOST:
        raise InputError(f"Found {len(found):,} {what}; expected 1 to {MOST}, one per line.")
    return found


def alternatives(wanted: str) -> tuple[str, ...]:
    """Split what is wanted into the answers that count as right.

    >>> alternatives("letter | note")
    ('letter', 'note')
    """
    return tuple(each.strip() for each in wanted.split("|") if each.strip())
