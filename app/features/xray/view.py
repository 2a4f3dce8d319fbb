"""The X-ray of a text on paper and in Python."""

from app.features.xray.result import Ranking, XrayResult
from app.features.xray.view_overview import overview
from app.features.xray.view_switches import ranking_line, ranking_picture
from app.features.xray.view_words import MEAN, headline
from app.words.blocks import line
from app.words.report import Block, Report


def report(result: XrayResult, head: str = MEAN, ranking: Ranking | None = None) -> Report:
    """Write the result as it would stand on paper.

    Args:
        result: the text in the model.
        head: the head whose threads are drawn; see `overview`.
        ranking: of all parts; None for that of the result.
    """
    ranked = ranking.parts if ranking else result.ranking
    blocks: list[Block] = [overview(result, head), line(f"Followed: {result.question.target}.")]
    if ranked:
        mode = ranking.mode if ranking else result.mode
        blocks += [ranking_line(result, ranked, mode), ranking_picture(result, ranked)]
    return Report(headline(result), tuple(blocks))


def snippet(result: XrayResult, model: str) -> str:
    """Write the same computation in Python."""
    return f"model = {model!r}"
