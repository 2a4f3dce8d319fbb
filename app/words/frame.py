"""The parts that every page shares: lead, cautions, notices, the model's identity, cards."""

from collections.abc import Sequence

from app.words.html import Html, tag, visible


def lead(text: str) -> Html:
    """Draw the sentence under a page's title: what is on the screen."""
    return tag("p", text, class_="bx-lead")


def caution(text: str) -> Html:
    """Draw what must not be concluded, marked by a word and not by a colour alone."""
    return tag("p", tag("strong", "Do not conclude: "), text, class_="bx-note bx-caution")


def footer(facts: Sequence[tuple[str, str]], *, label: str = "The model behind this page") -> Html:
    """Draw facts, above all the identity of the model, as one quiet line."""
    items = [
        tag("li", tag("span", name, class_="bx-fact"), " ", tag("span", visible(value)))
        for name, value in facts
    ]
    return tag("ul", *items, class_="bx-facts", aria_label="The model behind this page")


def points(rows: Sequence[tuple[str, str]]) -> Html:
    """Draw short statements, each with the sentences that say more."""
    items = [tag("li", tag("strong", head), " ", more) for head, more in rows]
    return tag("ul", *items, class_="bx-points")
