"""Test the classification page from a visitor's point of view."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.engine.models import Engine
from app.features.classification import view as view
from bert_core import BertConfig, BertForSequenceClassification
from tests.conftest import save_tiny
from tests.drawings import printed

PAGE = "pages/8_classification.py"
ANSWER = 'role="status"'

Visit = Callable[..., Any]


def use_labels(folder: Path, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> Engine:
    """Make a tiny classifier with these settings the model of the site."""
    save_tiny(folder, BertForSequenceClassification)
    config = BertConfig.from_json_file(str(folder / "config.json")).to_dict()
    config.pop("id2label", None), config.pop("label2id", None)
    model = BertForSequenceClassification(BertConfig.from_dict({**config, **settings}))
    model.save_pretrained(folder)
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(folder))
    return Engine(str(folder))


def test_a_model_with_many_labels_draws_some_and_lists_all(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {n: f"topic <{n}>" for n in range(40)}
    kind = "multi_label_classification"
    use_labels(tmp_path / "many", monkeypatch, id2label=names, problem_type=kind)
    page = visit(PAGE, text="the cat")
    assert len(printed(page.pictures["classification"])) == 8
    assert "32 further labels" in page.words
    assert len(page.at.dataframe[0].value) == 40
    assert "topic <" not in page.markup


def test_labels_without_names_are_announced(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_labels(tmp_path / "nameless", monkeypatch, num_labels=5)
    page = visit(PAGE, text="the cat")
    assert "LABEL_0 to LABEL_4" in page.words and ANSWER in page.markup
