"""The command line of the recorded site: `python -m app record OUT`."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from app.faces.paper.arguments import Parser, refused, say
from bert_core.errors import BertError


def main(arguments: Sequence[str]) -> int:
    """Record all examples; return the exit status: 0, or 2 if it cannot be done.

    The date is today's, or that of `SOURCE_DATE_EPOCH` (seconds since 1970), with which programs
    are asked for output that can be reproduced.
    """
    parser = Parser(prog="python -m app record", description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT", help="an empty or a new folder")
    parser.add_argument("--model", help="a bundled name or a folder; default: the site's model")
    parser.add_argument("--live", action="store_true", help="pages answer in the browser, too")
    given = parser.parse_args(arguments)
    from app.engine.models import open_engine
    from app.engine.models.shelf import offer_of
    from app.faces.recorded.writing import record

    try:
        engine = open_engine(offer_of(given.model) if given.model else None)
        size = record(engine, given.out, _today(), lambda text: say(f"  {text}"), live=given.live)
    except BertError as error:
        return refused(error)
    say(f"{given.out / 'index.html'}: {size / 1e6:.1f} MB in all.")
    return 0


def _today() -> str:
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(seconds), UTC) if seconds.isdigit() else datetime.now(UTC)
    return f"{now:%Y-%m-%d}"
