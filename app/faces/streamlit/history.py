"""The browser's Back and Forward, as far as Python takes part.

`assets/components/bridge.js` makes one entry of the history for each page and text. When the
visitor goes to another entry, Streamlit runs its page with its address, and widgets bound to the
address take their values from there.
"""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx


def by_history() -> bool:
    """Return whether this run was caused by the browser's Back or Forward."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def read_whole_address() -> None:
    """Let widgets see all parameters of the address; call this before the first widget.

    When Back leads to another page, Streamlit drops the parameters that a widget of the page
    before had under the same name, such as `text`, from the browser's address as well.
    """
    context = get_script_run_ctx()
    if context is not None:
        with context.session_state.query_params() as parameters:
            parameters.set_initial_query_params(context.query_string)
            parameters.populate_from_query_string(context.query_string)
        st.query_params.update()  # sends them all to the browser


def write_bound(key: str, text: str) -> None:
    """Put the text of a box into the address when its page is opened; call this after drawing it.

    Streamlit does this itself, except if the box of the page before got its text from the address.
    """
    context = get_script_run_ctx()
    if context is not None:
        with context.session_state.query_params() as parameters:
            if not parameters.stored_param_matches_corrected_value(key, text, "string_value"):
                parameters.set_corrected_value(key, text, "string_value")
