"""Every row of a table through one task, and how often the answers are right."""

from typing import Annotated, Literal, get_args

from app.data.columns import KINDS, TaskName, guess_task, read_columns, read_pairs
from app.data.gold import unbracketed
from app.data.judged import compare, judged, report
from app.data.samples import SAMPLES, sample
from app.data.tables import Table, read_pasted
from app.data.work import Work, guess_columns, prepared
from app.engine.compute.visitor import check_text
from app.engine.models import Engine
from app.engine.models.fit import remarks
from app.engine.models.second import second_model
from app.features.data.result import DataResult
from app.records.fields import Field
from bert_core.reading.running import Progress

MOST = 500
"""Rows of one call; a page takes more, and a file of any length goes through `batch`."""

Asked = Literal[
    "guess", "classification", "next_sentence", "ner", "qa", "fill_mask", "multiple_choice"
]


def data(
    engine: Engine,
    table: Annotated[
        str, Field("Rows of a table", lines=8, hint="text,label\nI loved it.,positive")
    ],
    *,
    of: Annotated[Asked, Field("What each row is asked")] = "guess",
    columns: Annotated[str, Field("Columns", lines=1, hint="text=review, gold=stars")] = "",
    labels: Annotated[
        str, Field("What labels mean", lines=1, hint="pos=positive, 0=negative")
    ] = "",
    beside: Annotated[str, Field("Second model", lines=1, model=True)] = "",
    progress: Progress | None = None,
) -> DataResult:
    """Answer every row of a table, and count how often the model is right.

    Args:
        engine: the model.
        table: rows with a first line that names the columns, separated by commas or tabs; or a
            JSON object on each line, or a list of them; or words with their tags, one a line. Or
            the name of a sample: reviews, names, pairs, questions, gaps, choices. At most 500 rows.
        of: what each row is asked; "guess" to let the names of the columns say it.
        columns: which column is what, where it is guessed wrongly: text, text_pair, question,
            passage, context, choices, and gold for what is right.
        labels: what the table's labels mean to the model, where that is not clear.
        beside: a second model on the same rows, by its name on offer; "" for none.
        progress: called with the rows done and their number.

    Raises:
        InputError: there is no row, a column is missing, or the model cannot answer.
    """
    check_text(table)
    read = sample(table.strip()) if table.strip() in SAMPLES else read_pasted(table, most=MOST)
    work = begun(engine, read, of, columns, labels)
    second = second_model(engine, beside, KINDS[work.task].head) if beside else None
    works = [(work, engine), *([(work.beside(engine, second), second)] if second else [])]
    for number, (each, model) in enumerate(works):
        for done in each.answer(model):
            if progress is not None:
                progress(number * len(work.asked) + done, len(works) * len(work.asked))
    return result_of(*works)


def begun(engine: Engine, table: Table, of: str, columns: str, labels: str) -> Work:
    """Prepare a table to be answered; the arguments are those of `data`.

    Raises:
        CheckpointError: the model has no trained head for the task.
    """
    name = task_of(table, of)
    remarks(engine.provenance.name, engine.facts, (KINDS[name].head,))
    found = read_columns(name, columns, table.columns, guess_columns(engine, table, name))
    return prepared(engine, table, name, found, read_pairs(labels, "labels"))


def task_of(table: Table, task: str) -> TaskName:
    """Return the task that is asked for, or that the columns look like."""
    first = " ".join(map(str, table.rows[0][1].values()))
    if task == "guess" and "[MASK]" in first:
        return "fill_mask"
    if task == "guess" and len(table.columns) == 1 and unbracketed(first)[1]:
        return "ner"
    names: tuple[TaskName, ...] = get_args(TaskName)
    return next((each for each in names if each == task), guess_task(table.columns))


def result_of(*works: tuple[Work, Engine]) -> DataResult:
    """Judge what is answered so far, by one model or by two."""
    work, asked = works[0][0], works[0][0].asked[: len(works[0][0].guesses)]
    names = [engine.provenance.name for _, engine in works]
    rows, *others = (tuple(map(judged, asked, each.guesses)) for each, _ in works)
    return DataResult(
        model=names[0],
        task=work.task,
        columns=work.columns,
        meanings=work.meanings,
        rows=rows,
        guesses=tuple(work.guesses),
        values=dict(work.table.rows),
        report=report(work.task, asked, work.guesses),
        left=work.left,
        bad=work.bad,
        cut=work.table.cut,
        second=others[0] if others else (),
        compared=compare((names[0], names[1]), rows, others[0]) if others else None,
    )
