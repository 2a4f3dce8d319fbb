"""Start the process that serves the site."""

import errno
import gc
import os
import re
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.bootstrap import load_config_options

from app.compute.device import chosen_device
from app.models import open_engine
from app.models.copies import remove_all_leftovers
from app.models.hub import fetch_at_start, may_be_hub_id
from app.models.shelf import is_there
from app.settings import BUNDLED_MODEL, settings
from bert_core.errors import BertError, ConfigError

# `streamlit run` reads these by itself, `App.run` does not.
_ENVIRONMENT = {
    "STREAMLIT_SERVER_PORT": "server.port",
    "STREAMLIT_SERVER_ADDRESS": "server.address",
    "STREAMLIT_SERVER_BASE_URL_PATH": "server.baseUrlPath",
}
_NUMBER = re.compile(r"[0-9]{1,9}")
_EVERYWHERE = "0.0.0.0"  # where Streamlit listens if no address is given
_PORT_TROUBLE: dict[int | None, str] = {
    errno.EADDRINUSE: "is in use",
    errno.EACCES: "is reserved by the system",
}


def serve(script: Path) -> None:
    """Serve the site until the process is stopped.

    The model is loaded first, so a server that answers can also compute. Port and address come from
    `.streamlit/config.toml`, or from `STREAMLIT_SERVER_PORT` and `STREAMLIT_SERVER_ADDRESS`.

    Args:
        script: the entry script, which Streamlit runs once per visit.

    Raises:
        BertError: the address or the model is not available.
    """
    site = st.App(script)
    options = _overrides()
    load_config_options(options)
    check_address(st.get_option("server.address") or _EVERYWHERE, st.get_option("server.port"))
    chosen_device()
    bring_model()
    with suppress(OSError):
        remove_all_leftovers()
    open_first()
    # Until a session has called `st.navigation`, Streamlit builds its own menu from pages/.
    # Without this, the first visitor to follow a link to a page would see that menu.
    PagesManager.uses_pages_directory = False
    warming = threading.Thread(target=warm_up, name="warm-up", daemon=True)
    warming.start()
    try:
        site.run(config=options)
    finally:
        warming.join()  # Python must not end while a thread is inside PyTorch: it would abort


def check_address(address: str, port: object) -> None:
    """Check that the server can listen on its address, before a model is fetched or loaded.

    Raises:
        ConfigError: it cannot; the message says what to do.
    """
    if not isinstance(port, int) or not 0 <= port <= 65_535:
        raise ConfigError(
            f"The port is {str(port)[:20]!r}; expected a number from 1 to 65535, or 0 for any free "
            "port (STREAMLIT_SERVER_PORT)."
        )
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            if os.name != "nt":  # there it would report a port in use as free
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((address, port))
    except (OSError, TypeError, UnicodeError) as error:  # the last two: invalid host name
        raise ConfigError(_why_not(error, address, port)) from None


def _why_not(error: Exception, address: str, port: int) -> str:
    """Explain why the server cannot listen on an address."""
    number = error.errno if isinstance(error, OSError) else None
    if number in _PORT_TROUBLE:
        return (
            f"Port {port} of {address} {_PORT_TROUBLE[number]}. Choose another one, or 0 for any "
            "free port (STREAMLIT_SERVER_PORT)."
        )
    return (
        f"The address is {address!r}; expected one of this machine: 127.0.0.1 for visitors on "
        f"this machine alone, {_EVERYWHERE} for others too (STREAMLIT_SERVER_ADDRESS)."
    )


def bring_model() -> None:
    """Make sure that the default model is available; download it if it is an id on the Hub.

    Raises:
        BertError: it is not available; the server must not start with another model.
    """
    model = settings().model
    if may_be_hub_id(model):
        os.environ["BERT_EXPLORER_MODEL"] = str(fetch_at_start(model, say=_say))
    elif not (is_there(model) or Path(model).expanduser().exists()):
        raise ConfigError(
            f"There is no model {model} (BERT_EXPLORER_MODEL, --model); expected {BUNDLED_MODEL}, "
            "a folder, or an id on the Hugging Face Hub: owner/name."
        )


def open_first() -> None:
    """Load the default model.

    Raises:
        ConfigError: it cannot be opened; the message says why.
    """
    try:
        open_engine()
    except BertError as error:
        raise ConfigError(f"The model {settings().model} cannot be opened: {error}") from None


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _overrides() -> dict[str, str | int]:
    """Read options from the environment, converting numbers."""
    found = {option: os.environ.get(name, "") for name, option in _ENVIRONMENT.items()}
    return {
        option: int(value) if _NUMBER.fullmatch(value) else value
        for option, value in found.items()
        if value
    }


def warm_up() -> None:
    """Run the model once before the first visitor arrives; pages report what is wrong with it.

    While Python collects garbage, all visitors wait. Objects loaded by now stay for good, so they
    are excluded from collection (268,000 objects, most of them from libraries).
    """
    with suppress(BertError):
        open_engine().warm_up()
    gc.collect()
    gc.freeze()
