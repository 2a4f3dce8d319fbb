"""The answer to a question on paper."""

from app.features.qa import view_charts as charts
from app.features.qa import view_text as text
from app.features.qa.result import QaResult
from app.words.blocks import hint
from app.words.html import join, tag, visible
from app.words.report import Block, Report


def report(result: QaResult) -> Report:
    """Write the result as it would appear on paper, with everything that the tabs show."""
    blocks: list[Block] = [
        tag("p", tag("strong", "Question: "), visible(result.question)),
        join(hint(*text.explanation(result)), text.passage(result, whole=True)),
        text.windows(result),
        text.trust(result),
        charts.answers(result),
        charts.curves(result, "curves"),
        charts.pairs(result),
    ]
    if len(result.coverage.windows) > 1:
        blocks += [charts.coverage(result), text.coverage_note(result)]
    return Report(text.headline(result), tuple(blocks))
