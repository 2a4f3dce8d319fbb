"""Many questions about one passage, as a table."""

import pandas as pd

from app.features.qa.result_lines import QuestionsResult
from app.words.blocks import hint
from app.words.format import count, percent, share_of
from app.words.html import tag, visible
from app.words.pictures import listed
from app.words.screen import Rows, Screen, Table

TITLE = "Many questions"

EXAMPLE = {
    "text": "Mara took the ferry to visit her uncle Tom. The crossing lasted only forty minutes. "
    "Tom was waiting at the harbour with his green bicycle.",
    "questions": "Who took the ferry? | Mara\nHow long did the crossing last? | forty minutes\n"
    "Where was Tom waiting? | at the harbour | the harbour\nWhat colour was the bicycle? | green\n"
    "How old is Tom? | -",
}
"""What is in the boxes at first."""

_MORE = (
    "An answer is right if it is a wanted one without capitals, punctuation and “a”, “an”, “the”. "
    "F1 compares words: 100 % for the same words, less for some too many or too few. The "
    "percentages after “others of the kind” are a 95 % interval (Wilson)."
)


def screen(result: QuestionsResult, _: str = "") -> Screen:
    """Say what is shown."""
    table, said = questions_table(result), summary(result)
    rows = Rows("Many questions", lambda: table, "qa-questions", json=True)
    told = tag("div", hint(_MORE), said, class_="bx-line")
    return Screen(said, (Table(table, said, "questions_table"), rows), answer=told)


def questions_table(result: QuestionsResult) -> pd.DataFrame:
    """Return all questions with their answers."""
    words = {True: "yes", False: "no", None: "–"}
    return listed(
        (
            (visible(row.question), visible(row.answer) or "(no answer)", words[row.exact],
             row.probability, row.no_answer, visible(row.wanted), row.f1, visible(row.best))
            for row in result.rows
        ),
        ("question", "answer", "right", "probability", "no-answer probability", "wanted", "F1",
         "best span"),
    )  # fmt: skip


def summary(result: QuestionsResult) -> str:
    """Count the right answers."""
    share, asked = result.share, count(len(result.rows), "question")
    if not share.cases:
        none = sum(not row.answer for row in result.rows)
        return f"{asked}; for {none:,} the model says that the passage has no answer."
    left = len(result.rows) - share.cases
    return (
        f"{percent(share.right / share.cases, counted=True)} of the answers are right: "
        f"{share_of(share.right, share.cases)}. Mean F1: {percent(result.f1, counted=True)}."
        + (f" Without a wanted answer: {count(left, 'question')}." if left else "")
    )
