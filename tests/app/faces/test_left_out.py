"""What no class computes with is named wherever a model is shown."""

import json
from pathlib import Path

import pytest
import torch

from app.declared import declared
from app.faces import ask
from app.faces.batch.answering import answer_rows
from app.faces.gradio.written import write
from bert_core import BertForMaskedLM
from tests.conftest import save_tiny
from tests.visits import markup, opened

GAP = "the [MASK] sat"
NAMES = ["score.bias", "score.weight"]
SAYS = "Left out of its files: score (2 weights)."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model with a head that no class has."""
    found = save_tiny(tmp_path / "model", BertForMaskedLM)
    state = BertForMaskedLM.from_pretrained(found).state_dict()
    (found / "model.safetensors").unlink()
    more = {name: torch.zeros(3) for name in NAMES}
    torch.save({**state, **more}, found / "pytorch_model.bin")
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(found))
    return found


def test_weights_that_nothing_computes_with_are_named_on_every_face(folder: Path) -> None:
    answer = ask("fill_mask", GAP, model=str(folder))
    row = json.loads(answer_rows("fill_mask", str(folder), [({"text": GAP}, "")]))
    for each in (answer.json(), row["answer"]):
        assert sorted(each["provenance"]["left_out"]) == NAMES
    for shown in (answer.text(), ask("model_card", model=str(folder)).text()):
        assert SAYS in " ".join(shown.split())
    assert SAYS in answer.html().decode()
    assert SAYS in str(write(declared("fill_mask"), {"text": GAP}, "").markup)


@pytest.mark.parametrize("page", ["2_fill_mask", "7_model_card"])
def test_pages_name_them_in_the_line_of_the_model(folder: Path, page: str) -> None:
    assert SAYS in markup(opened(f"pages/{page}.py"))
