"""How often the answers of a file are right: the report of the page of tables, for any length."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from app.data.answering import Guess, kinds_of, labels_of
from app.data.columns import GOLD, KINDS, TaskName
from app.data.from_json import guess_of
from app.data.gold import Asked, Reader, cell, label_names
from app.data.judged import headline, report
from app.engine.models import Engine
from app.faces.paper.json import as_json
from bert_core.errors import InputError

# The values of a row, and its answer as JSON.
Judgeable = tuple[Mapping[str, Any], Mapping[str, Any]]

_NO_TEXTS = {"text": ""}  # so that memory grows with the answers alone


def check_gold(task: str, column: str, columns: Sequence[str]) -> None:
    """Refuse what cannot be judged, before anything is answered.

    Raises:
        InputError: the task is not judged, or there is no such column.
    """
    if task not in KINDS:
        raise InputError(f"--gold: {task} is not judged; these are: {', '.join(KINDS)}.")
    if column not in columns:
        raise InputError(f"--gold: there is no column {column!r}; found {', '.join(columns)[:200]}")


def judge(
    task: str, engine: Engine, column: str, rows: Callable[[], Iterator[Judgeable]], out: Path
) -> str:
    """Compare answers with a column, write the report, and return what to say of it.

    `rows` yields the rows, each time from the first one.
    """
    name = cast(TaskName, task)
    labels = labels_of(engine, name)
    names = dict[str, str]()
    if labels and name != "ner":
        names = label_names(dict.fromkeys(cell(row.get(column)) for row, _ in rows()), labels)
    elif labels:
        names = {kind.casefold(): kind for kind in kinds_of(engine)}
    columns = {**{part: part for part in KINDS[name].parts}, GOLD: column}
    reader = Reader(name, columns, names, labels)
    asked, guesses, unread = list[Asked](), list[Guess](), 0
    for number, (row, line) in enumerate(rows(), start=1):
        try:
            one = reader.row(number, {**row, **_other_names(name, row)})
            guess = guess_of(name, line["answer"], one)
        except (InputError, KeyError, ValueError):  # without an answer, or without a gold
            unread += 1
            continue
        asked.append(replace(one, texts=_NO_TEXTS))
        guesses.append(guess)
    found = report(name, asked, guesses)
    written = {"task": task, "gold": column, "labels": names, "left_out": unread,
               "report": as_json(found)}  # fmt: skip
    out.write_text(json.dumps(written, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    left = f" {unread:,} rows are not counted." if unread else ""
    return f"{headline(name, found, len(guesses))}{left} {out.name}; "


def _other_names(task: TaskName, row: Mapping[str, Any]) -> dict[str, Any]:
    """Call the sentences of a pair as other tasks call their texts."""
    pair = {"text": "first", "text_pair": "second"} if task == "next_sentence" else {}
    return {part: row[name] for part, name in pair.items() if name in row and part not in row}
