"""The command line: `python -m bert_core COMMAND NAME_OR_FOLDER`; `--help` lists the commands.

What a command needs is imported when it runs, so that `--help` does not wait for PyTorch.
"""

import argparse
import inspect
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bert_core.errors import BertError, ConfigError

if TYPE_CHECKING:
    from bert_core.verification import VerificationReport

_GREEN, _RED, _CANNOT = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
    except BertError as error:
        print(f"error: {error}", file=sys.stderr)
        return _CANNOT
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bert_core", description=(__doc__ or "").partition("\n\n")[0]
    )
    commands = parser.add_subparsers(required=True)
    for run in (_verify, _weights):
        says, name = inspect.getdoc(run) or "", run.__name__.strip("_").replace("_", "-")
        command = commands.add_parser(name, help=says.partition(".\n")[0], description=says)
        anywhere = "bundled name, folder, archive, URL or Hub id"
        command.add_argument("model", help="bundled name or folder" if run is _verify else anywhere)
        command.set_defaults(run=run)
    return parser


def _verify(options: argparse.Namespace) -> int:
    """Compare a model with its stored reference values.

    These are the digests of its files, the tokens of texts and the outputs of its heads. Exit
    status 0: everything agrees; 1: something differs; 2: the model cannot be verified.
    """
    from bert_core.verification import verify

    report = verify(options.model)
    print("\n".join(_report_lines(report)))
    return _GREEN if report.ok else _RED


def _report_lines(report: "VerificationReport") -> Iterable[str]:
    rows = []
    for check in report.outputs:
        texts = ",".join(str(number + 1) for number in check.texts)
        found = "not computed" if check.difference is None else f"{check.difference:.1e}"
        sizes = texts, f"{check.compared:,}", found, f"{check.tolerance:.1e}"
        rows.append((check.class_name, check.output, *sizes, "ok" if check.ok else "DIFFERS"))
    yield from _table(("class", "output", "texts", "numbers", "difference", "tolerance", ""), rows)
    yield ""
    for text in report.texts:
        if not text.ok:
            yield (
                f"tokens differ: {text.text[:60]!r}: found {len(text.found)}, "
                f"expected {len(text.expected)}"
            )
    right = sum(text.ok for text in report.texts)
    yield f"tokens: {right} of {len(report.texts)} texts agree"
    yield ""
    for file in report.files:
        yield f"{file.found or 'missing':<64}  {file.path}"
        if not file.ok:
            yield f"{file.expected or 'no such file':<64}  expected  <-- DIFFERS"
    yield ""
    if report.failure:
        yield report.failure
    verdict = "verified" if report.ok else "DIFFERS from its stored reference values"
    largest = "-" if math.isinf(report.difference) else f"{report.difference:.1e}"
    yield f"{report.name}: {verdict}; largest difference in {report.compared:,} numbers: {largest}"


def _weights(options: argparse.Namespace) -> int:
    """List for each class the weights that a model lacks, or that are left out.

    Names and shapes in its files are compared with what each class needs; nothing is loaded. Exit
    status 0, or 2 if the model cannot be read.
    """
    from bert_core.checkpoints.plan import survey
    from bert_core.model.kinds import KINDS
    from bert_core.small_files import listed

    folder = _folder(options.model)
    for name, kind in KINDS.items():
        try:
            found = survey(folder, [kind.cls]).classes.get(name)
        except ConfigError as error:  # labels that only some classes need
            print(f"{name}: {error}")
            continue
        if found is None:
            continue  # models of this family have no such head
        parts = {"missing": found.report.missing, "left out": found.report.unexpected}
        says = [f"{len(each)} {what}: {listed(each)}" for what, each in parts.items() if each]
        print(f"{name}: {'; '.join(says) or 'everything is there and used'}")
    return _GREEN


def _folder(model: str) -> Path:
    from bert_core.checkpoints.sources.hub_names import Part
    from bert_core.checkpoints.sources.resolve import resolve

    return resolve(model, part=Part.MODEL)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        cells = [
            f"{cell:>{width}}" if row is not head and cell[:1].isdigit() else f"{cell:<{width}}"
            for cell, width in zip(row, widths, strict=True)
        ]
        yield "  ".join(cells).rstrip()


if __name__ == "__main__":
    sys.exit(main())
