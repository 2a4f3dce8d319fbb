"""Command line of the benchmarks: `python -m benchmarks [--quick] [--only NAME]`."""

import argparse
import importlib
from collections.abc import Sequence
from types import ModuleType

from benchmarks.measure import COLUMNS
from benchmarks.report import section

# Each module has TITLE, NOTES, rows(quick) and, if its table has other columns, COLUMNS.
_MODULES = ("forward", "tokenizer", "pages", "classroom", "live")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmarks and print a section of `RESULTS.md` for each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--only", choices=_MODULES, help="run only this benchmark")
    parser.add_argument("--threads", type=int, default=2, help="number of threads for both sides")
    options = parser.parse_args(arguments)
    import torch  # `--help` need not wait for it

    torch.set_num_threads(options.threads)
    for name in _MODULES if options.only is None else (options.only,):
        module = importlib.import_module(f"benchmarks.{name}")
        rows = []
        for row in module.rows(quick=options.quick):
            rows.append(row)
            print(*row.cells(), sep="  ", flush=True)
        columns = getattr(module, "COLUMNS", COLUMNS)
        text = section(module.TITLE, rows, notes_of(module, options.threads), columns)
        print(f"\n{text}")


def notes_of(module: ModuleType, threads: int) -> tuple[str, ...]:
    """Return the notes below a module's table; with a peer, including the number of threads."""
    notes: tuple[str, ...] = module.NOTES
    if hasattr(module, "COLUMNS"):
        return notes
    return (*notes, f"{threads} threads on both sides.")


if __name__ == "__main__":
    main()
