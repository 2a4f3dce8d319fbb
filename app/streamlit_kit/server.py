"""Start the process that serves the site."""

import argparse
import gc
import os
import threading
from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from app.engine import open_engine
from app.engine.shelf import is_there
from bert_core.errors import BertError

# `streamlit run` reads these by itself, `App.run` does not.
_ENVIRONMENT = {
    "STREAMLIT_SERVER_PORT": "server.port",
    "STREAMLIT_SERVER_ADDRESS": "server.address",
    "STREAMLIT_SERVER_BASE_URL_PATH": "server.baseUrlPath",
}


def read_arguments(arguments: Sequence[str]) -> None:
    """Take models from the command line; what is given there wins over the environment.

    Args:
        arguments: those after the script's name.
    """
    parser = argparse.ArgumentParser(prog="app.py", description="Serve BERT Explorer.")
    parser.add_argument(
        "--model", metavar="FOLDER", help="a bundled name or a folder: what pages start with"
    )
    parser.add_argument(
        "--models",
        metavar="FOLDER",
        action="append",
        help="a folder whose models visitors may choose; may be given several times",
    )
    given = parser.parse_args(arguments)
    for folder in (given.models or []) + ([given.model] if given.model else []):
        if not is_there(folder):
            parser.error(f"there is no folder {folder}")
    if given.model:
        os.environ["BERT_EXPLORER_MODEL"] = given.model
    if given.models:
        os.environ["BERT_EXPLORER_MODELS"] = os.pathsep.join(given.models)


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
    threading.Thread(target=warm_up, name="warm-up", daemon=True).start()
    st.App(script).run(config=_overrides())


def _overrides() -> dict[str, str | int]:
    """Read the options of the environment, numbers as numbers."""
    found = {option: os.environ.get(name, "") for name, option in _ENVIRONMENT.items()}
    return {
        option: int(value) if value.isdecimal() else value
        for option, value in found.items()
        if value
    }


def warm_up() -> None:
    """Load the model before the first visitor asks; pages report what is wrong with it.

    Streamlit collects garbage after every run of a page, with everybody waiting. What is loaded
    now stays for good, so the collector need not look at it each time (268,000 objects, most of
    them of the libraries).
    """
    try:
        open_engine().warm_up()
    except BertError:
        return
    finally:
        gc.collect()
        gc.freeze()
