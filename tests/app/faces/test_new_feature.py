"""The skeleton of a new feature, as `tools.new_feature` writes it, has every interface at once."""

import asyncio
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import app.features
from app import catalog
from app.catalog import Feature, examples
from app.declared import all_declared, declared
from app.engine.models import Engine
from app.faces import ask
from app.faces.api.routes import application
from app.faces.api.tools import tools
from app.faces.gradio.face import build
from app.faces.recorded.entries import all_entries, results
from app.faces.terminal import main
from app.settings import ROOT
from tests.drawings import pictures
from tools.new_feature import rows, write

SLUG, TEXT = "odd_word", "The owl sleeps by day."


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the skeleton's files; beside them the features that there are."""
    root = tmp_path_factory.mktemp("grown")
    for name in ("app/catalog.py", "docs/guide.md", "CHANGELOG.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes((ROOT / name).read_bytes())
    (root / "app/features").mkdir()
    for path in catalog.FOLDER.iterdir():
        (root / "app/features" / path.name).symlink_to(path)
    write(SLUG, "Odd word", "INSIDE", root)
    return root


@pytest.fixture
def grown(written: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The site with the new feature, for the time of a test."""
    source = ModuleType("grown_catalog")
    source.__file__ = str(written / "app/catalog.py")
    monkeypatch.setitem(sys.modules, source.__name__, source)
    exec((written / "app/catalog.py").read_text(encoding="utf-8"), source.__dict__)  # noqa: S102
    row = source.feature(SLUG)
    new = Feature(**{name: getattr(row, name) for name in Feature.__slots__})
    every, folder = (*catalog.FEATURES, new), written / "app/features"
    for module in [each for name, each in sys.modules.items() if name.startswith("app.")]:
        if getattr(module, "FEATURES", None) is catalog.FEATURES and module is not catalog:
            monkeypatch.setattr(module, "FEATURES", every)
    monkeypatch.setattr(catalog, "FEATURES", every)
    monkeypatch.setattr(catalog, "FOLDER", folder)
    monkeypatch.setattr(app.features, "__path__", [*app.features.__path__, str(folder)])
    clear()
    yield written
    monkeypatch.undo()
    clear()
    for name in [each for each in sys.modules if each.startswith(f"app.features.{SLUG}")]:
        del sys.modules[name]


def clear() -> None:
    """Forget what was read of the features."""
    for function in (declared, tools):
        function.cache_clear()


def test_a_terminal_and_a_saved_page_have_it(
    grown: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert declared(SLUG) in all_declared()
    answer = ask(SLUG, TEXT)
    assert main([SLUG, TEXT, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == answer.json() and len(found["lengths"]) == len(found["tokens"])
    assert main([SLUG, TEXT, "--html", str(tmp_path / "x.html")]) == 0
    assert (tmp_path / "x.html").read_bytes() == answer.html()
    assert "The longest vector after layer 1" in answer.text()


def test_its_page_draws_the_first_example_and_every_other(grown: Path) -> None:
    page = AppTest.from_file(str(grown / rows(grown)[SLUG]["page"]), default_timeout=60).run()
    assert not page.exception and page.text_area(key="text").value == TEXT
    assert set(pictures(page)) == {SLUG}
    for number in range(len(examples(SLUG))):
        page.button(key=f"_example_{number}").click().run()
        assert not page.exception and set(pictures(page)) == {SLUG}


def test_programs_and_assistants_have_it(grown: Path) -> None:
    (tool,) = [each for each in tools() if each.name == SLUG]
    assert tool.inputSchema["required"] == ["text"]
    assert f"/api/{SLUG}" in application("/api", "/mcp", "").openapi()["paths"]


def test_gradio_has_its_page_and_its_endpoint(grown: Path) -> None:
    async def built() -> Any:
        return build()  # inside a running loop: without one, Gradio leaves dozens open

    face = asyncio.run(built())
    assert SLUG in [path for path, *_ in face.pages]
    assert SLUG in [fn.api_name for fn in face.fns.values()]


def test_the_recorded_site_has_its_examples(grown: Path, tiny_engine: Engine) -> None:
    found = [each for each in all_entries(()) if each.feature.slug == SLUG]
    assert len(found) == len(examples(SLUG)) == 5
    for each in found:
        assert "<svg" in "".join(map(str, results(tiny_engine, each)))


def test_its_own_tests_pass(grown: Path, tiny_engine: Engine, tiny_folder: Path) -> None:
    path = grown / f"tests/app/features/{SLUG}/test_{SLUG}.py"
    spec = importlib.util.spec_from_file_location("written_tests", path)
    assert spec and spec.loader
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.test_lengths_are_those_of_the_hidden_states(tiny_engine, 0)
    module.test_the_picture_has_a_row_for_every_piece(tiny_engine)
    module.test_what_cannot_be_read_is_refused(tiny_engine)
    module.test_the_snippet_prints_the_numbers_of_the_page(tiny_engine, tiny_folder)


OURS = "lint.isort.known-first-party = ['app', 'bert_core', 'tests']"
"""Ruff looks for the modules, and the feature's are elsewhere."""


@pytest.mark.parametrize("check", [["format", "--diff"], ["check", "--config", OURS]],
                         ids=["format", "lint"])  # fmt: skip
def test_it_is_formatted_and_has_no_lint(written: Path, check: list[str]) -> None:
    """As if the files were in the checkout, whose packages are our own."""
    row = rows(written)[SLUG]
    folder, own = written / f"app/features/{SLUG}", written / f"tests/app/features/{SLUG}"
    for path in [*folder.glob("*.py"), *own.glob("*.py"), written / row["page"],
                 written / "app/catalog.py"]:  # fmt: skip
        name = path.relative_to(written).as_posix()
        command = [
            sys.executable,
            "-m",
            "ruff",
            *check,
            "--no-cache",
            "--stdin-filename",
            name,
            "-",
        ]
        text = path.read_bytes()
        done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout.decode()
