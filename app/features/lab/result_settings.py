"""What can be set in a run of the lab; all of it but a text of one's own fits into a link."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from bert_core.errors import InputError

Value = str | int | float | bool
Settings = Mapping[str, Value]  # what differs from the usual run


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting."""

    name: Annotated[str, "in links and in the API"]
    label: Annotated[str, "on the screen"]
    choices: Annotated[tuple[Value, ...], "what it can be, the usual value first"]
    names: Annotated[
        tuple[str, ...], "of the choices on the screen; () if they are shown as they are"
    ] = ()

    def shown(self, value: Value) -> str:
        """Return a value as a person reads it."""
        if self.names:
            return self.names[self.choices.index(value)]
        if isinstance(value, bool):
            return "yes" if value else "no"
        return f"{value:,}" if isinstance(value, int) else f"{value:g}"


@cache
def settings() -> Mapping[str, Setting]:
    """Return all settings by name."""
    read = tomllib.loads(Path(__file__).with_name("settings.toml").read_text(encoding="utf-8"))
    rows = (
        Setting(row["name"], row["label"], tuple(row["choices"]), tuple(row.get("names", ())))
        for row in read["setting"]
    )
    return {each.name: each for each in rows}


def changed(values: Settings) -> dict[str, Value]:
    """Return what differs from the usual run, in the order of the settings.

    >>> changed({"mask_rate": 40, "layers": 2})
    {'mask_rate': 40}

    Raises:
        InputError: a value is none of its choices.
    """
    found: dict[str, Value] = {}
    for name, setting in settings().items():
        value = values.get(name, setting.choices[0])
        if (type(value), value) not in [(type(each), each) for each in setting.choices]:
            raise InputError(
                f"{name} is {str(value)[:40]!r}; expected one of "
                f"{', '.join(map(str, setting.choices))}."
            )
        if value != setting.choices[0]:
            found[name] = value
    return found


def link(values: Settings) -> dict[str, str]:
    """Return a run as the parameters of an address.

    >>> link({"mask_rate": 40, "positions": False})
    {'mask_rate': '40', 'positions': 'False'}
    """
    return {name: str(value) for name, value in changed(values).items()}


def of_address(given: Mapping[str, str]) -> Settings:
    """Read the parameters of an address; what is none of the choices is left out.

    >>> of_address({"mask_rate": "40", "positions": "False", "layers": "9", "text": "x"})
    {'mask_rate': 40, 'positions': False}
    """
    rows = settings().items()
    known = {name: {str(each): each for each in setting.choices} for name, setting in rows}
    return changed({name: known[name][given[name]] for name in known
                    if given.get(name) in known[name]})  # fmt: skip


def named(values: Settings) -> str:
    """Name a run by what differs from the usual one.

    >>> named({"positions": False, "mask_rate": 40}), named({})
    ('Hidden words (%): 40, Positions: no', 'the usual run')
    """
    parts = (f"{settings()[name].label}: {settings()[name].shown(value)}"
             for name, value in changed(values).items())  # fmt: skip
    return ", ".join(parts) or "the usual run"


def file_name(values: Settings) -> str:
    """Return the name of a recording; settings are few choices, so it is never a path.

    >>> file_name({"mask_rate": 80}), file_name({})
    ('mask_rate-80.json', 'usual.json')
    """
    return ("_".join("-".join(pair) for pair in link(values).items()) or "usual") + ".json"
