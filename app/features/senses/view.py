"""Pictures, sentences and tables of one word in many sentences."""

import math
from typing import Any

import numpy as np

from app.features.senses.result import Floats, Occurrence, SensesResult, Sentence
from app.words.blocks import Html, hint, small_headline, tag, visible
from app.words.curves import Curve, curves
from app.words.format import count, moment, percent, shortened
from app.words.panel import MIDDLE, Panel
from app.words.pictures import NARROW, WIDE, Frame, Picture, linked, listed, picture, svg
from app.words.screen import Beside, Screen, Turned

_WIDE, _HIGH = 440, 330
_R = 12  # half the size of a mark in the plane
_ROUNDS = 40  # of moving marks apart
_KINDS = 4
_SYMBOLS = ("circle", "square", "diamond", "cross")
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7")  # Okabe and Ito, as in the style sheet
"""Groups that differ in shape and colour; a fifth looks like the first again."""


EXPLAINED = hint(
    "Each mark is one sentence's vector of the word. The plane shows the two directions in "
    "which these vectors differ most. Cosine compares all their numbers: 1 is the same "
    "direction. The model knows nothing of the groups; they are yours, separated by blank "
    "lines."
)


def headline(result: SensesResult) -> str:
    """Say how well the groups are kept apart at this layer."""
    total = len(result.occurrences)
    within, between = result.means(within=True), result.means(within=False)
    if len(result.groups) < 2:
        mean = f"mean cosine {within[result.place]:.2f}" if within else ""
        where = f"{mean}, {moment(result.place)}" if mean else moment(result.place)
        return f"{count(total, 'occurrence')}, one group: {where}. A blank line begins a new one."
    inside = f"{within[result.place]:.2f}" if within else "–"
    return (
        f"{result.at_home} of {total} have their nearest neighbour in the same group. Mean cosine "
        f"{moment(result.place)}: {inside} within groups, {between[result.place]:.2f} between."
    )


def plane(result: SensesResult) -> Picture:
    """Draw the occurrences in the plane of their two principal axes."""
    places = ", ".join(
        f"{each.label} ({x:.1f}, {y:.1f})"
        for each, (x, y) in zip(result.occurrences, result.coordinates, strict=True)
    )
    share = percent(sum(result.shares[:2]), 0, counted=True)
    return picture(
        "senses",
        lambda width: _plane(result, *((_WIDE, _HIGH) if width == WIDE else (NARROW, 300))),
        alt=f"“{result.word}” in {count(len(result.sentences), 'sentence')} "
        f"{moment(result.place)}, in a plane that shows {share} of the variance; by sentence "
        f"number: {places}.",
        table=plane_table(result),
    )


def _plane(result: SensesResult, width: int, height: int) -> Html:
    """Draw both axes on one scale, so that distances can be compared."""
    left, bottom, edge = 34, height - 30, _R + 4
    sides = (left + edge, width - edge), (edge, bottom - edge)
    panel = Panel.even(*sides, result.coordinates.tolist())
    first, second = (percent(share, 0, counted=True) for share in result.shares[:2])
    places = np.array([(panel.x(x), panel.y(y)) for x, y in result.coordinates.tolist()])
    free = apart(places, width=(left, width), height=bottom)
    frame = Panel.of_units(width, height)
    frame.span((left, width - 1), (1, bottom), class_="bx-svg-frame")
    frame.text((width + left) / 2, height - 12, f"axis 1: {first} of variance", class_=MIDDLE)
    turned = f"translate(14 {bottom / 2:g}) rotate(-90)"
    frame.text(0, 0, f"axis 2: {second} of variance", class_=MIDDLE, transform=turned)
    marks = map(mark, result.occurrences, free, places)
    return svg(width, height, *frame.drawn, *marks)


def apart(places: Floats, *, width: tuple[float, float], height: float) -> Floats:
    """Move marks that would cover each other, as little as needed, inside the frame.

    Args:
        places: (N, 2), where the marks belong.
        width: left and right edge of the frame.
        height: its lower edge; the upper one is 0.
    """
    moved = places.copy()
    least = 2 * _R + 3
    for _ in range(_ROUNDS):
        between = moved[:, None] - moved[None]  # (N, N, 2)
        distance = np.linalg.norm(between, axis=2)
        for one, other in np.argwhere(np.triu(distance < least, k=1)):
            way = moved[one] - moved[other]
            far = min(float(np.linalg.norm(way)), least)
            push = (way / far if far else np.array([0.0, 1.0])) * (least - far) / 2
            moved[one] += push
            moved[other] -= push
        edge = _R + 3
        moved = moved.clip([width[0] + edge, edge], [width[1] - edge, height - edge])
    return moved


def mark(occurrence: Occurrence, at: Floats, place: Floats) -> Html:
    """Draw one occurrence; groups differ in shape and in colour."""
    kind = occurrence.group % _KINDS
    r = _R
    shape = [
        tag("circle", r=r),
        tag("rect", x=-r + 1, y=-r + 1, width=2 * r - 2, height=2 * r - 2),
        tag("path", d=f"M0 {-r - 3}L{r + 3} 0L0 {r + 3}L{-r - 3} 0Z"),
        tag("path", d=f"M{-r} {r - 2}L0 {-r - 4}L{r} {r - 2}Z"),
    ][kind]
    x, y = place - at
    leads = (
        [tag("line", x1=0, y1=0, x2=f"{x:.1f}", y2=f"{y:.1f}"),
         tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=3)]
        if math.hypot(x, y) > 2 else []
    )  # fmt: skip
    return tag(
        "g", tag("g", *leads, class_="bx-se-lead"), shape,
        tag("text", occurrence.label, text_anchor="middle", class_="bx-se-label"),
        transform=f"translate({at[0]:.1f} {at[1]:.1f})", class_=f"bx-se-mark bx-se-{kind}",
        data_at=_key(occurrence),
    )  # fmt: skip


def _key(occurrence: Occurrence) -> str:
    return linked(occurrence.pieces, text=occurrence.sentence)


def plane_table(result: SensesResult) -> Frame:
    """List the occurrences with their coordinates."""
    texts = {sentence.number: sentence.text for sentence in result.sentences}
    return listed(
        (
            (each.label, each.group + 1, float(x), float(y), texts[each.sentence], _key(each))
            for each, (x, y) in zip(result.occurrences, result.coordinates, strict=True)
        ),
        ("number", "group", "axis 1", "axis 2", "sentence", "at"),
    )


def space(result: SensesResult) -> Any:
    """Draw the occurrences on three axes, to be turned with the pointer; equal scales."""
    import plotly.graph_objects as go  # only a page draws it

    fig = go.Figure()
    for group in result.groups:
        own = [n for n, each in enumerate(result.occurrences) if each.group == group]
        x, y, z = result.space[own].T
        fig.add_scatter3d(
            x=x, y=y, z=z, mode="markers+text", name=f"group {group + 1}",
            text=[result.occurrences[n].label for n in own], textposition="top center",
            hoverinfo="text",
            marker={"symbol": _SYMBOLS[group % _KINDS], "color": _COLOURS[group % _KINDS],
                    "size": 7},
        )  # fmt: skip
    shares = (percent(share, 0, counted=True) for share in result.shares)
    axes = {
        f"{axis}axis": {"title": {"text": f"axis {n}: {share}"}, "showticklabels": False}
        for n, (axis, share) in enumerate(zip("xyz", shares, strict=True), 1)
    }
    fig.update_layout(
        scene={"aspectmode": "data", **axes}, height=460, margin={"l": 0, "r": 0, "t": 0, "b": 0}
    )
    return fig


def space_table(result: SensesResult) -> Frame:
    """List the occurrences with their coordinates on all three axes."""
    table = plane_table(result).drop(columns="at")
    table.insert(4, "axis 3", result.space[:, 2])
    return table


def describe_space(result: SensesResult) -> str:
    """Describe the three axes in one sentence."""
    share = percent(sum(result.shares), 0, counted=True)
    return (
        f"The {len(result.occurrences)} places on three axes, which show {share} of the variance."
    )


def sentences(result: SensesResult) -> Html:
    """Draw the numbered sentences with the word marked; each is linked to its marks."""
    groups = sorted({sentence.group for sentence in result.sentences})
    lists = (
        tag(
            "ul",
            *(_sentence(result, each) for each in result.sentences if each.group == group),
            class_=f"bx-se-{group % _KINDS}",
            aria_label=f"Group {group + 1}",
        )
        for group in groups
    )
    return tag("div", *lists, class_="bx-se-list", tabindex=0, role="group",
               aria_label="Sentences")  # fmt: skip


def _sentence(result: SensesResult, sentence: Sentence) -> Html:
    places = [each for each in result.occurrences if each.sentence == sentence.number]
    parts: list[Html | str] = []
    done = 0
    for each in places:
        own = sentence.text[each.start : each.end]
        parts += [visible(sentence.text[done : each.start]), tag("b", visible(own))]
        done = each.end
    parts.append(visible(sentence.text[done:]))
    badge = tag("span", str(sentence.number), class_="bx-se-badge")
    absent = None if places else "bx-se-absent"
    absence = [] if places else [tag("small", " (not here)")]
    at = " ".join(map(_key, places)) or None
    return tag("li", badge, tag("span", *parts, *absence, dir="auto"), class_=absent, data_at=at)


def over_layers(result: SensesResult) -> Picture:
    """Draw the mean cosine of pairs over the layers, within and between groups."""
    found = {"within": result.means(within=True), "between": result.means(within=False)}
    lines = {name: values for name, values in found.items() if values}
    low = min(min(values) for values in lines.values())
    ends = (low if low < 0 else min(0.9, math.floor(low * 10) / 10), 1.0)  # 0.9: all are equal
    first = ", ".join(f"{name} {values[result.place]:.2f}" for name, values in lines.items())
    columns: dict[str, object] = {"after layer": ["input", *range(len(result.similarity) - 1)]}
    columns |= lines
    return picture(
        "senses-layers",
        lambda width: curves(
            [Curve(name, values) for name, values in lines.items()],
            width=width, height=230, ends=ends, axis="after layer",
            names=["input", *map(str, range(len(result.similarity) - 1))],
            marked=result.place, dots=True,
        ),
        alt=f"Mean cosine of pairs of occurrences over the layers; {moment(result.place)}: "
        f"{first}.",
        table=columns,
    )  # fmt: skip


def screen(result: SensesResult) -> Screen:
    """Say what is shown."""
    turned = Turned("space", lambda: space(result), describe_space(result), space_table(result))
    return Screen(
        f"“{shortened(visible(result.word))}”: {headline(result)}",
        (Beside((plane(result),), (sentences(result),), (6, 5)),),
        tabs={
            "Over the layers": lambda: (over_layers(result),),
            "In 3-D": lambda: (turned,),
        },
        answer=small_headline(headline(result), EXPLAINED),
        asked=(EXPLAINED,),
    )


def snippet(result: SensesResult, model: str) -> str:
    """Write the same computation in Python."""
    listed = "".join(f"    {sentence.text!r},\n" for sentence in result.sentences)
    return f"""import torch
from bert_core import BertModel, load_tokenizer
from bert_core.analysis.similarity import cosines, principal_axes
from bert_core.reading.occurrences import occurrences

tokenizer = load_tokenizer({model!r})
model = BertModel.from_pretrained({model!r})
sentences = [
{listed}]
spellings = {{tuple(tokenizer.tokenize(space + {result.word!r})) for space in ("", " ")}}
words = [tokenizer.convert_tokens_to_ids(list(pieces)) for pieces in spellings]
found = []
for sentence in sentences:
    encoding = tokenizer.encode(sentence)
    with torch.inference_mode():
        states = model.run(torch.tensor([encoding.input_ids]), hidden_states=True).hidden_states
    for place in (place for word in words for place in occurrences(encoding, word)):
        found.append(states[{result.place}][0, list(place)].mean(dim=0))  # (D,)
vectors = torch.stack(found)  # (N, D)
similarity = cosines(vectors, vectors)  # (N, N)
plane = principal_axes(vectors)
print(similarity)
print(plane.coordinates, plane.shares)
"""
