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
    """Return routes that answer "not here" below every page, and nothing at the root itself.

    Args:
        below: path of the whole site, with a slash at its end.
    """
    return [Route(f"{below}{{page}}{SERVER}/{probe}", _not_here) for probe in _PROBES]


async def _not_here(_: Request) -> Response:
    """Answer 300, multiple choices, without a choice: the front end goes on to its next address."""
    return Response(status_code=300)
