"""Start the process that serves the site."""

import gc
import os
import re
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path

import streamlit as st
from starlette.routing import Route
from starlette.types import ASGIApp
from streamlit.file_util import get_static_dir
from streamlit.runtime.pages_manager import PagesManager
from streamlit.url_util import make_url_path
from streamlit.web.bootstrap import load_config_options

from app.engine.compute.device import chosen_device
from app.engine.compute.recent import RECENT
from app.engine.models import open_engine
from app.engine.models.asking import ask_model
from app.engine.models.copies import remove_all_leftovers
from app.engine.models.hub import fetch_at_start, may_be_hub_id
from app.engine.models.shelf import is_there
from app.engine.models.usable import refusals
from app.faces.api import API, TOOLS, Programs
from app.faces.streamlit.messages import OnlyMessages
from app.faces.streamlit.site import DRAWN
from app.records.served import PATH
from app.server.elsewhere import Elsewhere
from app.server.gate import Gate
from app.server.health import Health
from app.server.heaps import give_back, share_heaps
from app.server.later import mounted
from app.server.listening import EVERYWHERE, listener
from app.server.names import names_of
from app.server.nonces import Nonced
from app.server.policy import Policy, inline_scripts
from app.server.probes import elsewhere
from app.server.running import affordable, configured, run
from app.server.sessions import Sessions, own_cookies
from app.settings import BUNDLED_MODEL, settings
from bert_core.errors import BertError, ConfigError

# `streamlit run` reads these by itself, `App.run` does not.
_ENVIRONMENT = {
    "STREAMLIT_SERVER_PORT": "server.port",
    "STREAMLIT_SERVER_ADDRESS": "server.address",
    "STREAMLIT_SERVER_BASE_URL_PATH": "server.baseUrlPath",
    "STREAMLIT_SERVER_SSL_CERT_FILE": "server.sslCertFile",
    "STREAMLIT_SERVER_SSL_KEY_FILE": "server.sslKeyFile",
}
_NUMBER = re.compile(r"[0-9]{1,9}")


def serve(script: Path) -> None:
    """Serve the site until the process is stopped.

    The model is loaded first, so a server that answers can also compute. Port and address come from
    `.streamlit/config.toml`, or from `STREAMLIT_SERVER_PORT` and `STREAMLIT_SERVER_ADDRESS`.

    Args:
        script: the entry script, which Streamlit runs once per visit.

    Raises:
        BertError: the address or the model is not available.
    """
    share_heaps()
    load_config_options(_overrides())
    below = make_url_path(st.get_option("server.baseUrlPath"), PATH)
    gradio = mounted(DRAWN, below)
    own = below.removesuffix(PATH)
    programs = Programs(gradio, below=own, gradio=below)
    second = Elsewhere(Nonced(programs), gradio.lifespan)
    health = Route("/healthz", Health(ask_model).answer)
    below_pages = elsewhere(make_url_path(st.get_option("server.baseUrlPath"), "/"))
    site = st.App(script, lifespan=second.lifespan, routes=[health, *below_pages])
    address, port = st.get_option("server.address") or EVERYWHERE, st.get_option("server.port")
    listener(address, port).close()  # before a model is fetched or loaded
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
    give_back(RECENT.drop_old)
    try:
        with listener(address, port) as socket_:
            port = socket_.getsockname()[1]
            gate = _gate(site, second, own, address, port)
            config = configured(
                gate,
                affordable(settings().connections),
                _certificate(),
                in_space=bool(settings().space),
            )
            run(config, socket_, ready=lambda: _announce(address, port))
    finally:
        warming.join()  # Python must not end while a thread is inside PyTorch: it would abort


def _gate(site: ASGIApp, second: ASGIApp, own: str, address: str, port: int) -> Gate:
    """Return all faces behind the checks for strangers."""
    found = settings()
    page = Path(get_static_dir(), "index.html").read_text(encoding="utf-8")
    agents = () if st.get_option("server.enableAgentApi") else ("/_stcore/agent",)
    policy = Policy(inline_scripts(page), in_space=bool(found.space))
    return Gate(
        OnlyMessages(site),
        second,
        below={
            f"{own}{PATH}": policy.second,
            f"{own}{API}": policy.plain,
            f"{own}{TOOLS}": policy.plain,
        },
        names=names_of(address, port, socket.gethostname(), found.hosts + found.space),
        policy=policy,
        cookies=own_cookies(),
        sessions=Sessions(found.tabs, found.sessions, found.streams),
        closed=agents if found.metrics else (*agents, "/_stcore/metrics"),
    )


def _certificate() -> tuple[str, str] | None:
    """Return the files of the certificate for https, if the operator gave both to Streamlit."""
    files = st.get_option("server.sslCertFile"), st.get_option("server.sslKeyFile")
    if bool(files[0]) != bool(files[1]):
        raise ConfigError(
            "One of STREAMLIT_SERVER_SSL_CERT_FILE and STREAMLIT_SERVER_SSL_KEY_FILE is set; "
            "expected both or neither."
        )
    return files if files[0] else None


def _announce(address: str, port: int) -> None:
    """Say where the site is; nothing outside is asked for it."""
    scheme = "https" if _certificate() else "http"
    path = make_url_path(st.get_option("server.baseUrlPath"), "")
    names = {EVERYWHERE: ("localhost", socket.gethostname()), "::": ("localhost",)}
    for name in names.get(address, (address,)):
        host = f"[{name}]" if ":" in name else name
        sys.stdout.write(f"BERT Explorer, URL: {scheme}://{host}:{port}{path}\n")
    sys.stdout.flush()


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
    if os.environ.get("SPACE_HOST"):
        # A Space is shown in a frame of another site, over https: its cookie must be sent there.
        found["server.xsrfCookieSameSite"] = "none"
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
    try:
        with suppress(BertError):
            open_engine().warm_up()
            refusals()
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()  # off since the start of `app.py`
