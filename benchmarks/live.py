"""The recorded site with live answers in Chromium: the engine, the first answer, and its size.

ONNX Runtime Web, on which transformers.js runs, is measured in the same page, in turns, if its
package is in `build/ort` (`npm install --prefix build/ort onnxruntime-web`); it is never part of
the repository or of a site.
"""

import gzip
import math
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import torch
from playwright.sync_api import Page, sync_playwright
from torch import Tensor

from app.engine.models import open_engine
from app.faces.recorded.drawing import Recording
from app.faces.recorded.entries import all_entries
from app.faces.recorded.live import digests, live_files
from app.faces.recorded.writing import example_page
from benchmarks.measure import seconds
from benchmarks.pages import FLAGS, browser_path
from bert_core.model.bert import BertModel

TITLE = "Live in the browser"
COLUMNS = ("what", "to reach", "in the browser", "PyTorch", "ratio", "ONNX Runtime Web", "reached")
NOTES = (
    "Chromium and a server on the same machine, the bundled model. A pass: median in a page, with "
    "hidden states; PyTorch and ONNX Runtime Web (WebAssembly) on one thread, in turns.",
    "First answer: from the click on *Load the model* to the picture. Next answer: from the end "
    "of the pause in typing. Compressed: the page, scripts and engine, without the model.",
)
TOKENS: Mapping[int, float] = {16: 0.025, 64: 0.060, 128: 0.120, 512: 0.560}
_PAGE = "fill_mask/1-a-letter.html"
_OWN = ("vocab.txt", "fitted.safetensors", "live.json")  # of the model
_LATER = ("doors.js", "folder.js", "lesson.js", "unzip.js", "xray_switches.js")
_PACKAGE = Path(__file__).parents[1] / "build/ort/node_modules/onnxruntime-web/dist"
_TEXTS = ("The capital of Italy is [MASK].", "The capital of France is [MASK].")
_WAIT = 60_000
_BEGIN = """async (ort) => {
    const get = (name) => fetch(`live/${name}`);
    const { Engine } = await import(new URL("live/engine.js", location.href));
    const model = await (await get("live.json")).json();
    const engine = new Engine(await WebAssembly.compileStreaming(get("bert.wasm")), model);
    engine.room(model.bytes).set(new Uint8Array(await (await get(model.files[0])).arrayBuffer()));
    engine.ready();
    const ids = (tokens) => Array.from({ length: tokens }, (_, n) => 1000 + 7 * n);
    window.ours = (tokens) => engine.run(ids(tokens), ids(tokens).map(() => 0));
    window.theirs = null;
    const at = (name) => new URL(name, location.href).href;
    if (ort) {
        const { InferenceSession, Tensor, env } = await import(at("ort/ort.wasm.min.mjs"));
        Object.assign(env.wasm, { numThreads: 1, wasmPaths: at("ort/") });
        const session = await InferenceSession.create("model.onnx");
        window.theirs = (tokens) => session.run({ ids: new Tensor("int64",
            BigInt64Array.from(ids(tokens), BigInt), [1, tokens]) });
    }
}"""
_ROUND = """async (tokens) => {
    const timed = async (work) => {
        if (!work) return null;
        const begin = performance.now();
        await work(tokens);
        return (performance.now() - begin) / 1000;
    };
    return [await timed(window.ours), await timed(window.theirs)];
}"""
_ANSWER = """(text) => new Promise((done) => {
    const box = document.querySelector(".bx-given textarea");
    const button = [...document.querySelectorAll("button")]
        .find((each) => each.textContent.startsWith("Load the model"));
    const shown = () => document.querySelector(".bx-live-answer .bx-headline")?.textContent ?? "";
    const before = shown();
    let begin = performance.now();
    box.value = text;
    if (button) button.click();
    else {
        box.dispatchEvent(new Event("input"));
        begin += 300;
    }
    const look = () => shown() === before ? requestAnimationFrame(look)
        : requestAnimationFrame(() => done((performance.now() - begin) / 1000));
    look();
})"""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table; times in seconds, sizes in kB, or a plain number."""

    what: str
    goal: float | None
    here: float
    torch: float | None = None
    ort: float | None = None
    unit: str = "s"

    def cells(self) -> tuple[str, ...]:
        """Return the cells in the order of COLUMNS."""
        times = (self.goal, self.here, self.torch, self.ort)
        goal, here, torch_, ort = map(self._shown, times)
        ratio = f"{self.here / self.torch:.1f}" if self.torch else ""
        good = (
            self.goal is None or max(self.here - self.goal, self.here - (self.ort or math.inf)) <= 0
        )
        verdict = "" if self.goal is None else "yes" if good else "**no**"
        return (self.what, goal and f"≤ {goal}", here, torch_, ratio, ort, verdict)

    def _shown(self, value: float | None) -> str:
        if value is None:
            return ""
        return seconds(value) if self.unit == "s" else f"{value:.0f} {self.unit}".strip()


def rows(quick: bool) -> Iterator[Line]:
    """Measure the engine, the answers, and what is sent."""
    rounds = 3 if quick else 11
    yield Line("load of the machine before", None, os.getloadavg()[0], unit="")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        folder = Path(place)
        files = write(folder)
        model = BertModel.from_pretrained("explorer-mini-uncased").eval()
        if _PACKAGE.is_dir():
            _export(model, folder / "model.onnx")
            (folder / "ort").symlink_to(_PACKAGE)
        with hosted(folder) as address:
            browser = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
            page = browser.new_page()
            page.goto(f"{address}/bench.html")
            page.evaluate(_BEGIN, _PACKAGE.is_dir())
            for tokens, goal in TOKENS.items():
                yield _pass(page, model, tokens, goal, rounds)
            page.close()
            yield from _answers(browser.new_context().new_page(), f"{address}/{_PAGE}", rounds)
            browser.close()
    # What a page of this kind loads; the lab's files belong to the lab's pages.
    names = [name for name in digests(files) if name not in _OWN + _LATER]
    sent = [files[_PAGE], *(files[f"live/{name}"] for name in names)]
    size = sum(len(gzip.compress(each)) for each in sent)
    yield Line("compressed", 120, size / 1000, unit="kB")


def _pass(page: Page, model: BertModel, tokens: int, goal: float, rounds: int) -> Line:
    page.evaluate(_ROUND, tokens)
    found = [page.evaluate(_ROUND, tokens) for _ in range(rounds)]
    ours, theirs = (list(each) for each in zip(*found, strict=True))
    return Line(
        f"a pass of {tokens} tokens",
        goal,
        statistics.median(ours),
        _torch(model, tokens, rounds),
        statistics.median(theirs) if theirs[0] is not None else None,
    )


def _torch(model: BertModel, tokens: int, rounds: int) -> float:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    ids = torch.arange(tokens)[None] * 7 + 1000
    wall = []
    with torch.inference_mode():
        for _ in range(rounds + 1):
            begin = time.perf_counter()
            model.run(ids, attentions=False, hidden_states=True)
            wall.append(time.perf_counter() - begin)
    torch.set_num_threads(threads)
    return statistics.median(wall[1:])


def _answers(page: Page, address: str, rounds: int) -> Iterator[Line]:
    first: list[float] = []
    kept: list[float] = []
    following: list[float] = []
    for _ in range(max(1, rounds // 3)):
        page.goto(address)
        page.evaluate("caches.delete('bert-explorer-weights')")
        page.reload()
        for wall in (first, kept):
            page.get_by_role("button", name="Load the model").wait_for()
            wall.append(page.evaluate(_ANSWER, _TEXTS[0]))
            page.get_by_text("It is kept in this browser").wait_for(timeout=_WAIT)
            following.append(page.evaluate(_ANSWER, _TEXTS[1]))
            page.evaluate("sessionStorage.clear()")  # as on another day
            page.reload()
    yield Line("first answer, from the server", 1.5, statistics.median(first))
    yield Line("first answer, from the browser's store", 0.8, statistics.median(kept))
    yield Line("next answer", 0.150, statistics.median(following))


def write(folder: Path) -> dict[str, bytes]:
    """Write one page with what it needs to answer; return the files."""
    engine = open_engine()
    files = dict(live_files(engine))
    entry = next(each for each in all_entries(()) if f"{each.place}.html" == _PAGE)
    recording = Recording((entry,), engine.provenance, "2026-11-22", live=digests(files))
    files[_PAGE] = files["index.html"] = example_page(engine, recording, entry)
    files["bench.html"] = b"<!DOCTYPE html><title>Engine</title>"
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return files


class _Outputs(torch.nn.Module):
    """A model whose outputs are a tuple, as graphs have them."""

    def __init__(self, model: BertModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """Return last state and pooled state."""
        output = self.model.run(ids, attentions=False, hidden_states=False)
        return output.last_hidden_state, output.pooler_output


def _export(model: BertModel, path: Path) -> None:
    """Write the encoder as a graph for ONNX Runtime."""
    ids = torch.arange(16)[None] + 1000
    torch.onnx.export(
        _Outputs(model).eval(), (ids,), str(path), input_names=["ids"],
        dynamic_axes={"ids": {1: "tokens"}}, dynamo=False, opset_version=17,
    )  # fmt: skip


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def hosted(folder: Path) -> Iterator[str]:
    """Serve a folder as any host of plain files would; yield its address on the loopback."""
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
