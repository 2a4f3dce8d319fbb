"""The command line of `app.py`, read before anything slow is imported."""

import argparse
import os
from collections.abc import Sequence


def read_arguments(arguments: Sequence[str]) -> None:
    """Read models from the command line, which takes precedence over the environment.

    Args:
        arguments: the arguments after the script's name.
    """
    parser = argparse.ArgumentParser(prog="app.py", description="Serve BERT Explorer.")
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
