"""The answer to a question on paper."""

from app.features.qa import view_charts as charts
from app.features.qa import view_text as text
from app.features.qa.result import QaResult
from app.words.blocks import hint
from app.words.html import join, tag, visible
from app.words.notes import unread_note
from app.words.report import Block
from app.words.screen import Screen


def screen(result: QaResult) -> Screen:
    """Say what is shown."""
    blocks: list[Block] = [
        tag("p", tag("strong", "Question: "), visible(result.question)),
        join(hint(*text.explanation(result)), text.passage(result, whole=True)),
        text.windows(result),
        text.shared(result),
        charts.answers(result),
        charts.curves(result, "curves"),
        charts.pairs(result),
    ]
    return Screen(text.headline(result), tuple(blocks), first=(unread_note(result.unread),))
