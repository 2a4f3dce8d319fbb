"""A page on the tiny model, for tests to drive."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.visits import Visit


@pytest.fixture(autouse=True)
def without_gradio(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of another test in this process is not the page's."""
    monkeypatch.setattr("app.faces.streamlit.about.GRADIO", threading.Event())


@pytest.fixture
def visit(tiny_model: Path) -> Callable[..., Visit]:
    """Open a page on the tiny model; keywords become parameters of the address."""
    return Visit
