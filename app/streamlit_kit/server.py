"""Start the process that serves the site."""

import os
import threading
from pathlib import Path

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from app.engine import open_engine
from bert_core.errors import BertError

# `streamlit run` reads these by itself, `App.run` does not.
_ENVIRONMENT = {
    "STREAMLIT_SERVER_PORT": "server.port",
    "STREAMLIT_SERVER_ADDRESS": "server.address",
    "STREAMLIT_SERVER_BASE_URL_PATH": "server.baseUrlPath",
}


def serve(script: Path) -> None:
    """Serve the site until the process is stopped, and load the model meanwhile.

    Port and address come from `.streamlit/config.toml`, or from `STREAMLIT_SERVER_PORT` and
    `STREAMLIT_SERVER_ADDRESS`.

    Args:
        script: the entry script, which Streamlit runs once per visit.
    """
    # Until some session has called `st.navigation`, Streamlit makes a menu of its own out of
    # pages/. Without this, a link to a page would show that menu to the first visitor.
    PagesManager.uses_pages_directory = False
    threading.Thread(target=_warm_up, name="warm-up", daemon=True).start()
    st.App(script).run(config=_overrides())


def _overrides() -> dict[str, str | int]:
    """Read the options of the environment, numbers as numbers."""
    found = {option: os.environ.get(name, "") for name, option in _ENVIRONMENT.items()}
    return {
        option: int(value) if value.isdecimal() else value
        for option, value in found.items()
        if value
    }


def _warm_up() -> None:
    """Load the model before the first visitor asks; pages report what is wrong with it."""
    try:
        open_engine().warm_up()
    except BertError:
        return
