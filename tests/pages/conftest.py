"""A page on the tiny model, for tests to drive."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.data.samples import sample
from app.engine.compute.recent import Cache
from tests.visits import Visit

FEW_ANSWERED = Cache(2**20)


@pytest.fixture(autouse=True)
def without_gradio(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of another test in this process is not the page's."""
    monkeypatch.setattr("app.faces.streamlit.about.GRADIO", threading.Event())


@pytest.fixture
def visit(tiny_model: Path) -> Callable[..., Visit]:
    """Open a page on the tiny model; keywords become parameters of the address."""
    return Visit


@pytest.fixture
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer only the first rows of our tables."""
    page = "app.faces.streamlit.features.data"
    monkeypatch.setattr(f"{page}.WORKS", FEW_ANSWERED)
    monkeypatch.setattr(
        f"{page}.sample", lambda name: replace(sample(name), rows=sample(name).rows[:24])
    )
