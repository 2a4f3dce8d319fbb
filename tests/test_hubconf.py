"""Test the torch.hub entry points as torch.hub calls them."""

import doctest
import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import torch

import bert_core
from bert_core.errors import InputError, MissingFileError
from bert_core.model.kinds import KINDS
from tests.bert_core.text.family_folders import merges_folder

ROOT = Path(__file__).resolve().parent.parent
ENTRIES = {f"b{name[1:]}": name for name in ("BertTokenizer", *KINDS)}


@pytest.fixture(scope="module")
def hubconf() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hubconf", ROOT / "hubconf.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A torch.hub cache with this checkout in place of a download."""
    monkeypatch.setattr(torch.hub, "_hub_dir", str(tmp_path))
    (tmp_path / "explorer_bert_main").symlink_to(ROOT)
    return "explorer/bert:main"


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    """Use one thread: tiny tensors gain nothing from more."""
    torch.set_num_threads(1)


def test_the_list_holds_the_nine_entries_and_nothing_else(hub: str) -> None:
    assert sorted(torch.hub.list(hub, trust_repo=True, verbose=False)) == sorted(ENTRIES)


@pytest.mark.parametrize("entry", ENTRIES)
def test_help_says_what_an_entry_loads_and_shows_how(hub: str, entry: str) -> None:
    text = torch.hub.help(hub, entry, trust_repo=True)
    assert ">>> " in text and f'"{entry}"' in text and "torch.hub.load(" in text


def test_every_example_in_the_help_runs_as_it_stands_there(
    hubconf: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    result = doctest.testmod(hubconf)
    assert result.attempted >= 3 * len(ENTRIES)
    assert result.failed == 0


@pytest.mark.parametrize(("entry", "name"), ENTRIES.items())
def test_an_entry_loads_its_class_and_passes_everything_on(
    tiny_folder: Path, entry: str, name: str
) -> None:
    loaded = torch.hub.load(str(ROOT), entry, str(tiny_folder), source="local")
    assert type(loaded) is getattr(bert_core, name)
    classic = {"pretrained_model_name_or_path": str(tiny_folder)}
    assert type(torch.hub.load(str(ROOT), entry, source="local", **classic)) is type(loaded)
    with pytest.raises(MissingFileError, match="no-such-model"):
        torch.hub.load(str(ROOT), entry, "no-such-model", source="local")


def test_arguments_by_position_and_by_name_arrive(tiny_folder: Path) -> None:
    def load(*inputs: object, **options: object) -> object:
        return torch.hub.load(str(ROOT), *inputs, source="local", **options)

    name = str(tiny_folder)
    assert load("bertForTokenClassification", name, 5).num_labels == 5  # type: ignore[attr-defined]
    assert load("bertForMultipleChoice", name, num_choices=7).num_choices == 7  # type: ignore[attr-defined]
    assert load("bertModel", name, output_attentions=True).output_attentions  # type: ignore[attr-defined]
    assert load("bertTokenizer", name, do_lower_case=False).do_lower_case is False  # type: ignore[attr-defined]


def test_the_tokenizer_of_another_family_is_opened(tmp_path: Path) -> None:
    folder = merges_folder(tmp_path, ["the cat sat on the mat"] * 9, size=270)
    found = torch.hub.load(str(ROOT), "bertTokenizer", str(folder), source="local")
    assert type(found) is bert_core.FamilyTokenizer
    with pytest.raises(InputError, match="no option do_lower_case"):
        torch.hub.load(str(ROOT), "bertTokenizer", str(folder), source="local", do_lower_case=True)


def test_a_fresh_process_elsewhere_needs_only_the_path(tiny_folder: Path) -> None:
    program = """
import json, sys
import torch
before = set(sys.modules)
import importlib.util
spec = importlib.util.spec_from_file_location("hubconf", sys.argv[1] + "/hubconf.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
brought = sorted(name for name in set(sys.modules) - before if not name.startswith("importlib"))
model = torch.hub.load(sys.argv[1], "bertForPreTraining", sys.argv[2], source="local")
print(json.dumps({"brought": brought, "class": type(model).__name__,
                  "path": sys.argv[1] in sys.path}))
"""
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, str(ROOT), str(tiny_folder)],
        cwd=tiny_folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["brought"] == []
    assert found["class"] == "BertForPreTraining" and not found["path"]


def test_the_entries_ask_for_what_the_library_needs(hubconf: ModuleType) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {re.split(r"[>~=\[]", line)[0].strip() for line in project["dependencies"]}
    imported = {
        name
        for path in (ROOT / "bert_core").rglob("*.py")
        for name in re.findall(r"^ *(?:from|import) (\w+)", path.read_text(encoding="utf-8"), re.M)
    }
    assert set(hubconf.dependencies) == declared & imported
