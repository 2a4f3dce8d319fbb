"""`python -m bert_core verify NAME_OR_FOLDER`: compare a model with its stored values.

These are the digests of its files, the tokens of texts and the outputs of its heads. Exit status 0
means that everything agrees, 1 that something differs, 2 that the model cannot be verified.
"""

import argparse
import math
import sys
from collections.abc import Sequence

from bert_core.errors import BertError

_GREEN, _RED, _CANNOT = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bert_core", description=__doc__)
    parser.add_argument("command", choices=["verify"])
    parser.add_argument("model", help="bundled name or folder")
    model = parser.parse_args(arguments).model

    from bert_core.verification import verify  # not before: `--help` need not wait for PyTorch

    try:
        report = verify(model)
    except BertError as error:
        print(f"error: {error}", file=sys.stderr)
        return _CANNOT
    for check in report.outputs:
        found = "not computed" if check.difference is None else f"{check.difference:.1e}"
        sizes = f"{check.compared:,} numbers, difference {found} of {check.tolerance:.1e}"
        name = f"{check.class_name}.{check.output}"
        print(f"{name:<50}  {sizes:<60}  {'ok' if check.ok else 'DIFFERS'}")
    for text in report.texts:
        if not text.ok:
            ids = f"found {len(text.found)}, expected {len(text.expected)}"
            print(f"tokens differ: {text.text[:60]!r}: {ids}")
    print(f"tokens: {sum(text.ok for text in report.texts)} of {len(report.texts)} texts agree")
    for file in report.files:
        print(f"{file.found or 'missing':<64}  {file.path}")
        if not file.ok:
            print(f"{file.expected or 'no such file':<64}  expected  <-- DIFFERS")
    if report.failure:
        print(report.failure)
    verdict = "verified" if report.ok else "DIFFERS from its stored reference values"
    largest = "-" if math.isinf(report.difference) else f"{report.difference:.1e}"
    print(f"{report.name}: {verdict}; largest difference in {report.compared:,} numbers: {largest}")
    return _GREEN if report.ok else _RED


if __name__ == "__main__":
    sys.exit(main())
