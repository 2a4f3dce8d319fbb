"""Fetching the suggested models into a folder, from a local server in the Hub's place."""

import os
from pathlib import Path

import pytest

from app.__main__ import run
from app.engine.models import open_engine
from app.engine.models.curated import CURATED
from app.engine.models.shelf import offers
from app.features.fill_mask.task import fill_mask
from tests.loopback import Fault, Loopback

BASE = "google-bert/bert-base-uncased"
COMMIT = next(each.commit for each in CURATED if each.wanted.name == BASE)


@pytest.fixture
def served(loopback: Loopback, tiny_folder: Path) -> Loopback:
    for name in (BASE, "dslim/bert-base-NER"):
        loopback.add_model(name, tiny_folder)
        loopback.repositories[name].commit = next(
            each.commit for each in CURATED if each.wanted.name == name
        )
    return loopback


def test_fetched_models_are_offered_without_a_network(
    served: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    folder = tmp_path / "stick"
    assert run(["fetch", str(folder), BASE, "dslim/bert-base-NER"]) == 0
    said = capsys.readouterr().out
    assert f"BERT_EXPLORER_CACHE={folder}" in said and f"commit {COMMIT}" in said
    assert not any(
        name.lower() == "authorization" for _, _, headers in served.log for name in headers
    )
    served.stop()
    monkeypatch.setenv("BERT_EXPLORER_CACHE", str(folder))
    monkeypatch.setenv("BERT_EXPLORER_PUBLIC", "on")  # a public site offers pinned commits alone
    assert {BASE, "dslim/bert-base-NER"} <= offers().keys()
    engine = open_engine(offers()[BASE])
    assert fill_mask(engine, "the [MASK] is here").slots[0].candidates
    assert run(["lesson", "both-sides", "--model", BASE]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{BASE}, weights ") and "both-sides" in said and " of 20" in said


def test_what_is_missing_is_said_and_the_same_command_goes_on(
    served: Loopback, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    served.faults[f"/api/models/{BASE}/revision/{COMMIT}"] = Fault(status=404)
    given = ["fetch", str(tmp_path / "new"), BASE, "dslim/bert-base-NER"]
    assert run(given) == 2
    said = capsys.readouterr().out
    assert "not fetched:" in said and f"Missing: {BASE}." in said
    served.faults.clear()
    assert run(given) == 0 and "Missing" not in capsys.readouterr().out


def test_the_list_has_sizes_licences_and_versions(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fetch"]) == 0
    said = capsys.readouterr().out
    for each in CURATED:
        assert each.wanted.name in said and (each.commit or each.wanted.revision) in said
    assert f"{sum(each.megabytes for each in CURATED) / 1000:.1f} GB in all" in said
    with pytest.raises(SystemExit, match="2"):
        run(["fetch", os.devnull, "someone/else"])
