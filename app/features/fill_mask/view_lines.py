"""Many gaps at once: a table, the share of right guesses, and how sure the model was of them."""

import pandas as pd

from app.features.fill_mask.result_lines import GapsResult
from app.features.fill_mask.view import explained
from app.words.format import count, percent, share_of
from app.words.html import visible
from app.words.pictures import listed
from app.words.reliability import reliability_note, reliability_picture
from app.words.screen import Part, Rows, Screen, Table

TITLE, STEPS = "Many gaps", "sentences"

EXAMPLE = {
    "gaps": "She poured the tea into a [MASK]. | cup\nCows eat [MASK]. | grass | hay\n"
    "The [MASK] is brighter than the moon. | sun\nAfter the rain the street was [MASK]. | wet\n"
    "He cut the bread with a [MASK]. | knife\nA week has seven [MASK]. | days"
}
"""What is in the box at first."""

_MORE = (
    "The percentages after “others of the kind” are a 95 % interval (Wilson): what to expect of "
    "other gaps like these. Rank 1 is the first guess."
)


def screen(result: GapsResult, _: str = "") -> Screen:
    """Say what is shown."""
    table, said = gaps_table(result), gaps_summary(result)
    parts: list[Part] = [Table(table, said, "gaps_table")]
    if found := result.reliability:
        name = "fill-mask-reliability"
        parts += [
            reliability_picture([found], name, intervals=True),
            reliability_note("Vertical lines: 95 % intervals; the fewer the answers, the longer."),
        ]
    rows = Rows("Many gaps", lambda: table, "fill-mask-gaps", json=True)
    return Screen(said, (*parts, rows), answer=explained(said, more=_MORE))


def gaps_table(result: GapsResult) -> pd.DataFrame:
    """Return all gaps with the guess and the wanted word; line and gap, if a line has several."""
    words = {True: "yes", False: "no", None: "–"}
    table = listed(
        (
            (row.line, row.number, visible(row.text), visible(row.guess), words[row.right],
             row.probability, visible(row.wanted), row.rank, row.wanted_probability)
            for row in result.rows
        ),
        ("line", "gap", "sentence", "guess", "right", "probability", "wanted", "its rank",
         "its probability"),
    )  # fmt: skip
    single = all(row.number == 1 for row in result.rows)
    return table.drop(columns=["line", "gap"]) if single else table


def gaps_summary(result: GapsResult) -> str:
    """Count the right guesses, and the gaps that are not counted."""
    share, left = result.share, [row for row in result.rows if row.right is None]
    unspelled = sum(bool(row.wanted) for row in left)
    said = [f"The model fills {count(len(result.rows), 'gap')}."]
    if found := result.reliability:
        said = [
            f"{percent(share.right / share.cases, counted=True)} of the first guesses are right: "
            f"{share_of(share.right, share.cases)}.",
            f"On average the model is {percent(found.stated)} sure of them.",
        ]
    if unspelled:
        said.append(
            f"Not counted: {count(unspelled, 'gap')} whose wanted word is not one piece of this "
            "vocabulary, so that no single mask can hold it."
        )
    if found and len(left) > unspelled:
        said.append(f"Without a wanted word: {count(len(left) - unspelled, 'gap')}.")
    return " ".join(said)
