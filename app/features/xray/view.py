"""Pictures of one text on its way through the model."""

from app.features.xray.result import XrayResult
from app.words.html import tag, visible
from app.words.report import Report


def report(result: XrayResult) -> Report:
    """Write the result as it would stand on paper."""
    pieces = tag("p", visible(" ".join(result.tokens)))
    return Report(f"The model reads {len(result.tokens)} pieces.", (pieces,))


def snippet(result: XrayResult, model: str) -> str:
    """Write the same computation in Python."""
    return f"model = {model!r}"
