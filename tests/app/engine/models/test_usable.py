"""What cannot be used is known before anyone chooses it."""

import json
import os
from http import HTTPStatus
from pathlib import Path

import pytest

from app.declared.answers import engine_of
from app.engine.calls import refused
from app.engine.models import offers
from app.engine.models.usable import refusals, usable
from app.faces import ask
from app.faces.gradio.widgets import model_choices
from app.settings import BUNDLED_MODEL, Settings
from bert_core import BertForMaskedLM
from bert_core.errors import BertError, InputError
from tests.app.engine.models.test_shelf import COMMIT, TWIN, make_copy
from tests.conftest import save_tiny


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the operator with one good model and several that are of no use."""
    monkeypatch.delenv("BERT_EXPLORER_MODEL", raising=False)
    folder = tmp_path / "shelf"
    monkeypatch.setenv("BERT_EXPLORER_MODELS", str(folder))
    save_tiny(folder / "good", BertForMaskedLM)
    save_tiny(folder / "cut", BertForMaskedLM)
    os.truncate(folder / "cut" / "model.safetensors", 9_000)
    save_tiny(folder / "wordless", BertForMaskedLM)
    (folder / "wordless" / "vocab.txt").unlink()
    save_tiny(folder / "bytes", BertForMaskedLM)
    (folder / "bytes" / "vocab.txt").unlink()
    (folder / "bytes" / "tokenizer.json").write_text('{"model": {"type": "BPE"}}')
    (folder / "other").mkdir()
    (folder / "other" / "config.json").write_text('{"model_type": "gpt2", "vocab_size": 9}')
    (folder / "notes").mkdir()
    for name, values in ASKS_FOR.items():
        save_tiny(folder / name, BertForMaskedLM)
        path = folder / name / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | values), "utf-8")
    return folder


ASKS_FOR = {  # what is not computed here
    "activation": {"hidden_act": "foo"},
    "decoder": {"is_decoder": True},
    "relative": {"position_embedding_type": "relative_key"},
}


WHY = {
    "cut": "truncated",
    "wordless": "There is no tokenizer in wordless (found: nothing); expected tokenizer.json, ",
    "bytes": "bytes/tokenizer.json: model.vocab is None",
    "other": "'gpt2'",
    "notes": "It has no config.json or bert_config.json",
    "activation": "hidden_act is 'foo'; expected one of gelu, ",
    "decoder": "is_decoder is True; expected false",
    "relative": "position_embedding_type is 'relative_key'; expected 'absolute'",
}


def test_every_folder_that_cannot_be_used_is_listed_until_it_is_mended(shelf: Path) -> None:
    found = refusals()
    assert found.keys() == WHY.keys()
    for name, why in WHY.items():
        assert why in found[name] and str(shelf) not in found[name]
    assert list(usable()) == [BUNDLED_MODEL, TWIN, "good"]
    (shelf / "wordless" / "vocab.txt").write_bytes((shelf / "good" / "vocab.txt").read_bytes())
    assert "wordless" not in refusals()


def test_every_face_that_is_asked_for_it_gives_the_reason_and_what_can_be_used(
    shelf: Path,
) -> None:
    for name, why in WHY.items():
        for asked in (lambda: engine_of(name), lambda: ask("tokenizer", "the cat", model=name)):  # noqa: B023
            with pytest.raises(BertError) as caught:
                asked()
            assert why in str(caught.value)
            assert refused(caught.value).status == HTTPStatus.UNPROCESSABLE_ENTITY
    says = f"model: found 'nothing'; expected one of {BUNDLED_MODEL}, {TWIN}, good."
    with pytest.raises(InputError) as caught:
        engine_of("nothing")
    assert str(caught.value) == says
    choices = model_choices()
    assert choices[:3] == [(name, name) for name in (BUNDLED_MODEL, TWIN, "good")]
    shown = {name: label for label, name in choices[3:]}
    assert shown.keys() == WHY.keys()
    assert all(WHY[name] in label for name, label in shown.items())


def test_a_checkpoint_may_be_named_itself(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = make_copy(tmp_path / "cache", "someone--tiny")
    for path in (shelf / "good").iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    for path in (shelf / "good", copy, copy.parent.parent):
        monkeypatch.setenv("BERT_EXPLORER_MODELS", f"{path}{os.sep}")
        name = "good" if path.name == "good" else "someone/tiny"
        assert list(usable()) == list(offers()) == [BUNDLED_MODEL, TWIN, name]
        assert refusals() == {}
        assert ask("tokenizer", "the cat", model=name).model.name == name


def test_a_folder_without_any_model_is_listed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    weights = tmp_path / "weights"
    (weights / "logs").mkdir(parents=True)
    (weights / "model.safetensors").touch()
    monkeypatch.setenv("BERT_EXPLORER_MODELS", os.pathsep.join(map(str, tmp_path.iterdir())))
    assert refusals().keys() == {"empty", "weights", "logs"}


def test_a_copy_from_the_hub_without_its_main_branch_is_listed(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make_copy(shelf, "someone--half", main="f" * 40).parent.parent
    (shelf / "datasets--someone--texts").mkdir()
    assert refusals()[place.name].startswith("Its main branch is not on this machine")
    assert "datasets--someone--texts" not in refusals()
    assert COMMIT not in str(refusals())


def test_a_model_that_is_too_large_says_so(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.engine.models.usable.settings", lambda: Settings(model_bytes=1_000))
    assert "this server keeps at most 0 MiB" in refusals()["good"]
