"""Tables that become one card per row on a phone; read aloud, they stay tables."""

from collections.abc import Sequence

from app.words.html import Html, tag

Cell = Html | str


def record_table(
    label: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    compact: bool = False,
) -> Html:
    """Draw a table; the first cell of a row names the row.

    Args:
        label: what the table is, for those who do not see it.
        columns: the heads; on a phone each stands at its value.
        rows: cells, as many as there are columns.
        compact: the values are short: on a phone, three of them stand side by side.
    """
    # Drawn as blocks on a phone, a table is none any more for a browser; the roles keep it one.
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


def signed(ok: bool | None, words: str) -> Html:
    """Draw words with a sign that says the same: a tick, a cross, or a dash for neither."""
    sign, kind = {True: ("✓", "bx-yes"), False: ("✗", "bx-no"), None: ("–", "bx-open")}[ok]
    return tag(
        "span", tag("span", sign, class_="bx-sign", aria_hidden="true"), " ", words,
        class_=f"bx-signed {kind}",
    )  # fmt: skip
