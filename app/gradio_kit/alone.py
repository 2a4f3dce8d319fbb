"""The face as a program of its own, as a Gradio Space runs it."""

import importlib
import importlib.util
from typing import Any

import gradio as gr
import torch
from gradio.events import api

from app.gradio_kit.face import OPTIONS, build, own_app
from app.gradio_kit.limits import SESSIONS
from app.models import open_engine

_BRIEF = 10  # seconds of the visitor's quota that one call may take


def serve() -> None:
    """Serve the face until the process is stopped.

    The model is loaded first, so a server that answers can also compute.

    Raises:
        BertError: the model cannot be opened.
    """
    open_engine().warm_up()
    face = build()
    lend_gpu(face)
    face.launch(**OPTIONS, app_kwargs=own_app(), share=False, state_session_capacity=SESSIONS)


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
        api(gpu, api_name="gpu", queue=False)
