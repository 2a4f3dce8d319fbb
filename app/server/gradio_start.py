"""The interface as a program of its own, as a Gradio Space runs it."""

import importlib
import importlib.util
import os
import sys
from typing import Any

import gradio as gr
import torch
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from app import log
from app.engine.models import open_engine
from app.faces.api import Programs
from app.faces.gradio.face import OPTIONS, SESSIONS, at_path, build, own_app
from app.faces.live import LIVE, Live, lab_script
from app.server.gate import Gate, Headers, guarded
from app.server.listening import listener
from app.server.nonces import Nonced
from app.server.policy import Policy, admitted
from app.server.running import run
from app.settings import settings

_BRIEF = 10  # seconds of the visitor's quota that one call may take
_VARIABLES = "GRADIO_SERVER_NAME", "GRADIO_SERVER_PORT"
_ADDRESS, _PORT = "127.0.0.1", "7860"


def serve() -> None:
    """Serve the interface, once its model is loaded, until the process is stopped.

    Raises:
        BertError: the address or the model is not available.
    """
    address, port = map(os.environ.get, _VARIABLES, (_ADDRESS, _PORT))
    number = int(port) if port.isdecimal() else port
    with listener(address, number, _VARIABLES) as socket_:
        open_engine().warm_up()
        face = build()
        lend_gpu(face)
        number = socket_.getsockname()[1]
        if os.environ.get("SPACES_ZERO_GPU"):
            socket_.close()
            _launch(face, address, number)
            return

        def ready() -> None:
            sys.stdout.write(f"BERT Explorer, URL: http://{address}:{number}\n")
            sys.stdout.flush()

        run(_gated(at_path(face, "/"), address, number), socket_, ready)


def _launch(face: gr.Blocks, address: str, port: int) -> None:
    """Serve it with Gradio's own server: ZeroGPU begins to lend when that is launched."""
    log.begin(as_json=settings().log_json)
    app = own_app(face)
    gate = Middleware(_gated, address=address, port=port)
    app["middleware"] = [gate, *app["middleware"]]
    face.launch(
        **OPTIONS,
        app_kwargs=app,
        server_name=address,
        server_port=port,
        share=False,
        state_session_capacity=SESSIONS,
    )


def _gated(app: ASGIApp, address: str, port: int) -> Gate:
    """Return the interface behind the checks for strangers."""
    whole = Live(Nonced(Programs(app, below="", gradio="")), below="")
    policy = Policy(pages=(admitted(lab_script()),), in_space=bool(settings().space))
    below: dict[str, Headers] = {LIVE: policy.live, "": policy.second}
    return guarded(app, whole, (address, port), below=below, policy=policy)


def lend_gpu(face: gr.Blocks) -> None:
    """Add the endpoint `/gpu`, if this is a Space whose GPU is lent call by call (ZeroGPU).

    Such a Space does not start without a function that asks for a GPU. A model of this size answers
    on the processor before a GPU has been lent, so the pages ask for none.
    """
    if importlib.util.find_spec("spaces") is None:
        return
    spaces: Any = importlib.import_module("spaces")

    @spaces.GPU(duration=_BRIEF)  # type: ignore[untyped-decorator]
    def gpu() -> str:
        """Ask for a GPU and name it; nothing else on this Space uses one.

        Returns:
            its name
        """
        return torch.cuda.get_device_name() if torch.cuda.is_available() else "none"

    with face:
        gr.api(gpu, api_name="gpu", queue=False)  # type: ignore[attr-defined]
