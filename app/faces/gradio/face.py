"""The whole face: its pages, its endpoints, and how many calls it takes at once."""

import inspect
import os
import warnings
from collections.abc import Callable
from typing import Any, Literal, Optional

import gradio as gr
from fastapi import FastAPI
from starlette.middleware import Middleware

from app.compat.gradio import begin_page, limit_queue, own_sessions
from app.declared import Declared, Parameter, all_declared
from app.declared.answers import answer, engine_of
from app.faces.gradio.lessons import lessons_page
from app.faces.gradio.look import head, script, theme
from app.faces.gradio.pages import feature_page, home_page
from app.faces.gradio.routes import OwnRoutes
from app.faces.gradio.work import Face, in_turn
from app.faces.paper.answers import ABOUT_MODEL, MODEL, PROVENANCE, about, record
from app.faces.paper.json import meanings

SESSIONS = 100
"""Sessions that Gradio remembers. Nothing is lost with a session: each call brings its values."""

UNFETCHED = 500
"""Callers whose answers are kept until they are fetched; beyond that, the oldest are dropped."""

QUEUED = 1_000
"""Calls of the pages that Gradio keeps in its queue, which hands each on at once: whose turn it is
is decided in `app.engine.compute`."""

QUEUE_PAUSE, PROGRESS_PAUSE = 0.02, 0.2
"""Seconds between Gradio's looks at its queue, which has no bell. Its own are 0.001 and 0.01, which
cost 5 % of a core while there is no visitor."""

OPTIONS: dict[str, Any] = {
    "theme": theme(),
    "head": head(),
    "js": script(),
    "footer_links": ["api"],
    "run_history": False,
    "enable_monitoring": False,
    "max_file_size": "1kb",
    "mcp_server": False,
    "ssr_mode": False,
    "pwa": False,
}


# Nothing about visitors is sent anywhere or counted: Gradio would keep the session, time and
# endpoint of 10,000 calls, and make a table of them after every call.
_QUIET = {
    "GRADIO_ANALYTICS_ENABLED": "False",
    "GRADIO_ANALYTICS_MAX_EVENTS": "1",
    "GRADIO_ANALYTICS_CACHE_FREQUENCY": "1000000000",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}


def build(twin: str = "") -> gr.Blocks:
    """Build all pages and endpoints; `twin` is the address of the Streamlit pages, or ""."""
    os.environ.update(_QUIET)
    face = Face(
        title="BERT Explorer", analytics_enabled=False, fill_width=True, delete_cache=(3600, 3600)
    )
    with face:
        home_page(twin)
        lessons_page(face, f"{twin}lessons" if twin else "")
        for declared in all_declared():
            row = declared.feature
            begin_page(face, row.slug, row.title)
            feature_page(face, declared, f"{twin}{row.folder}" if twin else "")
            gr.api(endpoint(declared), api_name=row.slug)  # type: ignore[attr-defined]
    face.queue(max_size=QUEUED, default_concurrency_limit=None, api_open=False)
    own_sessions(face, SESSIONS)
    limit_queue(
        face, threads=QUEUED, unfetched=UNFETCHED, pause=QUEUE_PAUSE, progress_pause=PROGRESS_PAUSE
    )
    return face


def own_app(face: gr.Blocks) -> dict[str, Any]:
    """Return what Gradio's application is made with."""
    # Gradio says so whatever `ssr_mode` is.
    warnings.filterwarnings("ignore", "SSR mode is not supported with multi-page apps")
    return {"middleware": [Middleware(OwnRoutes, face=face)]}


def at_path(face: gr.Blocks, path: str) -> FastAPI:
    """Return an application that serves the interface at a path: "/", or one beside others."""
    app: FastAPI = gr.mount_gradio_app(
        FastAPI(docs_url=None, redoc_url=None, openapi_url=None),
        face,
        path,
        **OPTIONS,
        app_kwargs=own_app(face),
    )
    return app


# -- endpoints -------------------------------------------------------------------------------------


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
