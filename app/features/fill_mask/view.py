"""Charts, tables and text of fill-mask."""

import pandas as pd

from app.features.fill_mask.result import Candidate, FillMaskResult, Slot
from app.words.blocks import hint, line, note
from app.words.format import count, percent
from app.words.html import Html, join, tag, visible
from app.words.notes import calibrated
from app.words.pictures import Picture, bars, figure, picture

_SCALES = (0.01, 0.02, 0.04, 0.1, 0.2, 0.4, 1.0, 2.0)  # axis limits, for comparable bars


def sentence(result: FillMaskResult, pickable: range) -> Html:
    """Draw the text with the best candidate at every mask; a click on another word hides it.

    Args:
        result: the result.
        pickable: numbers of the words that can be clicked; a long text has too many.
    """
    many = len(result.slots) > 1
    filled = iter([(text, number) for text, number in result.filled if number])
    parts: list[Html | str] = []
    done, first = 0, True
    for number, word in enumerate(result.words):
        before = result.text[done : word.start]
        done = word.end
        if word.masked:
            text, slot = next(filled)
            badge = [tag("sub", str(slot))] if many else []
            parts += [before, tag("mark", visible(text), *badge, class_="bx-filled")]
        elif number in pickable:
            pick = tag(
                "span", visible(word.text), role="button", tabindex=0 if first else -1,
                class_="bx-word", data_pick="hide", data_value=number,
            )  # fmt: skip
            parts += [visible(before), pick]
            first = False
        else:
            parts.append(visible(before + word.text))
    parts.append(visible(result.text[done:]))
    hide = hint("Click a word to hide it. With the keyboard: arrow keys, then Enter.")
    return tag("p", *parts, hide, class_="bx-text bx-sentence", dir="auto", data_rove="words")


def slot_title(slot: Slot, *, alone: bool) -> Html:
    """Title one of several masks with its number and the words around it."""
    if alone:
        return join()
    around = tag(
        "bdi", "… ", visible(slot.before[-24:]), tag("b", "▁▁"), visible(slot.after[:24]), " …"
    )
    return tag("h2", f"Mask {slot.number} ", tag("small", around), class_="bx-slot")


def candidates(slot: Slot) -> Picture:
    """Draw the candidates of one mask as bars, best on top, the named word last."""
    rows = _rows(slot)
    values = [candidate.probability for candidate in rows]
    marked = [slot.named is not None and c.id == slot.named.id for c in rows]
    names = [f"{candidate.rank}. {candidate.token}" for candidate in rows]
    top = next(step for step in _SCALES if max(values) <= step)
    printed = [chance(value) for value in values]
    return picture(
        f"fill-mask-{slot.number}",
        lambda width: bars(names, values, printed, width=width, top=top, marked=marked),
        alt=describe(slot),
        table=candidates_table(slot),
    )


def kept(result: FillMaskResult) -> list[Html]:
    """Draw the result for a file."""
    slots = (
        block
        for slot in result.slots
        for block in (slot_title(slot, alone=False), figure(candidates(slot)), certainty(slot))
    )
    return [sentence(result, range(0)), *slots, calibration_note(result)]


def snippet(result: FillMaskResult) -> str:
    """Write the same computation in Python."""
    return """from bert_core import BertForMaskedLM, BertTokenizer
"""


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
