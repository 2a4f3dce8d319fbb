"""The model that lessons were written for."""

import pytest

from app.engine.models import Engine, open_engine


@pytest.fixture
def bundled(monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.delenv("BERT_EXPLORER_MODEL", raising=False)
    return open_engine()
