"""Charts, tables and text of fill-mask."""

import pandas as pd
import plotly.graph_objects as go

from app.features.fill_mask.result import Candidate, FillMaskResult, Slot
from app.words.blocks import line, note
from app.words.charts import bars
from app.words.format import count, percent
from app.words.html import Html, join, tag, visible
from app.words.notes import calibrated

_NUMBER = 64  # pixels after the longest bar for its number, even on the narrowest phone
_SCALES = (0.01, 0.02, 0.04, 0.1, 0.2, 0.4, 1.0, 2.0)  # axis limits, for comparable bars


def sentence(result: FillMaskResult) -> Html:
    """Draw the text with the best candidate at every mask, marked and numbered."""
    if not result.slots:
        return join()
    many = len(result.slots) > 1
    parts: list[Html | str] = []
    for text, number in result.filled:
        if number:
            badge = [tag("sub", str(number))] if many else []
            parts.append(tag("mark", visible(text), *badge, class_="bx-filled"))
        else:
            parts.append(visible(text))
    return tag("p", *parts, class_="bx-text bx-sentence", dir="auto")


def slot_title(slot: Slot, *, alone: bool) -> Html:
    """Title one of several masks with its number and the words around it."""
    if alone:
        return join()
    around = tag(
        "bdi", "… ", visible(slot.before[-24:]), tag("b", "▁▁"), visible(slot.after[:24]), " …"
    )
    return tag("h2", f"Mask {slot.number} ", tag("small", around), class_="bx-slot")


def probability_bars(slot: Slot) -> go.Figure:
    """Draw the candidates of one mask as bars, best on top, the named word last."""
    rows = _rows(slot)
    names = [f"{candidate.rank}. {candidate.token}" for candidate in rows]
    values = [candidate.probability for candidate in rows]
    named = [slot.named is not None and c.id == slot.named.id for c in rows]
    fig = bars(names, values, [chance(value) for value in values], marked=named)
    scale = next(step for step in _SCALES if max(values) <= step)
    fig.update_xaxes(
        range=[0, scale], tickvals=[scale * part / 4 for part in range(5)], tickformat=".3~%"
    )
    fig.update_layout(margin_r=_NUMBER)
    return fig


def describe(slot: Slot) -> str:
    """Describe the bars of one mask in one sentence."""
    best = ", ".join(f"{c.token} {chance(c.probability)}" for c in slot.candidates[:5])
    named = f"; {slot.named.token} has rank {slot.named.rank:,}" if slot.named else ""
    return f"Bar chart of mask {slot.number}, most probable first: {best}{named}."


def candidates_table(slot: Slot) -> pd.DataFrame:
    """List the candidates of one mask with their exact probabilities."""
    rows = [(c.rank, c.token, c.id, c.probability, chance(c.probability)) for c in _rows(slot)]
    return pd.DataFrame(rows, columns=["rank", "piece", "id", "probability", "percent"])


def certainty(slot: Slot) -> Html:
    """State how sure the model is, without terms from information theory."""
    shown = sum(candidate.probability for candidate in slot.candidates)
    choices = max(1, round(slot.choices))
    return line(
        f"The words shown hold {chance(shown)} of all probability. ",
        f"As unsure as a fair draw among {count(choices, 'word')} "
        f"(entropy {slot.entropy:.1f} bits).",
    )


def calibration_note(result: FillMaskResult) -> Html:
    """Explain how far the percentages can be trusted."""
    if not result.slots:
        return join()
    return line(calibrated(result.calibration, "first guesses"))


def named_word(slot: Slot, vocabulary: int) -> Html:
    """State the probability and rank of the word that the user named."""
    if slot.named is None:
        return join()
    return line(
        tag("b", tag("bdi", visible(slot.named.token))),
        f" has {chance(slot.named.probability)}: number {slot.named.rank:,} of {vocabulary:,}.",
    )


def several(result: FillMaskResult) -> Html:
    """Note, if there are several masks, that their answers were not chosen together."""
    if len(result.slots) < 2:
        return join()
    return line(
        "Each mask is guessed alone, with the others still hidden: the best words of two masks "
        "need not fit together."
    )


def window(result: FillMaskResult) -> Html:
    """State, for a text longer than the model's input, how much of it each answer uses."""
    if not result.slots or result.read >= result.tokens:
        return join()
    return note(
        tag("strong", "Long text. "),
        f"It has {result.tokens:,} tokens and the model reads {result.read:,} at once, so each "
        "mask was read with the text around it; what stands further away had no say.",
    )


def chance(probability: float) -> str:
    """Format a probability so that small values stay distinguishable.

    >>> chance(0.3412), chance(0.000052)
    ('34.1 %', '0.005 %')
    """
    return percent(probability, finest=3)


def _rows(slot: Slot) -> list[Candidate]:
    """Return the candidates, followed by the named word if it is not among them."""
    rows = list(slot.candidates)
    if slot.named is not None and slot.named.id not in {candidate.id for candidate in rows}:
        rows.append(slot.named)
    return rows
