"""The settings of the entity tagger."""

from app.faces.streamlit.controls import choose_some, level
from app.faces.streamlit.frame import Page
from app.features.ner.result import NerResult


def view_settings(_: Page, result: NerResult) -> dict[str, object]:
    """Let the visitor choose which entities are shown."""
    only = choose_some("Show only (none chosen: all)", result.labels.kinds, key="only")
    least = level("Hide scores below", (0.0, 1.0), key="least", default=0.0)
    return {"selection": result.select(least=least, only=only)}
