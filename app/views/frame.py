"""The parts that every page shares: lead, cautions, notices, the model's identity, cards."""

from collections.abc import Sequence

from app.views.html import Html, join, tag


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


def cards(rows: Sequence[tuple[str, str, str]]) -> Html:
    """Draw one card per page: its number, title and promise."""
    items = [
        tag(
            "li",
            tag("span", number, class_="bx-card-number", aria_hidden="true"),
            tag("strong", title),
            tag("p", summary),
            class_="bx-card",
        )
        for number, title, summary in rows
    ]
    return tag("ul", *items, class_="bx-cards")


def facts_line(*parts: str) -> Html:
    """Draw short statements beside each other, parted by a middle dot."""
    return tag("p", join(*parts, by=" · "), class_="bx-line")
