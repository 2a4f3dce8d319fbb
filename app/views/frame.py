"""The parts that every page shares: lead, cautions, notices, the model's identity, cards."""

from collections.abc import Sequence

from app.views.html import Html, tag


def lead(text: str) -> Html:
    """Draw the sentence under a page's title: what is on the screen."""
    return tag("p", text, class_="bx-lead")


def caution(text: str) -> Html:
    """Draw what must not be concluded, marked by a word and not by a colour alone."""
    return tag("p", tag("strong", "Do not conclude: "), text, class_="bx-note bx-caution")


def untrained(title: str, missing: Sequence[str]) -> Html:
    """Warn, before any number, that a head was never trained and answers by chance."""
    names = ", ".join(missing[:6]) + (" …" if len(missing) > 6 else "")
    return tag(
        "div",
        tag("strong", "This model has no trained weights for this page. "),
        f"{title} needs {len(missing)} groups of weights that its file does not contain, so they "
        "hold random values: every number below is noise.",
        tag("br"),
        tag("small", "Missing: ", tag("code", names)),
        class_="bx-note bx-untrained",
        role="alert",
    )


def footer(facts: Sequence[tuple[str, str]]) -> Html:
    """Draw the identity of the model as one quiet line of facts."""
    items = [
        tag("li", tag("span", name, class_="bx-fact"), " ", tag("span", value))
        for name, value in facts
    ]
    return tag("ul", *items, class_="bx-facts", aria_label="The model behind this page")


def points(rows: Sequence[tuple[str, str]]) -> Html:
    """Draw short statements, each with the sentences that say more."""
    items = [tag("li", tag("strong", head), " ", more) for head, more in rows]
    return tag("ul", *items, class_="bx-points")
