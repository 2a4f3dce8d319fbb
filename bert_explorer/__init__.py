"""Look inside BERT: the site `bert-explorer` starts, and the same answers in a notebook.

`ask` gives the answer of a page about a model by its name or folder, `explore` about a model that
is already in memory.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.faces.paper.answers import ask as ask
    from app.faces.paper.explored import explore as explore

__all__ = ["ask", "explore"]


def __getattr__(name: str) -> Any:
    """Import what is used, when it is used: PyTorch takes seconds."""
    if name == "ask":
        from app.faces.paper.answers import ask

        return ask
    if name == "explore":
        from app.faces.paper.explored import explore

        return explore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
