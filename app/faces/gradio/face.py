"""The whole face: its pages, its endpoints, and how many calls it takes at once."""

import os
import warnings
from typing import Any

import gradio as gr
from fastapi import FastAPI
from starlette.middleware import Middleware

from app.compat.gradio import begin_page, limit_queue, own_sessions
from app.declared import all_declared
from app.faces.gradio.endpoints import endpoint
from app.faces.gradio.lessons import lessons_page
from app.faces.gradio.look import head, script, theme
from app.faces.gradio.pages import feature_page, home_page
from app.faces.gradio.routes import OwnRoutes
from app.faces.gradio.work import Face

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

_OPTIONS: dict[str, Any] = {
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


def at_path(face: gr.Blocks, path: str) -> FastAPI:
    """Return an application that serves the interface at a path: "/", or one beside others."""
    # Gradio says so whatever `ssr_mode` is.
    warnings.filterwarnings("ignore", "SSR mode is not supported with multi-page apps")
    app: FastAPI = gr.mount_gradio_app(
        FastAPI(docs_url=None, redoc_url=None, openapi_url=None),
        face,
        path,
        **_OPTIONS,
        app_kwargs={"middleware": [Middleware(OwnRoutes, face=face)]},
    )
    return app
