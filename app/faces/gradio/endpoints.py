"""The named endpoints, made from the declarations.

An endpoint is named after its feature, its parameters are those of the task and `model`, and it
returns the result as JSON. Gradio's clients, its documentation and its `openapi.json` are made from
the signature and the docstring that are put together here; `app.faces.api` answers everybody else.
"""

import inspect
from collections.abc import Callable
from typing import Any, Literal, Optional

import gradio as gr

from app.declared import Declared, Parameter
from app.declared.answers import answer, engine_of
from app.faces.gradio.work import in_turn
from app.faces.paper.answers import ABOUT_MODEL, MODEL, PROVENANCE, about, record
from app.faces.paper.json import meanings

_TYPES: dict[type, Any] = {list: list[str]}


def add_endpoint(declared: Declared) -> None:
    """Add the endpoint of a feature to the page under construction."""
    gr.api(endpoint(declared), api_name=declared.feature.slug)  # type: ignore[attr-defined]


def endpoint(declared: Declared) -> Callable[..., Any]:
    """Write the function behind an endpoint."""
    parameters = [_parameter(each) for each in declared.parameters]
    parameters.append(_named(MODEL, "", str))
    signature = inspect.Signature(parameters, return_annotation=dict)

    async def call(*values: Any, **named: Any) -> dict[str, Any]:
        given = dict(signature.bind(*values, **named).arguments)
        model = given.pop(MODEL, "")
        return await in_turn(lambda: record(answer(declared, engine_of(model), given)))

    call.__name__ = call.__qualname__ = declared.feature.slug
    call.__doc__ = _docstring(declared)
    call.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": dict}
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _parameter(declared: Parameter) -> inspect.Parameter:
    """Write one parameter of the signature."""
    hint: Any = _TYPES.get(declared.kind, declared.kind)
    if declared.choices:
        hint = Literal[declared.choices]
    if declared.optional:
        hint = Optional[hint]  # noqa: UP045 - Gradio reads this form of it
    return _named(
        declared.name, inspect.Parameter.empty if declared.required else declared.default, hint
    )


def _named(name: str, default: Any, hint: Any) -> inspect.Parameter:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(name, kind, default=default, annotation=hint)


def _docstring(declared: Declared) -> str:
    """Write the documentation: what the task does, what it takes, what must not be concluded."""
    takes = [f"    {each.name}: {each.about}{_limits(each)}" for each in declared.parameters]
    told = meanings(declared.result).items()
    gives = [f"    {key}: {says.rstrip('.')}" for key, says in told]
    return "\n".join(
        [
            about(declared),
            "",
            "Args:",
            *takes,
            f"    {MODEL}: {ABOUT_MODEL}",
            "",
            "Returns:",
            *gives,
            f"    provenance: {PROVENANCE}",
        ]
    )


def _limits(given: Parameter) -> str:
    """Say what the type of a parameter does not say."""
    return f" Expected: {given.expected()}." if given.limited else ""
