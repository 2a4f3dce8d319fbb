"""Models of other families over HTTP: they answer, or say in one sentence what they lack."""

from pathlib import Path

import pytest

from tests.app.faces.api.conftest import Api
from tests.family_models import FAMILIES, of_family

SENTENCES = {"first": "the cat sat.", "second": "the dog sat."}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_answers_over_http_or_says_what_it_was_not_trained_on(
    api: Api, family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(of_family(tmp_path, family)))
    filled = api.post("/api/fill_mask", {"text": "the cat ___ on the [MASK]."})
    assert filled.status_code == 200
    assert len(filled.json()["slots"]) == 2
    refused = api.post("/api/next_sentence", SENTENCES)
    says = refused.json()["error"]
    assert refused.status_code == 422, says
    assert "was not trained" in says
