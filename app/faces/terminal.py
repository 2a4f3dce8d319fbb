"""The command line: `python -m app TASK TEXT [--parameter VALUE]`, made from the declarations."""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.declared import Declared, Parameter, all_declared
from app.faces.paper.answers import Answer, ask
from app.faces.paper.arguments import Parser
from app.faces.paper.json import all_meanings
from bert_core.errors import BertError, InputError

_SWITCHES = ("model", "json", "html")
"""What is no parameter of a task."""


def main(arguments: Sequence[str]) -> int:
    """Ask a task and print its answer.

    Returns:
        The exit status: 0, or 2 if there is no answer; one line on stderr says why.
    """
    given = vars(_parser().parse_args(arguments))
    task = given.pop("task", None)
    if task is None:
        _print(_parser().format_help())
        return 0
    asked, json_, html = (given.pop(name) for name in _SWITCHES)
    try:
        given = {name: _text_of(value) for name, value in given.items()}
        answer = ask(task, model=asked, **given)
        if answer.report.unanswered:
            raise InputError(answer.report.headline)
        if html:
            _write(Path(html), answer.html())
        else:
            _print(_json(answer) if json_ else answer.text(shutil.get_terminal_size((100, 24))[0]))
    except BertError as error:
        sys.stderr.write(" ".join(str(error).split()) + "\n")
        return 2
    return 0


def _text_of(value: object) -> object:
    """Return a value; "-" stands for what another program writes."""
    if value not in ("-", ["-"]):
        return value
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InputError(
            f"The text is not {error.encoding} (byte {error.start} is "
            f"{error.object[error.start]:#04x}). Save it as UTF-8."
        ) from None


def _json(answer: Answer) -> str:
    return json.dumps(answer.json(), ensure_ascii=False, allow_nan=False) + "\n"


def _print(text: str) -> None:
    """Print a text; what the terminal cannot write is written as a number."""
    coding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(coding, "backslashreplace").decode(coding))


def _write(path: Path, page: bytes) -> None:
    try:
        path.write_bytes(page)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}. Name another file."
        ) from None
    sys.stderr.write(f"{path}: {len(page):,} bytes written.\n")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m app",
        description="Ask BERT from the command line.",
        epilog="`python -m app record OUT` writes all examples as plain files.",
    )
    tasks = parser.add_subparsers(metavar="TASK", dest="task")
    for each in all_declared():
        _add_task(tasks, each)
    return parser


def _add_task(tasks: Any, found: Declared) -> None:
    """Add a task: values it needs by their place, others as options."""
    answers = (f"  {key}: {says}" for key, says in all_meanings(found.result).items())
    parser = tasks.add_parser(
        found.feature.slug,
        help=found.feature.see,
        description=f"{found.about} {found.feature.beware}".replace("%", "%%"),
        epilog="\n".join(["keys of the answer with --json:", *answers]).replace("%", "%%"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
    )
    optional = (each for each in found.parameters if not each.required)
    for each in (*found.typed, *optional):
        _add_parameter(parser, each)
    parser.add_argument("--model", default="", help="a model on offer, or a folder")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", default=False, help="print the result")
    output.add_argument("--html", metavar="FILE", default="", help="write one file, for a browser")


def _add_parameter(parser: argparse.ArgumentParser, found: Parameter) -> None:
    """Add one parameter; types and ranges are checked by the declaration."""
    about = f"{found.about} Expected: {found.expected()}.".replace("%", "%%")
    several: dict[str, Any] = {"nargs": "+"} if found.kind is list else {}
    if found.required:
        parser.add_argument(found.name, help=about, **several)
        return
    flag = f"--{found.name.replace('_', '-')}"
    if found.kind is bool:
        parser.add_argument(flag, action=argparse.BooleanOptionalAction, help=about)
        return
    parser.add_argument(
        flag, help=about, type=lambda text: _number(found, text), metavar="VALUE", **several
    )


def _number(found: Parameter, text: str) -> object:
    """Read a number where one is expected; what is none stays a text, and is refused later."""
    try:
        return found.kind(text) if found.kind in (int, float) else text
    except ValueError:
        return text
