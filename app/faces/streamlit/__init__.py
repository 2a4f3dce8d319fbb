"""The Streamlit side of the explorer: the frame around pages, and nothing about BERT.

`frame.page_shell` draws what all pages share, `state` keeps texts, `examples` offers ready ones,
`show` puts results on the screen, `files` lets the visitor keep them, `guard` turns
errors into messages, `site` is the menu, `server` starts the process. Pages import from here;
features must not.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.faces.streamlit.frame import Page, page_shell
    from app.faces.streamlit.guard import guarded
    from app.faces.streamlit.show import show_chart, show_html, show_picture, show_table
    from app.faces.streamlit.state import set_text, text_box, undo_button

__all__ = [
    "Page",
    "guarded",
    "page_shell",
    "set_text",
    "show_chart",
    "show_html",
    "show_picture",
    "show_table",
    "text_box",
    "undo_button",
]

_HOMES = {
    "frame": ("Page", "page_shell"),
    "guard": ("guarded",),
    "show": ("show_chart", "show_html", "show_picture", "show_table"),
    "state": ("set_text", "text_box", "undo_button"),
}


def __getattr__(name: str) -> Any:
    """Import a name when a page asks for it: the menu is drawn before PyTorch is imported."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
