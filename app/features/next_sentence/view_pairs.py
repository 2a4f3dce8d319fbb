"""Many pairs of sentences at once, as a table."""

from collections.abc import Sequence

import pandas as pd

from app.features.next_sentence.result_pairs import PairScore, PairsResult
from app.words.blocks import line
from app.words.format import count
from app.words.html import visible
from app.words.pictures import listed
from app.words.screen import Rows, Screen, Table

TITLE, STEPS = "Many pairs", "pairs"

EXAMPLE = {
    "pairs": "She opened the window.\tCold air came in.\n"
    "She opened the window.\tCopper conducts electricity well.\n"
    "The bus did not come.\tSo we walked home."
}
"""What is in the box at first."""


def screen(result: PairsResult, _: str = "") -> Screen:
    """Say what is shown."""
    table, said = pairs_table(result.rows), pairs_summary(result.rows)
    rows = Rows("Many pairs", lambda: table, "next-sentence-pairs", json=True)
    return Screen(said, (Table(table, said, "pairs_table"), rows), answer=line(said))


def pairs_table(rows: Sequence[PairScore]) -> pd.DataFrame:
    """Return all pairs with their scores."""
    return listed(
        (
            (
                visible(row.first), visible(row.second),
                "follows" if row.logits[0] >= row.logits[1] else "does not",
                row.follows, *row.logits[:2], row.cut, row.unread,
            )
            for row in rows
        ),
        (
            "first", "second", "answer", "probability of follows", "logit of follows",
            "logit of does not follow", "pieces cut", "partly unread",
        ),
    )  # fmt: skip


def pairs_summary(rows: Sequence[PairScore]) -> str:
    """Count the answers in one sentence."""
    yes = sum(row.logits[0] >= row.logits[1] for row in rows)
    return f"The model says “follows” for {yes:,} of {count(len(rows), 'pair')}."
