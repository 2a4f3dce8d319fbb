"""The Streamlit side of the explorer: the frame around pages, and nothing about BERT.

`frame.page_shell` draws what all pages share, `state` keeps texts, `examples` offers ready ones,
`show` puts results on the screen, `guard` turns errors into messages, `site` and `home` are the
menu and the first page, `server` starts the process. Pages import from here; `app.tasks` must not.
"""

from app.streamlit_kit.examples import examples_row
from app.streamlit_kit.frame import Page, page_shell
from app.streamlit_kit.guard import guarded
from app.streamlit_kit.show import show_chart, show_html, show_table
from app.streamlit_kit.state import send_row, set_text, text_box, undo_button

__all__ = [
    "Page",
    "examples_row",
    "guarded",
    "page_shell",
    "send_row",
    "set_text",
    "show_chart",
    "show_html",
    "show_table",
    "text_box",
    "undo_button",
]
