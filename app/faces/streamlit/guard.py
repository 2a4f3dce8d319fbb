"""Error handling: what the visitor sees and what is logged when something goes wrong."""

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from app.log import cause
from app.words.html import plain
from bert_core.errors import BertError, InputError

_LOG = logging.getLogger("app")


@contextmanager
def guarded() -> Iterator[None]:
    """Turn errors of the block into a message; the page goes on below it.

    An `InputError`, which the visitor can fix, shows as a warning; any other `BertError` shows as
    an error box. Everything else is our bug: the visitor gets an apology with a number, and the
    log gets the same number with its `cause`. Messages of unknown errors are not logged,
    because they may quote what the visitor typed.
    """
    try:
        yield
    except InputError as error:
        st.warning(plain(str(error)), icon=":material/edit:")
    except BertError as error:
        st.error(plain(str(error)), icon=":material/error:")
    except Exception as error:  # noqa: BLE001 - the last line of defence of a page
        number = secrets.token_hex(4)
        _LOG.error("error %s: %s", number, cause(error))
        st.error(
            f"Sorry, something went wrong on our side. It is logged as **{number}**, without what "
            "you typed. Try another text or reload the page.",
            icon=":material/bug_report:",
        )
