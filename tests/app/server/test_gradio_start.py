"""`python gradio_app.py`: the interface alone, as a Space runs it."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import gradio as gr
import httpx
import pytest
from gradio_client import Client

from app.server.gradio_start import lend_gpu

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 180  # seconds; importing Gradio takes several even on a quiet machine


@pytest.mark.parametrize(
    "zero_gpu",
    [
        pytest.param("", id="own server"),
        pytest.param("true", id="ZeroGPU", marks=pytest.mark.slow),
    ],
)
def test_the_face_alone_answers_at_the_root_behind_the_gate(
    tiny_model: Path, zero_gpu: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, "GRADIO_SERVER_PORT": str(port), "SPACES_ZERO_GPU": zero_gpu}
    process = subprocess.Popen(
        [sys.executable, "gradio_app.py"], cwd=ROOT, env=environment, stderr=subprocess.PIPE
    )
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(address, process)
        page = httpx.get(address)
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
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=PATIENCE)
    assert b"Traceback" not in errors


def test_an_endpoint_asks_for_a_gpu_only_where_gpus_are_lent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lent: list[int] = []

    def decorator(duration: int) -> Callable[[Any], Any]:
        lent.append(duration)
        return lambda function: function

    async def names() -> list[str | None]:
        face = gr.Blocks()  # inside a loop: without one, Gradio leaves dozens open
        lend_gpu(face)
        return [each.api_name for each in face.fns.values() if each.api_visibility == "public"]

    assert asyncio.run(names()) == []
    module = ModuleType("spaces")
    module.GPU = decorator  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spaces", module)
    module.__spec__ = object()  # type: ignore[assignment]
    assert asyncio.run(names()) == ["gpu"]
    assert lent == [10]


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
