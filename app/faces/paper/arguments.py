"""Command lines that refuse in one line, and the options that values of a task become."""

import argparse
import sys
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from app.declared import Parameter

_KINDS = {"int": int, "float": float}


def refused(error: Exception | str) -> int:
    """Say in one line why nothing was done; return the exit status."""
    sys.stderr.write(" ".join(str(error).split()) + "\n")
    return 2


def say(text: str) -> None:
    """Print a line at once, also where another program reads it; end if that has gone."""
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise SystemExit(1) from None


class Parser(argparse.ArgumentParser):
    """Refuses in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the refusal and leave."""
        sys.stderr.write(f"{' '.join(message.split())}. See {self.prog} --help.\n")
        raise SystemExit(2)


def as_option(given: "Parameter") -> dict[str, Any]:
    """Return what a command line says of a parameter."""
    return {
        "name": given.name,
        "about": f"{given.about} Expected: {given.expected()}.",
        "kind": given.kind.__name__,
        "required": given.required,
    }


def add_value(parser: argparse.ArgumentParser, found: dict[str, Any]) -> None:
    """Add one value; types and ranges are checked by the declaration."""
    name, kind, about = found["name"], found["kind"], found["about"].replace("%", "%%")
    several: dict[str, Any] = {"nargs": "+"} if kind == "list" else {}
    if found["required"]:
        parser.add_argument(name, help=about, **several)
        return
    flag = f"--{name.replace('_', '-')}"
    if kind == "bool":
        parser.add_argument(flag, action=argparse.BooleanOptionalAction, help=about)
        return
    parser.add_argument(
        flag, help=about, type=lambda text: number(kind, text), metavar="VALUE", **several
    )


def number(kind: str, text: str) -> object:
    """Read a number where one is expected; what is none stays a text, and is refused later."""
    try:
        return _KINDS.get(kind, str)(text)
    except ValueError:
        return text
