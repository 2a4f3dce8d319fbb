"""Where the Streamlit interface's browser looks for its server, below the name of a page.

On a page such as `/ner`, Streamlit's front end cannot know whether `ner` is a page or the path of
the whole site. It first asks for `/ner/_stcore/health` and `/ner/_stcore/host-config`, and after
any failure for the same at the root. A 404 would work, but browsers write it to the console as an
error; they do not write a 300, which is no success either.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.compat.streamlit import SERVER

_PROBES = ("health", "host-config")


def elsewhere(below: str) -> list[Route]:
    """Return routes that answer "not here" below every page of a site at `below`, not at its root.

    300 is "multiple choices", without a choice: the front end goes on to its next address.
    """

    async def not_here(_: Request) -> Response:
        return Response(status_code=300)

    return [Route(f"{below}{{page}}{SERVER}/{probe}", not_here) for probe in _PROBES]
