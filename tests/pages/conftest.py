"""Drive a page as a visitor would, without a browser."""

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.compat.streamlit import events_of, run_with, widget_states
from tests.drawings import pictures, words

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 60  # seconds; the first run in a process imports modules and loads models


class Visit:
    """An open page: what it shows, and the actions a visitor can take."""

    def __init__(self, script: str, **address: str) -> None:
        self.at = AppTest.from_file(str(ROOT / script), default_timeout=TIMEOUT)
        for name, value in address.items():
            self.at.query_params[name] = value
        self.run()

    def run(self) -> "Visit":
        self.at.run()
        assert [error.value for error in self.at.exception] == []
        return self

    @property
    def markup(self) -> str:
        """All of the site's own markup on the page, except pictures."""
        drawn = "".join(each for each in self._components if "<figure" not in each)
        return "".join(str(element.proto.body) for element in self.at.get("html")) + drawn

    @property
    def _components(self) -> list[str]:
        shown = (json.loads(each.proto.json) for each in self.at.get("bidi_component"))
        return [each["markup"] for each in shown if "markup" in each]

    @property
    def pictures(self) -> dict[str, str]:
        """The markup of every picture, by the picture's name."""
        return pictures(self.at)

    @property
    def words(self) -> str:
        """The text of the site's own markup, as a browser shows it."""
        return words(self.markup)

    @property
    def warnings(self) -> str:
        return " ".join(box.value for box in self.at.warning)

    @property
    def errors(self) -> str:
        return " ".join(box.value for box in self.at.error)

    def type(self, text: str, key: str = "text") -> "Visit":
        """Replace the text of a box."""
        self.at.text_area(key=key).set_value(text)
        return self.run()

    def pick(self, name: str, value: object) -> "Visit":
        """Click on markup that carries `data-pick`, as the bridge would report it."""
        bridge = next(
            each.proto
            for each in self.at.get("bidi_component")
            if each.proto.component_name.endswith(".bridge")
        )
        states = widget_states(self.at)
        event = {"event": "pick", "value": {"name": name, "value": value}}
        states.widgets.add(
            id=events_of(bridge.id),
            json_trigger_value=json.dumps([event]),
        )
        run_with(self.at, states)
        assert [error.value for error in self.at.exception] == []
        return self

    def click(self, label: str) -> "Visit":
        """Press the button with this label."""
        next(button for button in self.at.button if button.label == label).click()
        return self.run()


@pytest.fixture(autouse=True)
def without_gradio(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of another test in this process is not the page's."""
    monkeypatch.setattr("app.faces.streamlit.about.GRADIO", threading.Event())


@pytest.fixture
def visit(tiny_model: Path) -> Callable[..., Visit]:
    """Open a page on the tiny model; keywords become parameters of the address."""
    return Visit
