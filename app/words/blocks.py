"""What pages are built from: the elements of `html`, lines and notes, facts, bars, tables.

A table becomes one card per row on a phone; read aloud, it stays a table. A group of what can be
clicked (`pick`) carries `data_rove` with its name: Tab stops at one of its parts, and arrow keys go
from there to the others. `assets/components/bridge.js` reads both, and tells the page.
"""

from collections.abc import Iterable, Sequence

from app.words.format import percent
from app.words.html import Html, join, plain, tag, visible

__all__ = [
    "HINT_END",
    "Cell",
    "Facts",
    "Html",
    "answer",
    "beware",
    "cautions",
    "copy_button",
    "facts",
    "fold",
    "heading",
    "hint",
    "join",
    "line",
    "note",
    "pick",
    "plain",
    "record_table",
    "share_bar",
    "sideways",
    "small_headline",
    "tag",
    "ticked",
    "visible",
]

Cell = Html | str
Facts = Sequence[tuple[str, str]]


def heading(title: str, lead: str) -> Html:
    """Draw a page's title and the one line under it: what is on the screen."""
    return tag("div", tag("h1", title), tag("p", lead, class_="bx-lead"), class_="bx-heading")


# The place at the end of what a "?" unfolds, where an interface names lessons.
HINT_END = tag("span", class_="bx-hint-end")


def hint(*children: Cell) -> Html:
    """Draw a "?" that unfolds an explanation where it is needed."""
    mark = tag("summary", "?", aria_label="What does this mean?")
    return tag("details", mark, tag("div", *children, HINT_END), class_="bx-hint")


def fold(title: str, *children: Cell, is_open: bool = False) -> Html:
    """Draw a part that folds under its title; on paper it is unfolded."""
    opened = "open" if is_open else None
    return tag("details", tag("summary", visible(title)), *children, class_="bx-fold", open=opened)


def line(*children: Cell) -> Html:
    """Draw a muted line that explains what is above it."""
    return tag("p", *children, class_="bx-line")


def answer(says: Cell, *more: Cell, kind: str = "", about: Cell = "") -> Html:
    """Draw the model's answer in words. It is never called right: the model may be wrong.

    `more` is a quieter line below it, `about` a "?" that says how far to trust it. `kind` is
    "bx-against" for an answer that says no (a dashed edge), "bx-open" for none (a dotted one).
    """
    first = tag("p", tag("span", "The model’s answer: ", class_="bx-quiet"), tag("strong", says))
    second = line(*more) if more else join()
    return tag("div", about, first, second, class_=f"bx-answer {kind}".strip(), role="status")


def small_headline(says: Cell, about: Html) -> Html:
    """Draw the main sentence of a page beside a "?" that explains it."""
    return tag("div", about, tag("p", says), class_="bx-small-headline")


def note(*children: Cell, caution: bool = False) -> Html:
    """Draw a framed note; a caution is framed more heavily, and its words say why."""
    return tag("p", *children, class_="bx-note bx-caution" if caution else "bx-note")


def cautions(says: Iterable[str]) -> tuple[Html, ...]:
    """Draw what must be known about a model first, each in a note of its own."""
    return tuple(note(visible(each), caution=True) for each in says)


def beware(text: str) -> Html:
    """Draw what must not be concluded."""
    return tag("p", tag("strong", "Note: "), text, class_="bx-beware")


def copy_button(label: str) -> Html:
    """Draw a button that copies the address of the page."""
    return tag("button", label, type="button", class_="bx-button", data_copy="address")


def sideways(wide: Html, label: str) -> Html:
    """Let what is too wide for its place scroll in a box of its own, by the keyboard as well."""
    return tag("div", wide, class_="bx-sideways", tabindex=0, role="region", aria_label=label)


def facts(rows: Facts, label: str) -> Html:
    """Draw facts, each as a name and its value."""
    items = [
        tag("li", tag("span", name, class_="bx-fact"), " ", tag("span", visible(value)))
        for name, value in rows
    ]
    return tag("ul", *items, class_="bx-plan", aria_label=label)


def share_bar(share: float) -> Html:
    """Draw a probability as a bar followed by its number."""
    fill = tag("span", class_="bx-share-fill", style=f"width:{share:.2%}")
    return join(
        tag("span", fill, class_="bx-share-track", aria_hidden="true"),
        tag("strong", percent(share), class_="bx-share-number"),
    )


def ticked(ok: bool | None, words: str) -> Html:
    """Draw words with a sign that says the same: a tick, a cross, or a dash for neither."""
    sign, kind = {True: ("✓", "bx-yes"), False: ("✗", "bx-no"), None: ("–", "bx-open")}[ok]
    mark = tag("span", sign, class_="bx-sign", aria_hidden="true")
    return tag("span", mark, " ", words, class_=f"bx-signed {kind}")


def record_table(
    label: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]], *, compact: bool = False
) -> Html:
    """Draw a table; the first cell of each row names the row.

    Values of a `compact` table are short enough to show three side by side on a phone.
    """
    # On a phone the table is drawn as blocks, so browsers stop treating it as a table; the roles
    # prevent that.
    heads = (tag("th", each, scope="col", role="columnheader") for each in columns)
    head = tag("thead", tag("tr", *heads, role="row"), role="rowgroup")
    body = tag("tbody", *(_row(columns, row) for row in rows), role="rowgroup")
    kind = "bx-records bx-compact" if compact else "bx-records"
    return tag("table", head, body, class_=kind, role="table", aria_label=label)


def _row(columns: Sequence[str], row: Sequence[Cell]) -> Html:
    first = tag("th", row[0], scope="row", role="rowheader")
    rest = (
        tag("td", tag("span", cell), role="cell", data_label=column)
        for column, cell in zip(columns[1:], row[1:], strict=True)
    )
    return tag("tr", first, *rest, role="row")


def pick(name: str, value: int, *, stop: bool, element: str = "span") -> dict[str, str | int]:
    """Return the attributes of one part of a group that can be clicked.

    `name` is that of the click in `Screen.clicks` or `Page.picks`, `value` the number that the page
    gets. Tab stops (`stop`) at one part of a group. What is no `button` is announced as one.

    >>> pick("piece", 3, stop=True, element="button")
    {'type': 'button', 'tabindex': 0, 'data_pick': 'piece', 'data_value': 3}
    >>> pick("piece", 3, stop=False)
    {'role': 'button', 'tabindex': -1, 'data_pick': 'piece', 'data_value': 3}
    """
    kind: dict[str, str | int] = {"type": "button"} if element == "button" else {"role": "button"}
    return {**kind, "tabindex": 0 if stop else -1, "data_pick": name, "data_value": value}
