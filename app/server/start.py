"""Start the process that serves the site."""

import os
import re
import socket
import sys
import threading
from pathlib import Path

import streamlit as st
from starlette.routing import Route
from starlette.types import ASGIApp

from app.compat.streamlit import (
    SERVER,
    bound_uploads,
    forget_pages_folder,
    page_source,
    use_options,
)
from app.engine.counted import CLASSES as CLASS_ROOMS
from app.engine.counted import PAGES, REACHED
from app.engine.loading import LOADING
from app.faces.api import API, TOOLS, Programs
from app.faces.classroom import CLASS, Classroom
from app.faces.live import LIVE, Live, lab_script
from app.faces.streamlit.messages import OnlyMessages
from app.faces.streamlit.site import DRAWN
from app.records.served import CLASSES, PATH
from app.rooms.store import ROOMS
from app.server.elsewhere import Elsewhere
from app.server.gate import Gate, guarded
from app.server.health import Health, live, numbers, ready
from app.server.later import Loaded, mounted
from app.server.listening import EVERYWHERE, listener
from app.server.nonces import Nonced
from app.server.policy import Policy, admitted, inline_scripts
from app.server.probes import elsewhere
from app.server.running import run
from app.settings import BUNDLED_MODEL, settings
from app.shared import shared
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
_UPLOADS = 64 * 2**20  # bytes of files that pages have not read yet, of all visitors


def serve(script: Path) -> None:
    """Serve the site until the process is stopped.

    What the operator chose is loaded first, so that a server that answers can also compute. The
    bundled model is loaded while pages are already drawn as far as they need none. Port and address
    come from `.streamlit/config.toml`, or from `STREAMLIT_SERVER_PORT` and
    `STREAMLIT_SERVER_ADDRESS`.

    Raises:
        BertError: the address or the model is not available.
    """
    use_options(_overrides(), script.parent / ".streamlit" / "config.toml")
    below = _below(PATH)
    gradio = mounted(DRAWN, below)
    own = below.removesuffix(PATH)
    programs = Programs(gradio, below=own, gradio=below)
    others = Live(Loaded(Nonced(programs)), below=own)
    second = Elsewhere(Classroom(others, below=own), gradio.lifespan)
    CLASSES.set()
    site = st.App(script, lifespan=second.lifespan, routes=[*_watching(), *elsewhere(_below("/"))])
    address, port = st.get_option("server.address") or EVERYWHERE, st.get_option("server.port")
    listener(address, port).close()  # before a model is fetched or loaded
    certificate = _certificate()
    at_once = _is_usual()
    if not at_once:
        from app.server.model import load  # imports PyTorch

        load()
    forget_pages_folder()
    bound_uploads(_UPLOADS)
    begun: list[threading.Thread] = []

    def ready() -> None:
        begun.append(LOADING.begin(lambda: _prepare(load=at_once)))
        _announce(address, port)

    try:
        with listener(address, port) as socket_:
            port = socket_.getsockname()[1]
            run(_gate(site, second, own, address, port), socket_, ready, certificate)
    finally:
        for each in begun:
            each.join()  # Python must not end while a thread is inside PyTorch: it would abort


def _is_usual() -> bool:
    """Return whether the operator left model and device to us, so that neither can be missing."""
    found = settings()
    return found.model == BUNDLED_MODEL and found.device in ("auto", "cpu")


def _prepare(*, load: bool) -> None:
    """Load the model while the server answers; without it, the process ends with one line."""
    from app.server import model  # imports PyTorch

    try:
        if load:
            model.load()
    except BertError as error:
        sys.stderr.write(" ".join(str(error).split()) + "\n")
        os._exit(2)
    model.warm_up()


def _watching() -> list[Route]:
    """Return the addresses for programs that watch the site; numbers if the operator wants them."""
    routes = [
        Route("/livez", live),
        Route("/readyz", ready),
        Route("/healthz", Health(_asked).answer),
    ]
    return [*routes, Route("/metrics", numbers)] if settings().metrics else routes


def _asked() -> str:
    """Let the model answer, once it is there."""
    LOADING.wait()
    from app.engine.models.asking import ask_model

    return ask_model()


def _gate(site: ASGIApp, second: ASGIApp, own: str, address: str, port: int) -> Gate:
    """Return all interfaces behind the checks for strangers."""
    found = settings()
    agents = () if st.get_option("server.enableAgentApi") else (f"{SERVER}/agent",)
    pages = (admitted(lab_script()),)
    policy = Policy(inline_scripts(page_source()), pages, in_space=bool(found.space))
    gate = guarded(
        OnlyMessages(site),
        second,
        (address, port),
        below={
            f"{own}{PATH}": policy.second,
            f"{own}{API}": policy.plain,
            f"{own}{TOOLS}": policy.plain,
            f"{own}{CLASS}": policy.classroom,
            f"{own}{LIVE}": policy.live,
        },
        policy=policy,
        closed=agents if found.metrics else (*agents, "/metrics"),
    )
    PAGES.set_function(lambda: gate.sessions.pages)
    CLASS_ROOMS.set_function(lambda: len(ROOMS.codes))
    REACHED.set_function(lambda: shared().state != "away")
    return gate


def _below(path: str) -> str:
    """Return a path of the site, below the one that the operator chose for the whole of it."""
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    return f"/{base}/{path.lstrip('/')}".replace("//", "/", 1)


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
    path = _below("")
    names = {EVERYWHERE: ("localhost", socket.gethostname()), "::": ("localhost",)}
    for name in names.get(address, (address,)):
        host = f"[{name}]" if ":" in name else name
        sys.stdout.write(f"BERT Explorer, URL: {scheme}://{host}:{port}{path}\n")
    sys.stdout.flush()


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
