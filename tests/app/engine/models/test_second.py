"""A second model beside the first: which is taken, and why one is refused."""

from pathlib import Path

import pytest

from app.engine.models import open_engine
from app.engine.models.second import second_model
from bert_core.errors import CheckpointError, InputError


@pytest.mark.usefixtures("tiny_model", "second_model")
def test_a_second_model_that_cannot_be_used_is_refused_with_a_reason(
    untrained_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = open_engine()
    for name in ("nonsense", str(untrained_folder), "../second-model", "\x1b<b>"):
        with pytest.raises(InputError, match=r"beside: found .*; expected one of .*second-model"):
            second_model(first, name)
    monkeypatch.setenv("BERT_EXPLORER_MODELS", str(untrained_folder))
    with pytest.raises(CheckpointError, match="has no trained masked-word head"):
        second_model(first, untrained_folder.name, "BertForMaskedLM")
    assert second_model(first, untrained_folder.name).provenance.name == untrained_folder.name
    monkeypatch.setenv("BERT_EXPLORER_MEMORY", "1")
    with pytest.raises(CheckpointError, match="MiB in memory; this server keeps at most 1 MiB"):
        second_model(first, "explorer-mini-uncased")
