"""The page "The lab": what it tells the browser, and what it does itself."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from app.catalog import examples
from app.declared.live import digests, lab_described, lab_files, live_files
from app.faces.live import lab_page
from app.features.lab.result import changed
from app.features.lab.task import RUNS
from app.settings import LIVE

PAGE = "pages/16_lab.py"
Visit = Callable[..., Any]


def test_the_browser_is_told_all_settings_all_changes_and_what_is_recorded() -> None:
    found = lab_described({"mask_rate": 80})
    assert found["settings"] == {"mask_rate": 80}
    assert found["usual"].keys() == found["choices"].keys() == found["labels"].keys()
    assert all(found["usual"][name] == each[0] for name, each in found["choices"].items())
    assert [each["label"] for each in found["changes"]] == [each.label for each in examples("lab")]
    assert [each["values"] for each in found["changes"]] == [
        changed(dict(each.values)) for each in examples("lab")
    ]
    assert set(found["runs"].values()) == {path.name for path in RUNS.glob("*.json")}
    assert {"", "mask_rate=80", "positions=False"} <= found["runs"].keys()
    json.dumps(found, allow_nan=False)


def test_the_lab_loads_its_own_files_and_compares_them() -> None:
    files = live_files()
    names = lab_files(files)
    assert {"lab_page.js", "lab_worker.js", "lab.wasm", "lab.json", "tables.json"} <= names
    assert not names & {"bert.wasm", "worker.js", "tasks.js", "xray.js", "attention.js"}
    assert names <= files.keys()
    assert lab_described({})["files"] == digests(files, sorted(names))
    for name in names:
        for other in re.findall(r'(?:from|import) "\./([\w.]+)"', files[name].decode("latin-1")):
            assert other in names, (name, other)
    assert all((LIVE / name).is_file() for name in names)


@pytest.mark.parametrize("address", [{}, {"mask_rate": "80"}, {"layers": "77", "run": "<b>"}])
def test_the_page_draws_the_lab_and_keeps_a_recorded_run(
    visit: Visit, address: dict[str, str]
) -> None:
    page = visit(PAGE, **address)
    assert (page.errors, page.warnings) == ("", "")
    assert [tab.label for tab in page.at.tabs] == ["Train from scratch", "Fine-tune"]
    assert "BertForPreTraining" in "".join(each.value for each in page.at.code)


def test_the_page_of_its_own_runs_one_script_and_asks_nobody_else() -> None:
    page = lab_page().decode()
    assert page.count("<script") == 1 and 'type="module"' in page
    assert "http:" not in page and "https:" not in page.replace("https://huggingface.co", "")
    assert json.loads(re.search(r'data-lab="([^"]*)"', page)[1].replace("&quot;", '"'))  # type: ignore[index]
