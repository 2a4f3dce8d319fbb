"""What programs that watch the site ask: does it live, is it ready, does it answer, how much.

- `/livez`: the process answers. If it does not, start it again.
- `/readyz`: the model is loaded, and the server is not being stopped. Otherwise, send visitors
  elsewhere.
- `/healthz`: the model has just filled a gap, which a container's HEALTHCHECK asks.
- `/metrics`: counts and times, for Prometheus, where the operator opens it.

Streamlit's `/_stcore/health` only says that the server listens.
"""

import asyncio
import logging
import time
from collections.abc import Callable

from prometheus_client.exposition import choose_encoder
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.engine.counted import REGISTRY
from app.engine.loading import LOADING
from app.log import cause
from app.server.stopping import STOP
from app.shared import shared

_LOG = logging.getLogger(__name__)
_KEPT = 5.0  # seconds for which an answer is passed on, so that no client can keep the model busy
_PATIENCE = 20.0  # seconds; a class at work makes a short text wait, but not that long


async def live(_: Request | None = None) -> JSONResponse:
    """Answer 200."""
    return JSONResponse({"status": "lives"})


async def ready(_: Request | None = None) -> JSONResponse:
    """Answer 200 from when the model is loaded to when the server is told to stop, else 503.

    A shared store that is away is said, but is no reason to send visitors elsewhere: pages go on.
    """
    status = "ready" if LOADING.is_over() else "the model is being loaded"
    if STOP.draining:
        status = "the server is being stopped"
    answer = {"status": status, "shared": shared().state}
    return JSONResponse(answer, status_code=200 if status == "ready" else 503)


async def numbers(request: Request) -> Response:
    """Answer with all numbers of this process, in the form the client asks for."""
    write, kind = choose_encoder(request.headers.get("accept", ""))
    return Response(write(REGISTRY), media_type=None, headers={"content-type": kind})


class Health:
    """Requests that come together, or soon after, share one answer.

    Args:
        ask: lets the model answer, in a thread, and returns its name; raises if it does not.
        patience: seconds to wait for it.
        clock: the time in seconds.
    """

    def __init__(
        self,
        ask: Callable[[], str],
        *,
        patience: float = _PATIENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask, self._patience, self._clock = ask, patience, clock
        self._asked: asyncio.Task[str] | None = None
        self._until = 0.0

    async def answer(self, _: Request | None = None) -> JSONResponse:
        """Answer 200 with the model's name, or 503 if it fails or takes too long."""
        if self._asked is None or (self._asked.done() and self._clock() >= self._until):
            self._asked = asyncio.ensure_future(asyncio.to_thread(self._ask))
            self._asked.add_done_callback(self._answered)
        try:
            name = await asyncio.wait_for(asyncio.shield(self._asked), self._patience)
        except TimeoutError:
            status = f"the model has not answered for {self._patience:g} seconds"
        except Exception:  # noqa: BLE001  whatever it is, the model does not answer
            status = "the model cannot answer; the reason is in the log"
        else:
            return JSONResponse({"status": "answers", "model": name})
        return JSONResponse({"status": status}, status_code=503)

    def _answered(self, asked: "asyncio.Task[str]") -> None:
        self._until = self._clock() + _KEPT
        if not asked.cancelled() and (error := asked.exception()):
            _LOG.error("the model does not answer: %s", cause(error))
