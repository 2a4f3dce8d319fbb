"""Error handling: what the visitor sees and what is logged when something goes wrong."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from app.engine.calls import apology
from app.words.html import plain
from bert_core.errors import BertError, InputError


@contextmanager
def guarded() -> Iterator[None]:
    """Turn errors of the block into a message; the page goes on below it.

    An `InputError`, which the visitor can fix, shows as a warning; any other `BertError` shows as
    an error box. Everything else is our bug (`apology`).
    """
    try:
        yield
    except InputError as error:
        st.warning(plain(str(error)), icon=":material/edit:")
    except BertError as error:
        st.error(plain(str(error)), icon=":material/error:")
    except Exception as error:  # noqa: BLE001 - the last line of defence of a page
        st.error(apology(error), icon=":material/bug_report:")
