"""Start the process that serves the site."""

import threading
from pathlib import Path

import streamlit as st

from app.engine import open_engine
from bert_core.errors import BertError


def serve(script: Path) -> None:
    """Serve the site until the process is stopped, and load the model meanwhile.

    Args:
        script: the entry script, which Streamlit runs once per visit.
    """
    threading.Thread(target=_warm_up, name="warm-up", daemon=True).start()
    st.App(script).run()


def _warm_up() -> None:
    """Load the model before the first visitor asks; pages report what is wrong with it."""
    try:
        open_engine()
    except BertError:
        return
