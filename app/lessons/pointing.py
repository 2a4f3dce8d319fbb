"""Things that can be pointed at: the words or pieces of a text in a row, or all heads in a grid."""

from collections.abc import Sequence

from app.lessons.looking import Looking
from app.lessons.records import At
from app.words.blocks import Html, join, pick, tag, visible

PICK = "point"
"""The name of the click."""


def things(looking: Looking, at: At) -> list[str]:
    """Return what can be pointed at; heads layer by layer within each column."""
    text = str(next(iter(looking.look.values.values())))
    if at == "words":
        return [word.strip(".,!?;:") for word in text.split()]
    if at == "pieces":
        return list(looking.engine.tokenizer.encode(text).pieces)
    size = looking.engine.provenance
    return [f"{layer}.{head}" for head in range(size.heads) for layer in range(size.layers)]


def pointing(names: Sequence[str], at: At, mine: int | None, its: str | None, ask: str) -> Html:
    """Draw what can be pointed at; once the answer is known, only the two marks.

    Args:
        names: of the things.
        at: what they are.
        mine: the number of the one that the visitor points at; None for none.
        its: the name of the right one; None while it is covered.
        ask: the question, for those who cannot see the drawing.
    """
    shown = [
        _thing(names, number, at, mine, None if its is None else name.lower() == its.lower())
        for number, name in enumerate(names)
    ]
    if at != "heads":
        return tag("div", *shown, class_="bx-points", data_rove=PICK, role="group", aria_label=ask)
    rows = names.index("0.1") if "0.1" in names else len(names)
    labels = [tag("small", str(layer), aria_hidden="true") for layer in range(rows)]
    cells = [tag("small", "layer", aria_hidden="true"), *labels]
    for head in range(len(names) // rows):
        cells += [tag("small", str(head), aria_hidden="true"), *shown[head * rows :][:rows]]
    style = f"grid-template-rows: repeat({rows + 1}, auto)"
    return tag(
        "div", *cells, class_="bx-points bx-heads", data_rove=rows, role="group",
        aria_label=ask, style=style,
    )  # fmt: skip


def _thing(names: Sequence[str], number: int, at: At, mine: int | None, right: bool | None) -> Html:
    """Draw one of the things, with the marks that it has."""
    name, chosen = names[number], number == mine
    layer, _, head = name.partition(".")
    label = f"head {head} of layer {layer}" if at == "heads" else visible(name)
    marks = [*(["you"] if chosen else []), *(["the model"] if right else [])]
    signs = {"you": "●", "the model": "◆"} if at == "heads" else {}
    under = [tag("small", signs.get(mark, mark), class_="bx-pointed") for mark in marks]
    kind = f"bx-point{' bx-mine' if chosen else ''}{' bx-its' if right else ''}"
    if right is None:
        clickable = pick(PICK, number, stop=number == (mine or 0), element="button")
        shown = join() if at == "heads" else visible(name)
        says = tag("span", *([signs["you"]] if chosen and signs else [shown]))
        return tag("button", says, class_=kind, aria_pressed=str(chosen).lower(),
                   aria_label=label, **clickable)  # fmt: skip
    said = f"{label}: {', '.join(marks)}" if marks else label
    shown = join() if at == "heads" else tag("span", visible(name))
    return tag("span", shown, *under, class_=kind, role="img", aria_label=said)
