"""Parameters and results of tasks as JSON Schema."""

from typing import Any

from app.declared import Declared, Parameter
from app.faces.paper.answers import ABOUT_MODEL, MODEL, PROVENANCE
from app.faces.paper.json import meanings

_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}
REFUSALS: dict[int | str, str] = {
    400: "not JSON, or no object",
    404: "there is no such task",
    413: "longer than 1,000,000 bytes",
    422: "a value or the text cannot be used, or the model cannot answer; the sentence says why",
    429: "rate limit reached; `Retry-After` has the seconds to wait",
    500: "an error of ours; the number is in the log, the text is not",
    503: "too many calls are waiting, or the server is being stopped",
}
"""What each status other than 200 means."""


def taken(declared: Declared) -> dict[str, Any]:
    """Describe what a task takes, as JSON Schema."""
    properties = {each.name: _parameter(each) for each in declared.parameters}
    properties[MODEL] = {"type": "string", "default": "", "description": ABOUT_MODEL}
    required = [each.name for each in declared.parameters if each.required]
    return {"type": "object", "properties": properties, "required": required,
            "additionalProperties": False}  # fmt: skip


def given(declared: Declared) -> dict[str, Any]:
    """Describe what a task answers, as JSON Schema: its keys and what they mean."""
    says = {**meanings(declared.result), "provenance": PROVENANCE}
    properties = {key: {"description": meaning} for key, meaning in says.items()}
    return {"type": "object", "properties": properties}


def _parameter(parameter: Parameter) -> dict[str, Any]:
    kind: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
    if parameter.kind is not list:
        kind = {"type": _TYPES[parameter.kind]}
    limits = {"enum": list(parameter.choices) or None, "minimum": parameter.field.low,
              "maximum": parameter.field.high}  # fmt: skip
    kind |= {key: value for key, value in limits.items() if value is not None}
    if parameter.optional:
        kind = {"anyOf": [kind, {"type": "null"}]}
    if not parameter.required:
        default = parameter.default
        kind["default"] = [*default] if isinstance(default, tuple) else default
    return {**kind, "description": parameter.about}
