"""A model saved by today's `transformers` opens in every interface."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer

from app.declared import declared
from app.declared.answers import answer, engine_of
from app.engine.models import Engine
from app.engine.models.facts import read_facts
from app.faces import ask
from app.faces.gradio.widgets import model_choices
from app.faces.gradio.written import write
from app.faces.paper.answers import written
from app.faces.recorded.writing import record
from bert_core import BertForPreTraining, BertTokenizer
from bert_core.analysis.statistics_file import stale_because, write_head_statistics
from bert_core.model.kinds import KINDS
from bert_core.verification import verify, write_verification
from tests.conftest import NASTY
from tests.visits import checked, markup, opened

ROOT = Path(__file__).resolve().parents[2]
TEXT = "The cat [MASK] on the mat."


@pytest.fixture
def shelf(todays_folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The model named itself as the operator's folder; its name."""
    monkeypatch.delenv("BERT_EXPLORER_MODEL", raising=False)
    monkeypatch.setenv("BERT_EXPLORER_MODELS", str(todays_folder))
    return todays_folder.name


def test_the_library_opens_it_as_transformers_does(todays_folder: Path, nasty: str) -> None:
    ours = BertTokenizer.from_pretrained(todays_folder)
    rust = Tokenizer.from_file(str(todays_folder / "tokenizer.json"))
    found, expected = ours.encode(nasty), rust.encode(nasty)
    assert (found.input_ids, found.offsets) == (expected.ids, expected.offsets)
    peer: Any = transformers.AutoTokenizer.from_pretrained(todays_folder)
    assert found.input_ids == peer(nasty)["input_ids"]


@pytest.mark.parametrize("name", KINDS)
def test_every_class_opens_it(todays_folder: Path, name: str) -> None:
    model = KINDS[name].cls.from_pretrained(todays_folder)
    assert model.config.hidden_size == 32
    own = {"BertModel", "BertForPreTraining", "BertForMaskedLM", "BertForNextSentencePrediction"}
    assert (model.load_report.missing == ()) is (name in own)


def test_both_libraries_compute_the_same_from_text_to_scores(todays_folder: Path) -> None:
    ours = BertForPreTraining.from_pretrained(todays_folder)
    peer = transformers.BertForPreTraining.from_pretrained(todays_folder).eval()
    inputs = BertTokenizer.from_pretrained(todays_folder)(TEXT, return_tensors="pt")
    with torch.no_grad():
        words, relation = ours(**inputs)
        expected = peer(**inputs)
    assert torch.allclose(words, expected.prediction_logits, atol=1e-5)
    assert torch.allclose(relation, expected.seq_relationship_logits, atol=1e-5)


def test_the_command_line_opens_it(todays_folder: Path) -> None:
    command = [sys.executable, "-m", "app", "fill_mask", TEXT, "--json", "--model"]
    ran = subprocess.run(
        [*command, str(todays_folder)],
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        check=True,
    )
    assert json.loads(ran.stdout)["slots"][0]["candidates"] and ran.stderr == b""


def test_ask_opens_it(todays_folder: Path, shelf: str) -> None:
    by_folder, by_name = (ask("fill_mask", TEXT, model=m) for m in (str(todays_folder), shelf))
    assert by_folder.json()["slots"] == by_name.json()["slots"]
    assert by_name.notices == ()


def test_the_picker_offers_it_and_every_page_that_needs_its_heads_answers(shelf: str) -> None:
    for page in ("1_tokenizer", "2_fill_mask", "3_next_sentence", "4_attention", "12_xray"):
        at = opened(f"pages/{page}.py", text=TEXT)
        assert shelf in at.selectbox(key="model").options
        at.selectbox(key="model").set_value(shelf)
        shown = markup(checked(at))
        assert not at.error
        assert f"{shelf}: 2 layers" in shown and 'role="alert"' not in shown
        assert "Cannot be used" not in shown


def test_the_second_face_and_its_endpoints_open_it(shelf: str) -> None:
    assert (shelf, shelf) in model_choices()
    shown = write(declared("fill_mask"), {"text": TEXT}, shelf)
    assert "bx-result" in str(shown.markup) and shown.json["slots"]
    found = answer(declared("fill_mask"), engine_of(shelf), {"text": TEXT})
    assert written(found).json() == shown.json


@pytest.mark.slow
def test_the_recorded_site_is_made_with_it(todays_folder: Path, tmp_path: Path) -> None:
    record(Engine(str(todays_folder)), tmp_path / "site", "2026-11-23", lambda _: None)
    assert todays_folder.name in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


def test_the_model_card_counts_its_vocabulary(todays_folder: Path) -> None:
    facts = read_facts(todays_folder)
    assert facts.entries == facts.rows and facts.lacking == ()


def test_it_is_verified_with_its_tokenizer(todays_folder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(todays_folder, tmp_path / "model"))
    write_verification(folder)
    found = verify(folder)
    assert found.ok and "tokenizer.json" in {each.path for each in found.files}
    path = folder / "tokenizer.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"cat": 6', '"cat":  6'))
    assert [each.path for each in verify(folder).files if not each.ok] == ["tokenizer.json"]


def test_statistics_belong_to_its_tokenizer(todays_folder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(todays_folder, tmp_path / "model"))
    found = write_head_statistics(folder)
    assert stale_because(found, folder) == ""
    path = folder / "tokenizer.json"
    path.write_text(path.read_text(encoding="utf-8") + " ")
    assert "vocabulary" in stale_because(found, folder)


def test_torch_hub_opens_it(todays_folder: Path) -> None:
    given: dict[str, Any] = {"source": "local", "trust_repo": True}
    tokenizer = torch.hub.load(str(ROOT), "bertTokenizer", str(todays_folder), **given)
    model = torch.hub.load(str(ROOT), "bertForMaskedLM", str(todays_folder), **given)
    text = tokenizer.encode(TEXT)
    assert text.tokens[1:4] == ["the", "cat", "[MASK]"]
    assert model.load_report.missing == ()


def test_what_was_opened_is_saved_for_both(todays_folder: Path, tmp_path: Path) -> None:
    BertForPreTraining.from_pretrained(todays_folder).save_pretrained(tmp_path)
    BertTokenizer.from_pretrained(todays_folder).save_pretrained(tmp_path)
    peer: Any = transformers.AutoTokenizer.from_pretrained(tmp_path)
    for text in NASTY.values():
        assert (
            peer(text)["input_ids"]
            == BertTokenizer.from_pretrained(tmp_path).encode(text).input_ids
        )
    transformers.BertForPreTraining.from_pretrained(tmp_path)
