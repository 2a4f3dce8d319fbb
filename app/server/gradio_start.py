"""The interface as a program of its own, as a Gradio Space runs it."""

import os
import sys

from starlette.types import ASGIApp

from app.engine.models import open_engine
from app.faces.api import Programs
from app.faces.gradio.face import at_path, build
from app.faces.live import LIVE, Live, lab_script
from app.server.gate import Gate, Headers, guarded
from app.server.listening import listener
from app.server.nonces import Nonced
from app.server.policy import Policy, admitted
from app.server.running import run
from app.settings import settings

_VARIABLES = "GRADIO_SERVER_NAME", "GRADIO_SERVER_PORT"
_ADDRESS, _PORT = "127.0.0.1", "7860"


def serve() -> None:
    """Serve the interface, once its model is loaded, until the process is stopped.

    Raises:
        BertError: the address or the model is not available.
    """
    address, port = map(os.environ.get, _VARIABLES, (_ADDRESS, _PORT))
    with listener(address, int(port) if port.isdecimal() else port, _VARIABLES) as socket_:
        open_engine().warm_up()
        number = socket_.getsockname()[1]

        def ready() -> None:
            sys.stdout.write(f"BERT Explorer, URL: http://{address}:{number}\n")
            sys.stdout.flush()

        run(gated(at_path(build(), "/"), address, number), socket_, ready)


def gated(app: ASGIApp, address: str, port: int) -> Gate:
    """Return the interface behind the checks for strangers."""
    whole = Live(Nonced(Programs(app, below="", gradio="")), below="")
    policy = Policy(pages=(admitted(lab_script()),), in_space=bool(settings().space))
    below: dict[str, Headers] = {LIVE: policy.live, "": policy.second}
    return guarded(app, whole, (address, port), below=below, policy=policy)
