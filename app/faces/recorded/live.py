"""What the recorded site needs to answer in a visitor's browser: the engine, and the model."""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from app.declared.live import digests as sums
from app.declared.live import lab_files
from app.declared.live import live_files as served
from app.engine.models import Engine
from app.engine.models.papers import fingerprint
from app.faces.paper.json import as_json
from app.faces.recorded.entries import Entry
from app.settings import ASSETS, LIVE, ROOT
from bert_core.bundled import bundled_folder, bundled_names
from bert_core.config import HAS_ANSWER
from bert_core.errors import ConfigError
from bert_core.model.kinds import KINDS
from bert_core.reading.unread import known_scripts

FOLDER = "live"
MANIFEST = "site.webmanifest"
ICON = ASSETS / "icon.svg"
WEIGHS = "46 MB"  # the size of the bundled model's weights, which a page says before it loads them

# The tasks that also answer in the browser.
LIVE_TASKS = {"fill_mask", "next_sentence", "qa", "ner", "classification", "multiple_choice",
              "tokenizer", "attention", "xray"}  # fmt: skip

_PART = 9_000_000  # bytes; some hosts move larger files elsewhere
_WEIGHTS, _DESCRIBED = "model.safetensors", "live.json"
_BESIDE = ("vocab.txt", "fitted.safetensors")  # files of the model that are loaded as they are
_SCALES = {"BertForQuestionAnswering.has_answer": ("BertForQuestionAnswering", HAS_ANSWER)}
_OWN = {"BertForMultipleChoice", "BertForQuestionAnswering", "BertForSequenceClassification",
        "BertForTokenClassification"}  # fmt: skip
_WORKER = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"
_HEADERS = f"""/*
  X-Content-Type-Options: nosniff
  Referrer-Policy: no-referrer
  Content-Security-Policy: frame-ancestors 'self'

/live/worker.js
  Content-Security-Policy: {_WORKER}
"""
_CONFIG = ("hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers",
           "layer_norm_eps", "max_position_embeddings", "vocab_size")  # fmt: skip


def is_live(entry: Entry) -> bool:
    """Return whether the task of an example also answers in the browser."""
    return entry.task.feature.slug in LIVE_TASKS or trains(entry)


def trains(entry: Entry) -> bool:
    """Return whether an example is a run of the lab, which is also trained in the browser."""
    return entry.task.feature.slug == "lab"


def live_values(entry: Entry) -> dict[str, str | bool | int | float]:
    """Return what an example gives a task, by parameter, as JSON has it."""
    given = entry.task.example_values(entry.example.values)
    return {
        each.name: value
        for each in entry.task.parameters
        if isinstance(value := given.get(each.name), str | bool | int | float)
    }


def live_files(engine: Engine) -> Iterator[tuple[str, bytes]]:
    """Yield the files with which a browser answers, by their names in the folder of the site.

    Raises:
        ConfigError: it is another model, also one with a bundled name and other weights.
    """
    if engine.provenance.name not in bundled_names():
        raise ConfigError(
            f"{engine.provenance.name} is not a bundled model; --live answers only with one of "
            f"{', '.join(bundled_names())}. Leave out --live, or --model."
        )
    folder = bundled_folder(engine.provenance.name)
    if engine.provenance.fingerprint != fingerprint(folder):
        raise ConfigError(
            f"{engine.provenance.name} has other weights than the bundled model of that name, and "
            "--live writes the bundled ones. Leave out --live, or --model."
        )
    for name, content in served().items():
        yield f"{FOLDER}/{name}", content
    switches = ASSETS / "components" / "xray_switches.js"  # as on the page with a server
    yield f"{FOLDER}/{switches.name}", switches.read_bytes()
    yield f"{FOLDER}/NOTICE", (ROOT / "NOTICE").read_bytes()  # the licence of the weights
    yield f"{FOLDER}/MODEL_CARD.md", (folder / "README.md").read_bytes()  # and their sources
    for name in _BESIDE:
        yield f"{FOLDER}/{name}", (folder / name).read_bytes()
    weights = (folder / _WEIGHTS).read_bytes()
    pieces = [weights[at : at + _PART] for at in range(0, len(weights), _PART)]
    names = [f"{_WEIGHTS}.{number}" for number in range(len(pieces))]
    yield from zip((f"{FOLDER}/{name}" for name in names), pieces, strict=True)
    said = described(engine) | {
        "files": names, "bytes": len(weights), "sha256": hashlib.sha256(weights).hexdigest(),
        "digests": sums(dict(zip(names, pieces, strict=True)), names),  # for pages without https
    }  # fmt: skip
    yield f"{FOLDER}/{_DESCRIBED}", json.dumps(said, ensure_ascii=False).encode()
    yield "service.js", (LIVE / "service.js").read_bytes()
    drawn = base64.b64encode(ICON.read_bytes()).decode()
    icon = {"src": f"data:image/svg+xml;base64,{drawn}", "sizes": "any", "type": "image/svg+xml"}
    manifest = {"name": "BERT Explorer", "start_url": "index.html", "display": "standalone"}
    yield MANIFEST, json.dumps({**manifest, "icons": [icon]}).encode()
    yield "_headers", _HEADERS.encode()  # for Netlify and Cloudflare Pages
    yield ".nojekyll", b""  # GitHub Pages then serves files as they are


def digests(files: Mapping[str, bytes], *, lab: bool = False) -> dict[str, str]:
    """Return what a page compares its files with before it uses them, as browsers write digests.

    The weights have theirs in one of these files; they are read while they arrive. A page of the
    lab needs other files.
    """
    start, unused = f"{FOLDER}/", (_WEIGHTS, "NOTICE", "MODEL_CARD.md", "lab", "runs/")
    own = {name.removeprefix(start): each for name, each in files.items() if name.startswith(start)}
    used = lab_files(own) if lab else {name for name in own if not name.startswith(unused)}
    return sums(own, sorted(used))


def described(engine: Engine) -> dict[str, Any]:
    """Return what the browser must know of a model besides its weights."""
    facts = engine.facts.heads
    config = engine.model(KINDS["BertForMaskedLM"].cls).config
    scales = {name: engine.calibration(KINDS[name].cls) for name in KINDS if name in facts}
    scales |= {key: engine.calibration(KINDS[name].cls, of) for key, (name, of) in _SCALES.items()}
    return {
        "model": engine.provenance.name,
        "weights": engine.provenance.fingerprint,
        "lower_case": engine.provenance.lower_case,
        "config": {name: getattr(config, name) for name in _CONFIG},
        "heads": {name: _head(engine, name) for name in sorted(_OWN)},
        "calibrations": as_json(scales),
        "trained_on": {name: each.trained_on for name, each in facts.items()},
        "figures": {name: as_json(each.figures) for name, each in facts.items()},
        "labels": {name: _labels(engine, name) for name in sorted(_OWN)},
        "scripts": known_scripts(engine.tokenizer),
    }


def _labels(engine: Engine, name: str) -> list[str]:
    config = engine.model(KINDS[name].cls).config
    return [config.label_name(number) for number in range(config.num_labels)]


def _head(engine: Engine, name: str) -> dict[str, str]:
    model = engine.model(KINDS[name].cls)
    layer = "qa_outputs" if name == "BertForQuestionAnswering" else "classifier"
    found = {key: model.get_parameter(f"{layer}.{key}") for key in ("weight", "bias")}
    return {
        key: base64.b64encode(value.detach().cpu().half().numpy().tobytes()).decode()
        for key, value in found.items()
    }
