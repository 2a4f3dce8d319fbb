"""Ask a task about every row of a file, over the cores of this machine.

FILE is .txt (a line each), .csv, .tsv, .jsonl or .parquet. Columns named like values of the task
are given to it; a value that is the same for all rows is an option (`batch TASK --help`). What is
answered is kept beside OUT, so that the same command goes on after a stop.
"""

import os
import re
import signal
import sys
from argparse import SUPPRESS, Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never

import pyarrow as pa
from tqdm import tqdm

from app.faces.batch.answering import Chunks, Lines, spread
from app.faces.batch.keeping import Parts, digest, parts_in, whole
from app.faces.paper.arguments import Parser, add_value, as_option, refused
from app.settings import available_cores, settings
from bert_core.errors import BertError, InputError, count

if TYPE_CHECKING:
    from app.declared import Declared
    from app.engine.models import Engine
    from app.faces.batch.reading import Source

_WITH_ERRORS = 3  # the exit status
_CLUSTER = re.compile(r"ray://([A-Za-z0-9._-]{1,253}|\[[0-9a-fA-F:.]{2,45}\]):[0-9]{1,5}")
_MOST_ROWS, _PARTS = 256, 1_024  # of a part; parts of a file with few rows


class _Stopped(BaseException):
    """The command is to end; the number of the signal."""


def _stop(number: int, _: object) -> None:
    raise _Stopped(number)


def main(arguments: Sequence[str]) -> int:
    """Ask about all rows.

    Returns:
        The exit status: 0; 3 if some rows have an error; 2 if it cannot be done, and a line on
        stderr says why; 128 and the number of the signal if it was stopped.
    """
    # One thread in each process, from when PyTorch is imported.
    os.environ.update(BERT_EXPLORER_THREADS="1", BERT_EXPLORER_RUNS="1", OMP_NUM_THREADS="1")
    before = dict[int, Any]()
    try:
        found, given, options = _read(arguments)
        _check_files(given)
        before = {each: signal.signal(each, _stop) for each in (signal.SIGINT, signal.SIGTERM)}
        return _run(found, given, options)
    except _Stopped as stopped:
        kept = f"The answers so far are kept in {_beside(given.out, 'parts')}"
        sys.stderr.write(f"\nStopped. {kept}; run the same command to continue.\n")
        return 128 + int(stopped.args[0])
    except (BertError, OSError) as error:
        return refused(error)
    except pa.ArrowException as error:
        return refused(f"{given.file} cannot be read as Parquet ({type(error).__name__}).")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _read(arguments: Sequence[str]) -> "tuple[Declared, Namespace, dict[str, Any]]":
    """Read the command line: the task, what is no value of it, and its values for all rows."""
    parser = Parser(prog="python -m app batch", description=__doc__)
    parser.add_argument("task", metavar="TASK", help="its name, before everything else")
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="a .parquet, .csv or .jsonl file")
    parser.add_argument("--model", default="", help="a model on offer, or a folder")
    parser.add_argument("--workers", type=int, help="processes; default: one for each core")
    parser.add_argument("--on", metavar="ADDRESS", help="a Ray cluster, such as ray://host:10001")
    parser.add_argument(
        "--restart", action="store_true", help="discard what an interrupted run has left"
    )
    parser.add_argument(
        "--gold", metavar="COLUMN", help="what is right: says how often, and writes OUT.report.json"
    )
    parser.add_argument("--overwrite", action="store_true", help="write over OUT")
    if not arguments or arguments[0] in ("-h", "--help"):
        parser.parse_args(arguments)  # leaves
    from app.declared import declared  # imports PyTorch

    found = declared(arguments[0])
    values: Any = parser.add_argument_group("values for all rows", argument_default=SUPPRESS)
    for each in found.parameters:
        add_value(values, as_option(replace(each, required=False)))
    given = parser.parse_args(arguments)
    if given.workers is not None and given.workers < 1:
        parser.error("--workers: expected 1 or more")
    if given.on is not None and not _CLUSTER.fullmatch(given.on):
        parser.error("--on: expected ray://host:10001 with the host of a cluster")
    options = {each.name: each.read(getattr(given, each.name))
               for each in found.parameters if hasattr(given, each.name)}  # fmt: skip
    return found, given, options


def _check_files(given: Namespace) -> None:
    from app.data.tables import KINDS
    from app.faces.batch.writing import WRITERS

    for path, kinds in ((given.file, KINDS), (given.out, WRITERS)):
        if path.suffix not in kinds:
            raise InputError(f"Found {path.name}; expected a name that ends in {', '.join(kinds)}.")
    if not given.file.is_file():
        raise InputError(f"There is no file {given.file}.")
    if given.out.exists() and (not given.overwrite or given.out.samefile(given.file)):
        raise InputError(f"{given.out} exists. Give another --out, or --overwrite to replace it.")


def _beside(out: Path, ends: str) -> Path:
    return out.with_name(f"{out.name}.{ends}")


@dataclass(frozen=True, slots=True)
class _Job:
    """A task about the rows of a file, in chunks, and their answers so far."""

    task: "Declared"
    options: Mapping[str, object]
    source: "Source"
    parts: Parts
    size: int

    def asked(self, bar: "tqdm[Never]") -> Chunks:
        """Yield the chunks that are not answered yet."""
        for number, rows in enumerate(self.source.chunks(self.size)):
            if self.parts.has(number):
                bar.initial += len(rows)
                bar.update(len(rows))
                continue
            yield (
                number,
                [
                    ({**self.options, **self.source.given(values, self.task.parameters)}, wrong)
                    for values, wrong in rows
                ],
            )

    def answered(self) -> Iterator[list[tuple[Mapping[str, Any], dict[str, Any]]]]:
        """Yield the values of the rows and their answers, chunk by chunk."""
        for number, rows in enumerate(self.source.chunks(self.size)):
            values = (each for each, _ in rows)
            yield list(zip(values, self.parts.read(number), strict=True))


def _run(found: "Declared", given: Namespace, options: Mapping[str, object]) -> int:
    from app.declared.answers import engine_named, fitting
    from app.faces.batch.judging import check_gold, judge
    from app.faces.batch.reading import Source

    engine, slug = engine_named(given.model), found.feature.slug
    fitting(found, engine)
    model = f"{engine.provenance.name}, weights {engine.provenance.fingerprint}"
    source = Source(given.file, next((e.name for e in found.typed if e.name not in options), ""))
    of = {"input": digest(given.file), "task": slug, "model": model,
          "values": {name: repr(value) for name, value in options.items()}}  # fmt: skip

    def plan() -> object:
        total, kinds = source.survey()
        _check_columns(found, list(kinds), options)
        if given.gold:
            check_gold(slug, given.gold, list(kinds))
        return total, kinds

    with parts_in(_beside(given.out, "parts")) as parts:
        total, kinds = parts.plan(of, plan, restart=given.restart)
        job = _Job(found, options, source, parts, min(_MOST_ROWS, -(-total // _PARTS)))
        every = 1 if sys.stderr.isatty() else 15  # seconds between two looks at how far it is
        with (
            tqdm(total=total, unit=" rows", mininterval=every, delay=every, smoothing=0) as bar,
            closing(_answered(job.asked(bar), slug, given, engine)) as answered,
        ):
            for number, lines in answered:
                parts.write(number, lines)
                bar.update(lines.count(b"\n"))
        if digest(given.file) != of["input"]:
            raise InputError(f"{given.file} was changed meanwhile. Give --restart to start over.")
        errors = _write(job, given.out, kinds)
        judged = ""
        if given.gold:
            rows = lambda: (({**options, **values}, line)  # noqa: E731
                            for chunk in job.answered() for values, line in chunk)  # fmt: skip
            judged = judge(slug, engine, given.gold, rows, _beside(given.out, "report.json"))
        parts.clear()
    ends = f", {errors:,} with an error" if errors else ""
    sys.stderr.write(f"{given.out}: {count(total, 'row')}{ends}; {judged}{model}.\n")
    return _WITH_ERRORS if errors else 0


def _answered(asked: Chunks, task: str, given: Namespace, engine: "Engine") -> Lines:
    if given.on:
        from app.faces.batch.on_ray import spread_on

        return spread_on(given.on, asked, task, engine)
    cores = available_cores() if settings().device == "cpu" else 1
    return spread(asked, given.workers or cores, task, given.model)


def _check_columns(
    found: "Declared", columns: Sequence[str], options: Mapping[str, object]
) -> None:
    missing = [each.name for each in found.typed if each.name not in {*columns, *options}]
    known = [each.name for each in found.parameters if each.name in columns]
    if missing or not known:
        named = " and ".join(missing) or "a column with one of its values"
        raise InputError(
            f"{found.feature.slug} needs {named}; found the columns {', '.join(columns)[:200]!r}. "
            "Rename a column, or give the same value for all rows as an option."
        )
    if twice := [name for name in known if name in options]:
        raise InputError(f"{twice[0]} is a column and an option. Give one of the two.")


def _write(job: _Job, out: Path, kinds: Mapping[str, Sequence[str]]) -> int:
    from app.faces.batch.writing import WRITERS, answer_types, columns

    types, answers = job.source.types(kinds), answer_types(job.task.result)
    row = errors = 0

    def chunks() -> Iterator[list[list[Any]]]:
        nonlocal row, errors
        for chunk in job.answered():
            table = []
            for values, line in chunk:
                row += 1
                error, answer = line.get("error"), line.get("answer", {})
                errors += error is not None
                table.append([row, *map(values.get, types), *map(answer.get, answers), error])
            yield table

    with whole(out, job.parts.folder / "table.new") as file:
        WRITERS[out.suffix](file, columns(types, job.task.result), chunks())
    return errors
