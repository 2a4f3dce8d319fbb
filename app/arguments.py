"""The command line of `app.py`, read before anything slow is imported."""

import argparse
import os
from collections.abc import Sequence

_MORE = """other commands:
  python -m app                    the tasks, each as a command: python -m app fill_mask TEXT
  python -m app batch TASK FILE    ask a task about every row of a file
  python -m app lesson             what a model shows of the lessons; sheets to print
  python -m app lessons measure    the claims of all lessons, measured on another model
  python -m app sheet              problem sheets: copy and grade them
  python -m app record OUT         the site as plain files, for any host
  python -m app fetch FOLDER       models for a room without a network
  python gradio_app.py             the Gradio pages alone, as on a Space

Settings are environment variables; docs/hosting.md lists them."""


def read_arguments(arguments: Sequence[str]) -> None:
    """Read models from the command line, which takes precedence over the environment.

    Args:
        arguments: the arguments after the script's name.
    """
    parser = argparse.ArgumentParser(
        prog="app.py",
        description="Serve BERT Explorer.",
        epilog=_MORE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--model",
        metavar="MODEL",
        help="what pages start with: a bundled name, a folder, or an id on the Hugging Face Hub",
    )
    parser.add_argument(
        "--models",
        metavar="FOLDER",
        action="append",
        help="a folder whose models visitors may choose; may be given several times",
    )
    given = parser.parse_args(arguments)
    if given.model:
        os.environ["BERT_EXPLORER_MODEL"] = given.model
    if given.models:
        os.environ["BERT_EXPLORER_MODELS"] = os.pathsep.join(given.models)
