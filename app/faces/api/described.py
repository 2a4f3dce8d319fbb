"""Parameters and results of tasks as JSON Schema, and all tasks as OpenAPI 3.1."""

from functools import cache
from typing import Any

from app.declared import Declared, Parameter, all_declared
from app.faces.paper.answers import ABOUT_MODEL, MODEL, PROVENANCE, about
from app.faces.paper.json import meanings

_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}
REFUSALS = {
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
    found: dict[str, Any] = {"type": "object", "properties": properties}
    return {**found, "required": required, "additionalProperties": False}


def given(declared: Declared) -> dict[str, Any]:
    """Describe what a task answers, as JSON Schema: its keys and what they mean."""
    told = {**meanings(declared.result), "provenance": PROVENANCE}
    properties = {key: {"description": says} for key, says in told.items()}
    return {"type": "object", "properties": properties}


def _parameter(found: Parameter) -> dict[str, Any]:
    """Describe one parameter."""
    several = {"type": "array", "items": {"type": "string"}}
    kind: dict[str, Any] = several if found.kind is list else {"type": _TYPES[found.kind]}
    if found.choices:
        kind["enum"] = [*found.choices]
    if found.field.low is not None:
        kind["minimum"] = found.field.low
    if found.field.high is not None:
        kind["maximum"] = found.field.high
    if found.optional:
        kind = {"anyOf": [kind, {"type": "null"}]}
    if not found.required:
        default = found.default
        kind["default"] = [*default] if isinstance(default, tuple) else default
    limits = f" Expected: {found.expected()}." if found.limited else ""
    return {**kind, "title": found.field.label, "description": f"{found.about}{limits}"}


_LESSONS = {
    "operationId": "lessons",
    "summary": "Lessons",
    "description": "All lessons as they are in their files: steps, questions, choices, replies.",
    "responses": {"200": {"description": "the lessons, in a list", "content": {
        "application/json": {"schema": {"type": "object"}}}}},
}  # fmt: skip


@cache
def openapi(base: str) -> dict[str, Any]:
    """Describe all tasks.

    Args:
        base: the address of the API on this server, such as "/api/".
    """
    paths = {f"/{each.feature.slug}": {"post": _operation(each)} for each in all_declared()}
    paths["/lessons"] = {"get": _LESSONS}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "BERT Explorer",
            "version": "1",
            "description": "Every task of the site: named values in, the result as JSON out. "
            "Positions count from 0; probabilities go from 0 to 1.",
        },
        "servers": [{"url": base.rstrip("/")}],
        "paths": paths,
        "components": {
            "schemas": {
                "Refusal": {
                    "type": "object",
                    "properties": {"error": {"type": "string", "description": "why, in words"}},
                    "required": ["error"],
                }
            }
        },
    }


def _operation(declared: Declared) -> dict[str, Any]:
    """Describe the call of one task."""
    refusal = {"$ref": "#/components/schemas/Refusal"}
    refusals = {
        str(status): {"description": says, "content": {"application/json": {"schema": refusal}}}
        for status, says in REFUSALS.items()
    }
    answer = {"application/json": {"schema": given(declared)},
              "text/event-stream": {"schema": {"type": "string"}}}  # fmt: skip
    return {
        "operationId": declared.feature.slug,
        "summary": declared.feature.title,
        "description": about(declared),
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": taken(declared)}},
        },
        "responses": {"200": {"description": "the result", "content": answer}, **refusals},
    }
