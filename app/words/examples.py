"""What is said of an example: whether the model answers as a person would, and what that is."""

from collections.abc import Sequence

from app.words.html import Html, tag, visible

RIGHT = "✓ right"
WRONG = "✗ wrong"
OPEN = "? to look at"
TRY = "Try"
"""Heads of the examples that one model answers well, of those it does not, and of those that
nothing is said about: beside these, and alone. Each is told by its sign and its words."""

_WANTED = {
    "tokenizer": "A person would cut",
    "attention": "A person would link",
}
_NOTHING = {"ner": "nothing marked"}


def mark_line(slug: str, *, right: bool, wanted: Sequence[str], seen: str) -> Html:
    """Draw the verdict on one answer, what a person would answer, and what was seen.

    Args:
        slug: the page.
        right: whether both agree.
        wanted: the parts of what a person would answer; " | " stands between alternatives.
        seen: what the model answers, and what can be learned from that.
    """
    answer = "; ".join(_listed(visible(part)) for part in wanted) or _NOTHING.get(slug, "nothing")
    return tag(
        "p",
        tag("strong", RIGHT if right else WRONG),
        f" · {_WANTED.get(slug, 'A person would say')}: ",
        tag("span", answer, class_="bx-wanted"),
        f". {seen}" if seen else ".",
        class_="bx-mark",
    )


def _listed(part: str) -> str:
    """Read alternatives out: "a, b or c"."""
    *others, last = part.split(" | ")
    return f"{', '.join(others)} or {last}" if others else last
