"""Where heads usually look: a map of all heads, and one head compared with the user's text."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from app.features.attention.result_habits import HeadComparison, HeadHabits
from app.features.attention.view_pictures import heads_map, pick_figure, shades
from app.features.attention.view_text import whole_percent
from app.records.results import Measure
from app.words.blocks import line, record_table
from app.words.html import Html, join, tag
from app.words.pictures import NARROW

AS_TABLE = "Every head in numbers"
COLUMNS = ("looks at", "usually", "in this text")


def place_names(habits: HeadHabits) -> dict[str, str]:
    """List the measures that the map can show: key -> name."""
    return {place.key: place.name for place in habits.places}


def _of(habits: HeadHabits, key: str) -> tuple[Measure, np.ndarray]:
    at = [place.key for place in habits.places].index(key)
    return habits.places[at], habits.means[at]


def amount(place: Measure, value: float | None) -> str:
    """Format a share of attention or a number of bits.

    >>> amount(Measure("a", "itself", ""), 0.4167), amount(Measure("b", "", "", False), 2.34)
    ('42 %', '2.3 bits')
    """
    if value is None or np.isnan(value):
        return "–"
    return whole_percent(value) if place.is_share else f"{value:.1f} bits"


def map_picture(habits: HeadHabits, key: str, chosen: tuple[int, int]) -> Html:
    """Draw the map of all heads for the page, where a click chooses one.

    Args:
        habits: the measurements.
        key: which measure to show.
        chosen: the selected layer and head.
    """
    place, means = _of(habits, key)
    top = _top(habits, place, means)
    number = shades(np.nan_to_num(means), top, log=False)[..., None, None]
    notes = [
        f"Layer {layer}, head {head}: {place.name}: {amount(place, float(value))}"
        for (layer, head), value in np.ndenumerate(means)
    ]
    drawn = heads_map(NARROW, number, [chosen], notes)
    said = notes[chosen[0] * habits.heads + chosen[1]]
    return pick_figure(
        "head-map", drawn, f"{describe_map(habits, key)} Darkest: {amount(place, top)}.", said
    )


def _top(habits: HeadHabits, place: Measure, means: np.ndarray) -> float:
    """Return the value with the strongest colour: a round share, or the widest spread."""
    if not place.is_share:
        return max(habits.widest, float(np.nanmax(means, initial=0.0)))
    return min(1.0, max(0.1, float(np.ceil(10 * np.nanmax(means, initial=0.0)) / 10)))


def describe_map(habits: HeadHabits, key: str) -> str:
    """Describe the map in one sentence."""
    place, means = _of(habits, key)
    if np.isnan(means).all():
        return f"{place.name}: no head has a number."
    high = np.unravel_index(int(np.nanargmax(means)), means.shape)
    low = np.unravel_index(int(np.nanargmin(means)), means.shape)
    return (
        f"{place.name}, {habits.layers} layers (rows) of {habits.heads} heads (columns): most in "
        f"layer {high[0]}, head {high[1]} ({amount(place, float(means[high]))}), least in layer "
        f"{low[0]}, head {low[1]} ({amount(place, float(means[low]))}), mean "
        f"{amount(place, float(np.nanmean(means)))}."
    )


def map_table(habits: HeadHabits) -> pd.DataFrame:
    """Return every value of every head as a table; shares run from 0 to 1."""
    layer, head = np.divmod(np.arange(habits.layers * habits.heads), habits.heads)
    columns: Mapping[str, np.ndarray] = {
        place.name if place.is_share else f"{place.name} (bits)": means.reshape(-1).round(4)
        for place, means in zip(habits.places, habits.means, strict=True)
    }
    return pd.DataFrame({"layer": layer, "head": head, **columns})


def source(habits: HeadHabits) -> Html:
    """State what the numbers were measured on, and what they do not show."""
    stale = f" They do not belong to this model: {habits.stale}" if habits.stale else ""
    return line(
        f"Means over {habits.texts:,} texts with {habits.tokens:,} tokens that come with the "
        "program, each token counting once as the one that looks. Places overlap, so the shares of "
        "a head do not add up to 1. If every token looked at all tokens equally, the spread would "
        f"be {habits.widest:.1f} bits. Source: head-statistics.json, beside the weights.{stale}"
    )


def place_note(habits: HeadHabits, key: str) -> Html:
    """Explain what the numbers in the map mean."""
    return line(_of(habits, key)[0].meaning)


def nothing_known(model: str) -> Html:
    """State that the usual behaviour of a model's heads was not measured."""
    return line(
        f"Where the heads of {model} usually look was not measured: there is no "
        "head-statistics.json beside its weights. The bundled model has one."
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
