"""Drive a page as a visitor would, without a browser."""

import json
from typing import Any

from streamlit.testing.v1 import AppTest

from app.settings import ROOT
from tests.compat.streamlit import events_of, run_with, widget_states
from tests.drawings import pictures, words

TIMEOUT = 60  # seconds; the first run in a process imports modules and loads models


def unopened(script: str, **address: Any) -> AppTest:
    """Return a page, or with `app.py` the whole site, that has not run yet."""
    at = AppTest.from_file(str(ROOT / script), default_timeout=TIMEOUT)
    at.query_params.update(address)
    return at


def opened(script: str, **address: Any) -> AppTest:
    """Open a page by its address."""
    return checked(unopened(script, **address))


def checked(at: AppTest) -> AppTest:
    """Run a page, which may raise nothing."""
    at.run()
    assert [error.value for error in at.exception] == []
    return at


def press(at: AppTest, label: str) -> AppTest:
    """Press the button with this label."""
    next(button for button in at.button if button.label == label).click()
    return checked(at)


def labels(at: AppTest) -> list[str]:
    """Return what is written on the buttons of a page."""
    return [button.label for button in at.button]


def markup(at: AppTest) -> str:
    """Return all of the site's own markup on a page, except pictures; 95 % with a plain space."""
    shown = (json.loads(each.proto.json or "{}") for each in at.get("bidi_component"))
    drawn = (each.get("markup", "") for each in shown)
    return "".join(
        [
            *(str(element.proto.body) for element in at.get("html")),
            *(each for each in drawn if "<figure" not in each),
        ]
    ).replace("\u00a0%", " %")


class Visit:
    """An open page: what it shows, and the actions a visitor can take."""

    def __init__(self, script: str, **address: Any) -> None:
        self.at = unopened(script, **address)
        self.run()

    def run(self) -> "Visit":
        checked(self.at)
        return self

    @property
    def markup(self) -> str:
        """All of the site's own markup on the page, except pictures."""
        return markup(self.at)

    @property
    def pictures(self) -> dict[str, str]:
        """The markup of every picture, by the picture's name."""
        return pictures(self.at)

    @property
    def words(self) -> str:
        """The text of the site's own markup, as a browser shows it."""
        return words(self.markup)

    @property
    def labels(self) -> list[str]:
        """What is written on the buttons."""
        return labels(self.at)

    @property
    def warnings(self) -> str:
        return " ".join(box.value for box in self.at.warning)

    @property
    def errors(self) -> str:
        return " ".join(box.value for box in self.at.error)

    def type(self, text: str, key: str = "text") -> "Visit":
        """Replace the text of a box."""
        return self.choose(key, text)

    def choose(self, key: str, value: object) -> "Visit":
        """Give any widget another value."""
        widget: Any = next(each for each in self.at.main if getattr(each, "key", None) == key)
        widget.set_value(value)
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
        press(self.at, label)
        return self
