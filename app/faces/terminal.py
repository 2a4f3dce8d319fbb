"""The command line: `python -m app TASK TEXT [--parameter VALUE]`, made from the declarations.

What it says of the tasks is kept in `terminal.json` (`python -m tools.derive api`), because reading
the declarations imports PyTorch, which takes seconds.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.faces.paper.arguments import Parser, add_value, as_option, refused

LISTED = Path(__file__).with_name("terminal.json")  # the descriptions of the tasks; see `listed`

_SWITCHES = ("model", "json", "html")

_MORE = """commands that are no task (each has --help):
  batch TASK FILE   ask a task about every row of a file
  lesson            what a model shows of the lessons; sheets to print
  lessons measure   the claims of all lessons, measured on another model
  sheet             problem sheets: copy and grade them
  record OUT        the site as plain files, for any host
  fetch FOLDER      models for a room without a network

python app.py serves the site, python gradio_app.py the Gradio pages alone."""


def main(arguments: Sequence[str]) -> int:
    """Ask a task and print its answer.

    Returns:
        The exit status: 0, or 2 if there is no answer; one line on stderr says why.
    """
    parser = _parser(_known(arguments))
    given = vars(parser.parse_args(arguments))
    task = given.pop("task", None)
    if task is None:
        sys.stdout.write(parser.format_help())
        return 0
    from app.faces.paper.opening import opening

    with opening(given["model"]):
        return _answered(task, given)


def _answered(task: str, given: dict[str, Any]) -> int:
    from app.faces.paper.answers import ask
    from bert_core.errors import BertError, InputError

    asked, json_, html = (given.pop(name) for name in _SWITCHES)
    try:
        given = {name: _text_of(value) for name, value in given.items()}
        answer = ask(task, model=asked, **given)
        if answer.report.unanswered:
            raise InputError(answer.report.headline)
        if html:
            _write(Path(html), answer.html())
        else:
            width = shutil.get_terminal_size((100, 24))[0]
            ascii_ = sys.stdout.encoding.lower() != "utf-8"
            plain = json.dumps(answer.json(), ensure_ascii=ascii_, allow_nan=False) + "\n"
            sys.stdout.write(plain if json_ else answer.text(width))
    except BertError as error:
        return refused(error)
    return 0


def _text_of(value: object) -> object:
    """Return a value; "-" reads it from standard input."""
    if value not in ("-", ["-"]):
        return value
    from bert_core.small_files import read_text

    try:
        raw = sys.stdin.read().encode(
            "utf-8", "surrogateescape"
        )  # as Python reads without a locale
    except UnicodeDecodeError as error:
        raw = error.object
    return read_text(raw, "Standard input")


def _write(path: Path, page: bytes) -> None:
    try:
        path.write_bytes(page)
    except OSError as error:
        from bert_core.errors import InputError

        raise InputError(
            f"{path} cannot be written: {error.strerror}. Name another file."
        ) from None
    sys.stderr.write(f"{path}: {len(page):,} bytes written.\n")


def _known(arguments: Sequence[str]) -> list[dict[str, Any]]:
    """Return what is kept of the tasks, unless one is asked for that is newer."""
    kept: list[dict[str, Any]] = json.loads(LISTED.read_text(encoding="utf-8"))
    named = arguments[0] if arguments and not arguments[0].startswith("-") else ""
    return kept if not named or any(each["task"] == named for each in kept) else listed()


def listed() -> list[dict[str, Any]]:
    """Return what the command line says of each task, from the declarations."""
    from app.declared import all_declared
    from app.faces.paper.json import all_meanings

    return [
        {
            "task": each.feature.slug,
            "see": each.feature.see,
            "about": f"{each.about} {each.feature.beware}",
            "values": [
                *map(as_option, each.typed),
                *(as_option(one) for one in each.parameters if not one.required),
            ],
            "answer": all_meanings(each.result),
        }
        for each in all_declared()
    ]


def _parser(tasks: list[dict[str, Any]]) -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m app",
        description="Ask BERT from the command line.",
        epilog=_MORE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    known = parser.add_subparsers(metavar="TASK", dest="task")
    for each in tasks:
        _add_task(known, each)
    return parser


def _add_task(tasks: Any, found: dict[str, Any]) -> None:
    answers = (f"  {key}: {says}" for key, says in found["answer"].items())
    parser = tasks.add_parser(
        found["task"],
        help=found["see"],
        description=found["about"].replace("%", "%%"),
        epilog="\n".join(["keys of the answer with --json:", *answers]).replace("%", "%%"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
    )
    for each in found["values"]:
        add_value(parser, each)
    parser.add_argument("--model", default="", help="a model on offer, or a folder")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", default=False, help="print the result")
    output.add_argument("--html", metavar="FILE", default="", help="write one file, for a browser")
