"""`python gradio_app.py`: the interface alone, as a Space runs it."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import gradio as gr
import httpx
import pytest
from gradio_client import Client
from starlette.types import ASGIApp

from app.declared import all_declared
from app.faces.gradio.face import at_path, build
from app.server.gradio_start import _gated, lend_gpu
from tests.stores import free_port
from tests.strangers import running

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 180  # seconds; importing Gradio takes several even on a quiet machine


FACES: list[gr.Blocks] = []


class Lent:
    """A substitute for the package that lends GPUs."""

    __spec__ = object()
    seconds: ClassVar[list[int]] = []

    @classmethod
    def GPU(cls, duration: int) -> Callable[[Any], Any]:
        cls.seconds.append(duration)
        return lambda function: function


@pytest.fixture(scope="module")
def app() -> ASGIApp:
    async def built() -> ASGIApp:  # in a running loop: without one, Gradio leaves dozens open
        FACES.append(build())
        return at_path(FACES[0], "/")

    return asyncio.run(built())


def names(face: gr.Blocks) -> list[str | None]:
    """The names of the public endpoints, after the call that may add one."""

    async def lent() -> None:
        lend_gpu(face)

    asyncio.run(lent())
    return [each.api_name for each in face.fns.values() if each.api_visibility == "public"]


def test_an_endpoint_asks_for_a_gpu_only_where_gpus_are_lent(
    app: ASGIApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    (face,) = FACES
    slugs = [each.feature.slug for each in all_declared()]
    assert names(face) == slugs
    monkeypatch.setitem(sys.modules, "spaces", Lent)
    assert names(face) == [*slugs, "gpu"]
    assert Lent.seconds == [10]


def answers_behind_the_gate(address: str) -> None:
    page = httpx.get(address, timeout=PATIENCE)
    assert page.status_code == 200 and "../" not in page.text.partition("gradio_config")[2]
    assert "'nonce-" in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"
    assert httpx.get(f"{address}/gradio_api/file=gradio_app.py").status_code == 404
    for headers, status in (({"Host": "evil.example"}, 421), ({"Origin": "http://x.y"}, 403)):
        refused = httpx.get(f"{address}/gradio_api/app_id", headers=headers)
        assert refused.status_code == status
        assert "frame-ancestors 'none'" in refused.headers["content-security-policy"]
    client = Client(address, verbose=False, analytics_enabled=False)
    found = client.predict("the [MASK] sat", api_name="/fill_mask")
    assert found["text"] == "the [MASK] sat"
    client.close()


def test_the_face_alone_answers_at_the_root_behind_the_gate(app: ASGIApp, tiny_model: Path) -> None:
    with running(lambda port: _gated(app, "127.0.0.1", port), 100) as served:
        answers_behind_the_gate(f"http://127.0.0.1:{served.port}")


@pytest.mark.slow
@pytest.mark.parametrize("zero_gpu", ["", "true"])
def test_the_program_answers_as_a_space_runs_it(tiny_model: Path, zero_gpu: str) -> None:
    port = free_port()
    environment = {**os.environ, "GRADIO_SERVER_PORT": str(port), "SPACES_ZERO_GPU": zero_gpu}
    process = subprocess.Popen(
        [sys.executable, "gradio_app.py"], cwd=ROOT, env=environment, stderr=subprocess.PIPE
    )
    try:
        wait_for(f"http://127.0.0.1:{port}", process)
        answers_behind_the_gate(f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=PATIENCE)
    assert b"Traceback" not in errors


def wait_for(address: str, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None
        try:
            httpx.get(f"{address}/gradio_api/app_id")
            return
        except httpx.TransportError:
            time.sleep(0.2)
    raise AssertionError("it did not start")


def test_a_wrong_setting_is_one_line_and_status_2() -> None:
    environment = {**os.environ, "BERT_EXPLORER_THREADS": "many"}
    found = subprocess.run(
        [sys.executable, "gradio_app.py"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert found.returncode == 2 and found.stderr.count("\n") == 1
    assert "BERT_EXPLORER_THREADS is 'many'" in found.stderr
