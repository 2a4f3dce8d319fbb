"""The model behind a page: why it may not suit, and what its files hold."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.words.html import Html, join, tag, visible

_NAMES = 6  # of parameters, before the rest is counted
_LABELS = 40
_NOISE = " What is missing holds random values: every number made with it is noise."


@dataclass(frozen=True, slots=True)
class Holding:
    """What a model brings for one kind of answer.

    Attributes:
        title: the kind of answer.
        there: whether the model was trained for it.
        says: more about it, in one or two sentences.
        names: parameters that are missing.
        labels: what its outputs are called.
    """

    title: str
    there: bool
    says: str
    names: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


def misfit_note(says: str, names: Sequence[str], *, grave: bool, noise: bool) -> Html:
    """Warn, before any number, that a model does not suit a page.

    Args:
        says: why.
        names: parameters that it is about.
        grave: whether what the page would show means nothing.
        noise: whether that is so because weights are missing.
    """
    head = "Before you read on: "
    if grave:
        lacks = "has no trained weights for" if noise else "does not suit"
        head = f"This model {lacks} this page. "
    return tag(
        "div",
        tag("strong", head),
        visible(says),
        _NOISE if noise else "",
        _parameters(names, "Missing: " if noise else ""),
        class_="bx-note bx-untrained" if grave else "bx-note",
        role="alert" if grave else "note",
    )


def size_line(facts: Sequence[tuple[str, str]]) -> Html:
    """Draw the sizes of a model as one line of facts."""
    items = [
        tag("li", tag("span", name, class_="bx-fact"), " ", visible(value)) for name, value in facts
    ]
    return tag("ul", *items, class_="bx-facts bx-inner", aria_label="The size of this model")


def holdings(rows: Sequence[Holding], left_over: Sequence[str]) -> Html:
    """List what a model was trained for, what it lacks, and what nobody uses."""
    items = [_holding(row) for row in rows]
    if left_over:
        items.append(
            tag(
                "li",
                tag("strong", f"Not used by any page: {len(left_over):,} tensors. "),
                _parameters(left_over),
            )
        )
    return tag("ul", *items, class_="bx-holdings")


def _holding(row: Holding) -> Html:
    """Draw one line; the sign says the same as the words."""
    labels = join()
    if row.labels:
        shown = [tag("code", visible(label)) for label in row.labels[:_LABELS]]
        more = len(row.labels) - len(shown)
        rest = f" and {more:,} more" if more else ""
        labels = join(tag("br"), tag("small", "Labels: ", join(*shown, by=" "), rest))
    return tag(
        "li",
        tag("span", "✓" if row.there else "✗", class_="bx-sign", aria_hidden="true"),
        " ",
        tag("strong", f"{row.title}: "),
        row.says,
        labels,
        _parameters(row.names, "Missing: "),
        class_="bx-there" if row.there else "bx-absent",
    )


def _parameters(names: Sequence[str], before: str = "") -> Html:
    """Name the first few parameters and count the rest."""
    if not names:
        return join()
    more = len(names) - _NAMES
    rest = f" and {more:,} more" if more > 0 else ""
    shown = visible(", ".join(names[:_NAMES]))
    return join(tag("br"), tag("small", before, tag("code", shown), rest))


def plan_facts(
    facts: Sequence[tuple[str, str]], *, label: str = "What would be downloaded"
) -> Html:
    """Draw what a download would bring, or what a model is, one fact a line."""
    items = [
        tag("li", tag("span", name, class_="bx-fact"), " ", visible(value)) for name, value in facts
    ]
    return tag("ul", *items, class_="bx-plan", aria_label=label)
