"""The sentences of the X-ray: what was asked and answered, and what each number means."""

import numpy as np

from app.features.xray.result import Ask, Candidate, Kind, Lens, Mode, Part, XrayResult
from app.words.blocks import Html, join, line, visible
from app.words.format import count, moment, percent, signed

ASKS: dict[Ask, str] = {
    "auto": "what fits",
    "word": "word",
    "entity": "entity",
    "label": "label of the text",
    "next": "next sentence",
    "start": "start of the answer",
    "end": "end of the answer",
}
"""Names on the screen and in links."""

MATTERS = "Which parts matter?"
"""What the button says; the tab is shorter."""

MODES: dict[Mode, str] = {"mean": "mean", "zero": "zero"}
LENSES: dict[Lens, str] = {"affine": "affine", "raw": "raw"}
READS: dict[Lens, str] = {
    "affine": "The head was trained on the last layer, so a linear map, fitted on 100 texts, first "
    "translates the vector to that layer (the affine lens). The raw lens, under “Settings”, skips "
    "this step.",
    "raw": "The vector is read as it is, as if the model ended at that layer (the raw lens). The "
    "affine lens, under “Settings”, first translates it to the last layer by a linear map fitted "
    "on 100 texts.",
}
"""What the cells of the picture show, by the lens."""
MEAN = "mean"
_LABELS = 8
LOOKS = 3
"""How many of the pieces that a piece looks at are named."""


def column_name(column: int) -> str:
    """Name a column of the picture.

    >>> column_name(0), column_name(3)
    ('input', 'layer 2')
    """
    return "input" if column == 0 else f"layer {column - 1}"


def piece(result: XrayResult, at: int) -> str:
    """Name a piece."""
    return visible(result.tokens[at])


def place(result: XrayResult) -> str:
    """Say where the question is asked."""
    kind, at = result.question.kind, result.question.position
    if kind in ("label", "next"):
        return "the text"
    return f"“{piece(result, at)}” (piece {at})"


def measure(result: XrayResult) -> str:
    """Name the number that says how strongly the answer is given that is followed."""
    if result.question.kind == "next":
        return result.question.target
    return f"log-probability of “{visible(result.followed)}”"


def asked(result: XrayResult) -> str:
    """Say what is asked, as the beginning of a sentence."""
    here = place(result)
    return {
        "word": f"At {here} the model writes",
        "entity": f"The model labels {here}",
        "label": "The model labels the text",
        "next": "The model says",
        "start": "The model lets the answer start at",
        "end": "The model lets the answer end at",
    }[result.question.kind]


def label_note(result: XrayResult) -> Html:
    """Say why any text gets a label: the head knows no others. Empty for other questions."""
    if not result.labels:
        return join()
    named = f": {visible(', '.join(result.labels))}" if len(result.labels) <= _LABELS else ""
    trained = f" Trained on {visible(result.trained_on)}." if result.trained_on else ""
    return line(
        f"This head knows {count(len(result.labels), 'label')} only{named}. Every text gets one of "
        f"them, also where none fits.{trained}"
    )


def headline(result: XrayResult) -> str:
    """State the answer, and what it was with the whole model."""
    best, first = result.best, result.first
    says = f"{asked(result)} {quoted(result, best)} ({percent(best.probability)})."
    if not result.off:
        return says
    off = count(len(result.off), "part")
    if best is first:
        return f"{says[:-1]}; with everything on, {percent(first.before)}; {off} off."
    before = f"{quoted(result, first)} ({percent(first.before)})"
    return f"{says} With everything on: {before}; {off} off."


def quoted(result: XrayResult, each: Candidate) -> str:
    """Name an answer; words of a text stand in quotation marks."""
    name, kind = visible(each.name), result.question.kind
    if kind == "entity" and name == "O":
        return "O, no name"
    return f"“{name}”" if kind == "word" else name


def candidate_words(result: XrayResult, each: Candidate) -> str:
    """Say everything about one possible answer."""
    says = f"{visible(each.name)}: {percent(each.probability, finest=4)}, rank {each.rank:,}"
    if result.off:
        says += f"; with the whole model {percent(each.before, finest=4)}, "
        says += f"rank {each.rank_before:,}"
    return says + ("; the answer that is followed." if each.followed else ".")


def column_words(result: XrayResult, column: int) -> list[str]:
    """Say everything about each piece after one layer, or before the first."""
    when = moment(column)
    says = [
        f"{when[0].upper()}{when[1:]}, {piece(result, at)}: {_reading(result, column, at)}"
        for at in range(len(result.tokens))
    ]
    if column == 0:
        return says
    changes, layer = result.changes, column - 1
    return [
        f"{words} Turned by {turned:.3f} (1 − cosine); attention adds {attended:.2f} times its "
        f"length, feed-forward {forward:.2f} times. Looks at {looks}."
        for words, turned, attended, forward, looks in zip(
            says,
            changes.turned[layer].tolist(),
            changes.by_attention[layer].tolist(),
            changes.by_feed_forward[layer].tolist(),
            _looks(result, layer),
            strict=True,
        )
    ]


def _reading(result: XrayResult, column: int, at: int) -> str:
    share = float(result.readings.shares[column, at])
    if np.isnan(share):
        return "this head reads only [CLS]."
    kind = result.question.kind
    if kind in ("start", "end"):
        says = f"the answer would {kind} here by the {result.readings.lens} lens"
        return f"{says}: {percent(share, finest=3)} likely."
    final = result.readings.names[-1][at]
    name = result.readings.names[column][at]
    says = f"the {result.readings.lens} lens says {visible(name)} ({percent(share)})"
    if name == final:
        return f"{says}, as at the end."
    agreed = percent(float(result.readings.agreement[column, at]), finest=3)
    return f"{says}; at the end it is {visible(final)}, which has {agreed} here."


def _looks(result: XrayResult, layer: int) -> list[str]:
    """Say for each piece what it looks at most, on average over the heads."""
    mean = result.attentions[layer].mean(axis=0)
    best = np.argsort(-mean, kind="stable")[:, :LOOKS]
    return [
        ", ".join(f"{piece(result, to)} {percent(float(row[to]), 0)}" for to in looked)
        for row, looked in zip(mean, best.tolist(), strict=True)
    ]


def thread_words(result: XrayResult, layer: int, link: tuple[int, int, float], head: str) -> str:
    """Say what a thread is."""
    at, to, weight = link
    who = "on average, its heads give" if head == MEAN else f"head {head} gives"
    return (
        f"Layer {layer}: {who} {percent(weight, counted=True)} of the attention of "
        f"{piece(result, at)} to {piece(result, to)}."
    )


def effect_words(result: XrayResult, part: Part, effect: float) -> str:
    """Say what happens without one part."""
    change = f"{signed(effect, 3)} nats"
    says = times(effect, result.question.kind)
    return f"Without {part.words}: {visible(result.followed)} {change} ({says})."


def times(effect: float, kind: Kind = "word") -> str:
    """Say what a change of a log-probability does to the probability, or of log-odds to the odds.

    >>> times(-0.6931), times(0.4055), times(0.001)
    ('half as likely', '1.5 times as likely', 'as likely as before')
    >>> times(0.4055, "next")
    'odds 1.5 times as high'
    """
    odds, likely = ("odds ", "high") if kind == "next" else ("", "likely")
    factor = float(np.exp(effect))
    if 0.95 < factor < 1.05:
        return f"{odds}as {likely} as before"
    if 0.495 < factor < 0.505:
        return f"{odds}half as {likely}"
    often = f"{factor:.1f}" if factor >= 0.1 else f"{factor:.2g}"
    return f"{odds}{often} times as {likely}"
