"""The wheel: all that the site needs below one name, and nothing that another's files can hide."""

import json
import os
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path
from urllib.request import Request, urlopen

import nbformat
import pytest
from nbclient import NotebookClient

from tests.e2e.conftest import free_port, wait_until_up

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pack what git has, build the wheel from that, and unpack it as an installer would."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    for name in tracked():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).symlink_to(ROOT / name)
    build = f"from setuptools import build_meta; print(build_meta.build_sdist({str(built)!r}))"
    subprocess.run([sys.executable, "-c", build], cwd=source, check=True, stdout=subprocess.DEVNULL)
    (sdist,) = built.glob("*.tar.gz")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "-w", str(built), str(sdist)], check=True)
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(built / "site")
    return built / "site"


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True)
    return [each for each in listed.stdout.decode().splitlines() if (ROOT / each).is_file()]


def test_it_has_every_file_of_the_site_and_no_name_of_others(site: Path) -> None:
    inside = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    places = ("app/", "pages/", "assets/", "live/", ".streamlit/", "app.py", "gradio_app.py")
    ours = {f"bert_explorer/{name}" for name in tracked() if name.startswith(places)}
    ours |= {name for name in tracked() if name.startswith(("bert_core/", "bert_explorer/"))}
    assert ours <= inside
    tops = {name.partition("/")[0] for name in inside}
    assert {each for each in tops if not each.endswith(".dist-info")} == {
        "bert_core",
        "bert_explorer",
    }


def test_it_answers_beside_files_of_the_same_names(site: Path, tmp_path: Path) -> None:
    for name in ("app.py", "pages.py", "settings.py"):
        (tmp_path / name).write_text("raise SystemExit('the wrong file')", encoding="utf-8")
    program = (
        "import sys; from bert_explorer import ask; "
        "print(ask('fill_mask', 'Paris is the capital of [MASK].').json()['slots'][0]"
        "['candidates'][0]['token']); print('app' in sys.modules, [m for m in sys.modules "
        "if m.startswith('app.')])"
    )
    around = os.environ | {"PYTHONPATH": str(site)}
    said = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=around, check=True, capture_output=True
    )
    assert said.stdout.decode().split("\n")[:2] == ["france", "False []"]
    help_ = [sys.executable, "-P", "-m", "bert_explorer", "--help"]
    said = subprocess.run(help_, cwd=tmp_path, env=around, check=True, capture_output=True)
    for name in ("tasks", "batch", "lesson", "sheet", "record", "fetch"):
        assert f"bert-explorer {name}" in said.stdout.decode()


def test_the_site_answers_and_imports_each_module_once(site: Path, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("open('imported', 'w')", encoding="utf-8")
    port, log = str(free_port()), tmp_path / "log"
    around = os.environ | {"PYTHONPATH": str(site), "STREAMLIT_SERVER_PORT": port}
    command, address = [sys.executable, "-m", "bert_explorer"], f"http://127.0.0.1:{port}"
    with (
        log.open("wb") as out,
        subprocess.Popen(command, cwd=tmp_path, env=around, stdout=out, stderr=out) as server,
    ):
        try:
            wait_until_up(address, server, log)
            asked = json.dumps({"text": "Paris is the capital of [MASK]."}).encode()
            headers = {"Content-Type": "application/json"}
            question = Request(f"{address}/api/fill_mask", asked, headers)
            with urlopen(question, timeout=60) as answer:
                assert json.load(answer)["slots"][0]["candidates"][0]["token"] == "france"
            with urlopen(f"{address}/gradio/fill_mask", timeout=60) as page:
                assert b"Fill-mask" in page.read()
        finally:
            server.terminate()
    assert "Traceback" not in log.read_text() and not (tmp_path / "imported").exists()


@pytest.mark.slow
def test_every_page_of_the_wheel_is_drawn(site: Path, tmp_path: Path) -> None:
    program = (
        "from streamlit.testing.v1 import AppTest; from bert_explorer.app.settings import ROOT\n"
        "for page in sorted((ROOT / 'pages').glob('*.py')):\n"
        "    at = AppTest.from_file(str(page), default_timeout=120).run()\n"
        "    print(page.stem, [each.value for each in at.exception])"
    )
    around = os.environ | {"PYTHONPATH": str(site)}
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=around, check=True, capture_output=True
    )
    lines = ran.stdout.decode().splitlines()
    assert len(lines) > 15 and all(each.endswith(" []") for each in lines), lines


def test_the_notebook_runs_from_the_wheel_alone(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(site))
    book = nbformat.read(ROOT / "docs" / "your-model.ipynb", as_version=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Jupyter's own
        NotebookClient(book, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [each.get("data", {}) for cell in book.cells for each in cell.get("outputs", ())]
    assert sum("<iframe" in each.get("text/html", "") for each in shown) == 2
    assert all(len(each["text/plain"]) < 200 for each in shown if "text/plain" in each)
