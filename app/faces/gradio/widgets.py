"""The widgets of a form, made from the declared parameters, and their values."""

from collections.abc import Mapping, Sequence

import gradio as gr
from gradio.components import Component

from app.declared import Declared, Parameter
from app.engine.models import offers
from app.engine.models.usable import refusals
from app.faces.gradio.carry import name_of
from app.settings import settings

ANY, YES, NO = "as the model was trained", "yes", "no"
NOT_CHOSEN = "not chosen"
_TRUTH = {ANY: None, YES: True, NO: False}


def widget(given: Parameter) -> Component:
    """Draw the widget of one parameter."""
    label = given.field.label
    if given.field.model:
        return gr.Dropdown([(NOT_CHOSEN, ""), *model_choices()], value="", label=label)
    if given.choices:
        return gr.Dropdown(list(given.choices), value=str(given.default), label=label)
    if given.kind is bool and given.optional:
        return gr.Radio([*_TRUTH], value=ANY, label=label)
    if given.kind is bool:
        return gr.Checkbox(value=bool(given.default), label=label)
    if given.kind in {int, float}:
        return _number(given)
    return gr.Textbox(
        label=label,
        lines=max(1, given.field.lines),
        max_lines=max(8, given.field.lines),
        max_length=settings().text_chars,
        placeholder=given.field.hint or None,
        elem_id=name_of(given),
    )


def model_choices() -> list[tuple[str, str]]:
    """Return what the list of models shows and means; the first is the default."""
    refused = refusals()
    good = [(name, name) for name in offers() if name not in refused]
    return good + [(f"{name}: cannot be used. {why}", name) for name, why in refused.items()]


def _number(given: Parameter) -> Component:
    low, high, label = given.field.low, given.field.high, given.field.label
    whole = given.kind is int
    value = given.default if isinstance(given.default, int | float) else None
    if value is None or low is None or high is None:
        places = 0 if whole else None
        return gr.Number(value=value, minimum=low, maximum=high, precision=places, label=label)
    return gr.Slider(low, high, value=value, step=1 if whole else None, label=label)


def read(declared: Declared, values: Sequence[object]) -> dict[str, object]:
    """Turn the values of the widgets, in the order of the parameters, into those of the task."""
    given = zip(declared.parameters, values, strict=True)
    return {each.name: _read(each, value) for each, value in given}


def _read(given: Parameter, value: object) -> object:
    if given.kind is bool and given.optional and isinstance(value, str):
        return _TRUTH.get(value, value)
    if given.kind is list and isinstance(value, str):
        return [line for line in value.splitlines() if line.strip()]
    return value


def filled(declared: Declared, values: Mapping[str, object]) -> list[object]:
    """Return the values of all widgets for those of a task; the others take their defaults."""
    return [_shown(each, values.get(each.name, each.default)) for each in declared.parameters]


def _shown(given: Parameter, value: object) -> object:
    if given.kind is list:
        return "\n".join(value) if isinstance(value, tuple | list) else value or ""
    if given.kind is str and not given.choices:
        return value or ""
    if given.kind is bool and given.optional:
        return next(name for name, truth in _TRUTH.items() if truth is value)
    return value
