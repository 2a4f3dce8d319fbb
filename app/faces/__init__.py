"""Every way to reach the tasks: interfaces that import nothing of each other; all may use `paper`.

>>> from app.faces import ask
>>> answer = ask("tokenizer", "Unbelievable!")
>>> answer.report.headline
'The model reads 2 words as 2 pieces.'

- `paper/`: asking a task, and its answer as JSON, as a file that opens offline, a notebook, text.
- `terminal.py`: `python -m app TASK TEXT`.
- `streamlit/`: the pages.
- `gradio/`: the Gradio interface.
- `api/`: the interface for programs.
- `recorded/`: every example with its results as plain files.
- `batch/`: every row of a file.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.faces.paper.answers import Answer, ask

__all__ = ["Answer", "ask"]


def __getattr__(name: str) -> object:
    """Import `ask` and `Answer` when they are asked for: PyTorch comes along, for seconds."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from app.faces.paper import answers

    return getattr(answers, name)
