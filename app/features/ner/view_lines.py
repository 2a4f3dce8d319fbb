"""The names in many sentences: a table, and how well they agree with names in brackets."""

import pandas as pd

from app.features.ner.result_lines import NamesResult
from app.features.ner.view_agreement import differences_table, kinds, outcome
from app.features.ner.view_text import score, short_table
from app.words.blocks import line
from app.words.format import count
from app.words.html import visible
from app.words.pictures import listed
from app.words.screen import Part, Rows, Screen, Table

TITLE = "Many sentences"

EXAMPLE = {
    "sentences": "[PER Clara Meyer] moved from [LOC Vienna] to [LOC Lisbon].\n"
    "The train to [LOC Bergen] was late.\n[PER Omar Haddad] works for [ORG Northern Rail].\n"
    "It rained all day."
}
"""What is in the box at first."""


def screen(result: NamesResult, _: str = "") -> Screen:
    """Say what is shown."""
    table, said = names_table(result), summary(result)
    parts: list[Part] = [Table(table, said, "names_table")]
    if found := result.agreement:
        rows = differences_table(found)
        parts.append(kinds(found, "names-kinds"))
        parts += [short_table(rows, said, "names-differences")] if len(rows) else []
    files = Rows("Many sentences", lambda: table, "ner-sentences", json=True)
    told = outcome(found) if found else line(f"{said} No name is in brackets to compare with.")
    return Screen(said, (*parts, files), answer=told)


def names_table(result: NamesResult) -> pd.DataFrame:
    """Return all sentences with the names found and wanted."""
    found = [
        [f"{visible(n.label)} {visible(n.text)} {score(n.score)}" for n in row.found]
        for row in result.rows
    ]
    wanted = [
        [f"{visible(n.kind)} {visible(row.text[n.start : n.end])}" for n in row.wanted]
        for row in result.rows
    ]
    right = ["–" if not result.agreement else "yes" if row.right else "no" for row in result.rows]
    texts = [visible(row.text) for row in result.rows]
    return listed(
        zip(texts, map("; ".join, found), map("; ".join, wanted), right, strict=True),
        ("sentence", "names found", "names wanted", "all right"),
    )


def summary(result: NamesResult) -> str:
    """Count the names."""
    found = sum(len(row.found) for row in result.rows)
    sentences = count(len(result.rows), "sentence")
    said = f"The model finds {count(found, 'name')} in {sentences}."
    if result.agreement is None:
        return said
    total = result.agreement.total
    return f"{said} {total.right:,} of {count(total.annotated, 'wanted name')} among them."
