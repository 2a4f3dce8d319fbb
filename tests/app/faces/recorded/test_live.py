"""What the recorded site with `--live` has beside its pages."""

import base64
import json
import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from app.engine.models import Engine, open_engine
from app.faces.recorded.entries import all_entries
from app.faces.recorded.live import WEIGHS, digests, is_live, live_files, live_values
from app.settings import ASSETS
from app.words.html import document, tag
from bert_core.bundled import bundled_folder
from bert_core.errors import ConfigError


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return dict(live_files(open_engine()))


def test_parts_are_small_and_together_the_weights(files: dict[str, bytes]) -> None:
    said = json.loads(files["live/live.json"])
    parts = [files[f"live/{name}"] for name in said["files"]]
    weights = bundled_folder(said["model"]).joinpath("model.safetensors").read_bytes()
    assert b"".join(parts) == weights
    assert max(map(len, parts)) <= 9_000_000
    assert said["bytes"] == len(weights)
    assert f"{len(weights) / 1e6:.0f} MB" == WEIGHS
    assert said["sha256"] == sha256(weights).hexdigest()
    for name, part in zip(said["files"], parts, strict=True):  # compared where there is no https
        assert said["digests"][name] == f"sha256-{base64.b64encode(sha256(part).digest()).decode()}"


def test_a_page_names_the_digest_of_every_file_but_the_weights(files: dict[str, bytes]) -> None:
    said = digests(files)
    assert {"page.js", "worker.js", "bert.wasm", "tables.json", "vocab.txt", "live.json"} <= set(
        said
    )
    assert not [name for name in said if "model.safetensors" in name]
    for name, digest in said.items():
        wanted = base64.b64encode(sha256(files[f"live/{name}"]).digest()).decode()
        assert digest == f"sha256-{wanted}"


@pytest.mark.parametrize("lab", [False, True])
def test_what_a_script_imports_has_a_digest(files: dict[str, bytes], lab: bool) -> None:
    said = digests(files, lab=lab)
    assert ("lab.wasm" in said) is lab
    assert ({"lab_page.js", "lab_worker.js"} <= said.keys()) is lab
    assert ({"draw.js", "tasks.js", "page.js"} <= said.keys()) is not lab
    for name in said:
        if name.endswith(".js"):
            imported = re.findall(r'from "\./([\w.]+)"', files[f"live/{name}"].decode())
            assert set(imported) <= said.keys(), name


def test_a_page_compares_what_it_imports_before_it_runs(files: dict[str, bytes]) -> None:
    loader = (ASSETS / "recorded" / "live.js").read_text(encoding="utf-8")
    for name in ("page.js", "lesson.js"):
        for each in re.findall(r'from "\./([\w.]+)"', files[f"live/{name}"].decode()):
            assert f'"{each}"' in loader, name


def test_only_a_bundled_model_is_live(tiny_folder: Path) -> None:
    with pytest.raises(ConfigError, match="not a bundled model"):
        list(live_files(Engine(str(tiny_folder))))


def test_a_bundled_name_with_other_weights_is_not_live(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = open_engine()
    other = replace(engine.provenance, fingerprint="0" * 12)
    monkeypatch.setattr(engine, "provenance", other)
    with pytest.raises(ConfigError, match="other weights"):
        next(live_files(engine))


def test_hosts_of_plain_files_find_what_they_read(files: dict[str, bytes]) -> None:
    policy = b"/live/worker.js\n  Content-Security-Policy: default-src 'none'"
    assert policy in files["_headers"] and files[".nojekyll"] == b""


def test_examples_of_nine_tasks_and_runs_of_the_lab_are_live_with_their_values() -> None:
    live = [each for each in all_entries(()) if is_live(each)]
    assert {each.feature.slug for each in live} == {
        *("fill_mask", "next_sentence", "qa", "ner", "classification", "multiple_choice"),
        *("tokenizer", "attention", "xray", "lab"),
    }
    assert all(json.loads(json.dumps(live_values(each))) for each in live)


def test_a_live_page_may_ask_its_own_site_alone() -> None:
    page = document("x", "", tag("p", "x"), script="1", manifest="../m").decode()
    policy = page.partition('content="')[2].partition('"')[0].split("; ")
    assert policy[0] == "default-src 'none'"
    assert {"connect-src 'self'", "worker-src 'self'", "manifest-src 'self'"} <= set(policy)
    scripts = next(each for each in policy if each.startswith("script-src"))
    assert scripts.endswith("'self' 'wasm-unsafe-eval'") and "'unsafe-eval'" not in scripts
