"""Where a head usually looks, compared with the visitor's text."""

import numpy as np

from app.features.attention.result_habits import HeadComparison, HeadHabits
from app.features.attention.view_text import whole_percent
from app.records.results import Measure
from app.words.blocks import line, record_table
from app.words.html import Html, join, tag

COLUMNS = ("looks at", "usually", "in this text")


def amount(place: Measure, value: float | None) -> str:
    """Format a share of attention or a number of bits.

    >>> amount(Measure("a", "itself", ""), 0.4167), amount(Measure("b", "", "", False), 2.34)
    ('42 %', '2.3 bits')
    """
    if value is None or np.isnan(value):
        return "–"
    return whole_percent(value) if place.is_share else f"{value:.1f} bits"


def source(habits: HeadHabits) -> Html:
    """State what the numbers were measured on, and what they do not show."""
    stale = f" They do not belong to this model: {habits.stale}" if habits.stale else ""
    return line(
        f"Means over {habits.texts:,} texts with {habits.tokens:,} tokens that come with the "
        "program, each token counting once as the one that looks. Places overlap, so the shares of "
        "a head do not add up to 1. If every token looked at all tokens equally, the spread would "
        f"be {habits.widest:.1f} bits. Source: head-statistics.json, beside the weights.{stale}"
    )


def comparison(found: HeadComparison) -> Html:
    """Draw a head's usual behaviour next to its behaviour in the user's text."""
    rows = [
        (
            join(tag("strong", place.name), tag("br"), tag("small", place.meaning)),
            amount(place, usual),
            amount(place, here),
        )
        for place, usual, here in found.rows
    ]
    return record_table("Usually, and in this text", COLUMNS, rows, compact=True)
