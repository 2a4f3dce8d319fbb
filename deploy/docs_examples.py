"""An extension of griffe, which reads docstrings for MkDocs: doctests become blocks of code."""

import re
from typing import Any

import griffe

_DOCTEST = re.compile(r"^( *)>>> .*(?:\n *\S.*)*", re.M)


def fenced(text: str) -> str:
    """Put a fence around each doctest of a docstring; MkDocs would take `>>>` for quotations."""
    return _DOCTEST.sub(lambda found: f"{found[1]}```pycon\n{found[0]}\n{found[1]}```", text)


class Examples(griffe.Extension):  # type: ignore[misc]  # griffe is installed for docs only
    """Rewrites the docstring of every object."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Put fences into one docstring; griffe calls this by its name."""
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)
