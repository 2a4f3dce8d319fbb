"""The documentation as a page, which asks for nothing from anywhere."""

import json
from collections.abc import Iterator
from functools import lru_cache

from starlette.requests import Request
from starlette.responses import Response

from app.declared import Declared, all_declared
from app.faces.api.described import REFUSALS
from app.faces.paper.answers import about
from app.faces.paper.json import meanings
from app.faces.paper.page import style
from app.words.html import Html, document, join, tag

_TITLE = "Calling the models from a program"
_STREAM = (
    "With “Accept: text/event-stream” the answer is a stream: “waiting” (how many are before you), "
    "“progress” (steps done and their number), then “answer” or “error”."
)


def documentation(request: Request) -> Response:
    """Write the page for the address it was asked at."""
    return Response(_page(str(request.url.replace(query="")).rstrip("/")), media_type="text/html")


@lru_cache(maxsize=8)
def _page(base: str) -> bytes:
    """Write the page; `base` is the address of the API."""
    names = (each.feature.slug for each in all_declared())
    links = tag("ul", *(tag("li", tag("a", name, href=f"#{name}")) for name in names))
    tools = f"{base.rpartition('/')[0]}/mcp"
    return document(
        _TITLE,
        style(),
        tag("h1", _TITLE),
        tag("p", "Send named values as JSON; the answer is JSON with the fields of the result."),
        tag("p", *_example(base)),
        tag("p", _STREAM),
        tag("p", "The same, for programs that read descriptions: ", _link("openapi.json")),
        tag("p", "All lessons as data: GET ", _link("lessons")),
        tag("p", "For assistants (MCP, streamable HTTP): ", tag("code", tools)),
        tag("h2", "When there is no answer"),
        tag("p", "The answer then is {“error”: the reason in words}."),
        _rows({str(status): says for status, says in REFUSALS.items()}),
        tag("h2", "Tasks"),
        links,
        *(_task(each) for each in all_declared()),
    )


def _link(address: str) -> Html:
    return tag("a", address, href=address)


def _example(base: str) -> Iterator[Html]:
    body = json.dumps({"text": "Paris is the [MASK] of France.", "top_k": 3})
    yield tag("code", f"curl -s {base}/fill_mask -H 'Content-Type: application/json' \\")
    yield tag("br")
    yield tag("code", f"  -d '{body}'")


def _task(found: Declared) -> Html:
    """Describe one task: what it does, takes and answers."""
    takes = {
        f"{each.name}{' (required)' * each.required}": f"{each.about} Expected: {each.expected()}."
        for each in found.parameters
    }
    return join(
        tag("h3", found.feature.title, " ", tag("code", found.feature.slug), id=found.feature.slug),
        tag("p", about(found)),
        _rows(takes),
        tag("p", "Answers:"),
        _rows(meanings(found.result)),
    )


def _rows(told: dict[str, str]) -> Html:
    rows = (tag("tr", tag("th", name, scope="row"), tag("td", says)) for name, says in told.items())
    return tag("table", *rows)
