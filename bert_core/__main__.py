"""The command line: `python -m bert_core verify NAME_OR_FOLDER`.

What a command needs is imported when it runs, so that `--help` does not wait for PyTorch.
"""

import argparse
import inspect
import math
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from bert_core.errors import BertError

if TYPE_CHECKING:
    from bert_core.verification import VerificationReport

_GREEN, _RED, _CANNOT = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        return _verify(options)
    except BertError as error:
        print(f"error: {error}", file=sys.stderr)
        return _CANNOT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bert_core", description=(__doc__ or "").partition("\n\n")[0]
    )
    says = inspect.getdoc(_verify) or ""
    verify = parser.add_subparsers(required=True).add_parser(
        "verify", help=says.partition(".\n")[0], description=says
    )
    verify.add_argument("model", help="bundled name or folder")
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
