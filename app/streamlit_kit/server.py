"""Start the process that serves the site."""

import argparse
import gc
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from app.models import open_engine
from app.models.hub import fetch_at_start, may_be_hub_id
from app.models.shelf import is_there
from app.settings import settings
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
        "--model",
        metavar="MODEL",
        help="what pages start with: a bundled name, a folder, or an id on the Hugging Face Hub",
    )
    parser.add_argument(
        "--models",
        metavar="FOLDER",
        action="append",
        help="a folder whose models visitors may choose; may be given several times",
    )
    given = parser.parse_args(arguments)
    missing = [folder for folder in given.models or [] if not is_there(folder)]
    if given.model and not (is_there(given.model) or may_be_hub_id(given.model)):
        missing.append(given.model)
    if missing:
        parser.error(f"there is no folder {missing[0]}")
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
    bring_model()
    # Until some session has called `st.navigation`, Streamlit makes a menu of its own out of
    # pages/. Without this, a link to a page would show that menu to the first visitor.
    PagesManager.uses_pages_directory = False
    threading.Thread(target=warm_up, name="warm-up", daemon=True).start()
    st.App(script).run(config=_overrides())


def bring_model() -> None:
    """Fetch the model that pages start with, where it is one of the Hub, before anybody comes.

    Raises:
        SystemExit: it cannot be had; the server is not to start on another model.
    """
    model = settings().model
    if not may_be_hub_id(model):
        return
    try:
        folder = fetch_at_start(model, say=_say)
    except BertError as error:
        _say(str(error))
        raise SystemExit(1) from None
    os.environ["BERT_EXPLORER_MODEL"] = str(folder)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


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
