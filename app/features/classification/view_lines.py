"""Many texts at once, as a table."""

from collections.abc import Sequence

import pandas as pd

from app.features.classification.result import ClassificationResult, LinesResult
from app.words.format import count
from app.words.html import visible
from app.words.screen import Rows, Screen, Table

TITLE, STEPS = "Many texts", "texts"

EXAMPLE = {
    "lines": "I could not put it down.\nThe battery died after a week.\nIt arrived on Tuesday."
}
"""What is in the box at first."""


def screen(result: LinesResult, _: str = "") -> Screen:
    """Say what is shown."""
    table = lines_table(result.rows)
    return Screen(
        f"The model reads {count(len(table), 'text')}.",
        (
            Table(table, "The texts and their labels.", "texts"),
            Rows("Many texts", lambda: table, "classification-texts", json=True),
        ),
    )


def lines_table(rows: Sequence[ClassificationResult]) -> pd.DataFrame:
    """Return many texts, each with the model's answer and the scores of its labels."""
    first = rows[0]
    table: dict[str, list[object]] = {
        "text": [visible(row.encoding.text) for row in rows],
        "second text": [visible(row.encoding.text_pair or "") for row in rows],
        "answer": [", ".join(map(visible, row.chosen)) for row in rows],
        **{visible(name): [row.scores[n] for row in rows] for n, name in enumerate(first.labels)},
        "pieces cut": [row.encoding.truncated for row in rows],
        "partly unread": [row.unread.anything for row in rows],
    }
    unused = ["second text"] if not any(table["second text"]) else []
    unused += ["answer"] if first.kind == "regression" else []
    return pd.DataFrame(table).drop(columns=unused)
