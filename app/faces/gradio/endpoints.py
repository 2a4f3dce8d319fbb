"""The named endpoints, made from the declarations.

An endpoint is named after its feature, its parameters are those of the task and `model`, and it
returns the result as JSON. Gradio's clients, its documentation and its `openapi.json` are made from
the signature and the docstring that are put together here; `app.faces.api` answers everybody else.
"""

import inspect
from collections.abc import Callable
from typing import Any, Literal, Optional

from app.declared import Declared, Parameter
from app.declared.answers import answer, engine_of
from app.faces.gradio.work import in_turn
from app.faces.paper.answers import ABOUT_MODEL, MODEL, PROVENANCE, about, record
from app.faces.paper.json import meanings

_KIND = inspect.Parameter.POSITIONAL_OR_KEYWORD


def endpoint(declared: Declared) -> Callable[..., Any]:
    """Write the function behind an endpoint."""
    parameters = [_parameter(each) for each in declared.parameters]
    parameters.append(inspect.Parameter(MODEL, _KIND, default="", annotation=str))
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
    hint: Any = list[str] if declared.kind is list else declared.kind
    if declared.choices:
        hint = Literal[declared.choices]
    if declared.optional:
        hint = Optional[hint]  # noqa: UP045 - Gradio reads this form of it
    default = inspect.Parameter.empty if declared.required else declared.default
    return inspect.Parameter(declared.name, _KIND, default=default, annotation=hint)


def _docstring(declared: Declared) -> str:
    takes = {
        each.name: f"{each.about} Expected: {each.expected()}." if each.limited else each.about
        for each in declared.parameters
    }
    gives = {key: says.rstrip(".") for key, says in meanings(declared.result).items()}
    sections = {"Args": takes | {MODEL: ABOUT_MODEL}, "Returns": gives | {"provenance": PROVENANCE}}
    return about(declared) + "".join(
        f"\n\n{title}:\n" + "\n".join(f"    {name}: {says}" for name, says in rows.items())
        for title, rows in sections.items()
    )
