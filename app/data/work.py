"""A table on its way through a model, batch by batch; what is answered stays when it is stopped."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from app.data.answering import AT_ONCE, Guess, answer_rows, kinds_of, labels_of
from app.data.columns import GOLD, KINDS, Columns, TaskName, check_columns, guess, spread_columns
from app.data.gold import Asked, Reader, kinds_in, label_names, values_of
from app.data.tables import Table
from app.engine.models import Engine
from bert_core.errors import InputError

_MOST_LABELS = 200
_TRIED = 50  # rows that say which column is the gold


@dataclass(slots=True)
class Work:
    """Rows to be answered, and those that are."""

    table: Annotated[Table, "the rows"]
    task: Annotated[TaskName, "what they are asked"]
    columns: Annotated[Columns, "the column of each part"]
    meanings: Annotated[
        Mapping[str, str],
        'what each label of the gold, or kind of name, means to the model; "" for nothing',
    ]
    labels: Annotated[tuple[str, ...], "of the model"]
    asked: Annotated[tuple[Asked, ...], "the rows as the model is asked about them"]
    bad: Annotated[tuple[str, ...], "what was left out, and why"]
    names: Annotated[Mapping[str, str], "what to call the labels of a second model"] = field(
        default_factory=dict
    )
    guesses: Annotated[list[Guess], "the answers so far, in the order of the rows"] = field(
        default_factory=list
    )

    @property
    def left(self) -> int:
        """How many rows are not answered yet."""
        return len(self.asked) - len(self.guesses)

    def beside(self, engine: Engine, second: Engine) -> "Work":
        """Return the same rows for a second model.

        Its labels, or kinds, are called as the first one's where only their spelling differs.
        """
        names = label_names(_names(second, self.task), _names(engine, self.task))
        return replace(self, names=names, guesses=[])

    def answer(self, engine: Engine) -> Iterator[int]:
        """Answer what is left; yield after each batch how many rows are answered.

        Raises:
            LimitError: the visitor's budget is used up; what is answered is kept.
        """
        while rows := self.asked[len(self.guesses) : len(self.guesses) + AT_ONCE]:
            self.guesses += [
                each.renamed(self.names) for each in answer_rows(engine, self.task, rows)
            ]
            yield len(self.guesses)


def _names(engine: Engine, task: TaskName) -> tuple[str, ...]:
    return kinds_of(engine) if task == "ner" else labels_of(engine, task)


def guess_columns(engine: Engine, table: Table, task: TaskName) -> Columns:
    """Guess which column is what: the gold from its values, the rest from the names.

    What has the model's labels as words is the gold whatever it is called. Numbers and letters say
    less, so they are believed in a column with a usual name, or if no column has one.
    """
    columns = guess(task, table.columns)
    named, labels, best = columns.pop(GOLD, ""), labels_of(engine, task), (0, "")
    used = {*columns.values(), *spread_columns(columns.get("choices", ""), table.columns)}
    usual, kinds = KINDS[task].parts[GOLD], _names(engine, task)
    first = sorted(table.columns, key=lambda name: (name != named, name.casefold() not in usual))
    few = replace(table, rows=table.rows[:_TRIED])
    for name in (each for each in first if each not in used):
        values = values_of(few, name)
        meanings = {} if task == "ner" else label_names(values, labels)
        reader, fits = Reader(task, {**columns, GOLD: name}, meanings, labels), list[bool]()
        for number, row in few.rows:
            try:
                fits.append(_fits(reader.row(number, row), kinds))
            except (InputError, KeyError):  # a column is missing
                fits.append(False)
        fit = 2 * sum(fits) > len(fits)
        words = fit and any(len(each) > 1 and not each.isdecimal() for each in values)
        repeated = fit and not named and len(values) < len(few.rows)
        best = max(best, (3 if words else 2 if name == named else int(repeated), name),
                   key=lambda each: each[0])  # fmt: skip
    return columns | ({GOLD: best[1]} if best[0] else {})


def _fits(asked: Asked, kinds: Sequence[str]) -> bool:
    """Return whether the gold of a row is something that the model can answer."""
    match asked.gold:
        case None:
            return False
        case frozenset() as names:
            return any(label_names((kind for kind, *_ in names), kinds).values())
        case tuple() as answers if "passage" in asked.texts:
            passage = asked.texts["passage"].casefold()
            return any(str(each).casefold() in passage for each in answers)
    return not isinstance(asked.gold, tuple)  # any word can fill a gap


def prepared(
    engine: Engine,
    table: Table,
    task: TaskName,
    columns: Columns,
    written: Sequence[tuple[str, str]] = (),
) -> Work:
    """Read what a model is asked about each row of a table.

    Raises:
        InputError: a column is missing, no row can be asked, or a label is none of the model's.
    """
    check_columns(task, columns, table.columns)
    labels = labels_of(engine, task)
    meanings = dict[str, str]()
    if task == "ner":
        asked, _ = Reader(task, columns, {}, labels).read(table)
        meanings = label_names(kinds_in(asked), kinds_of(engine), written)
    elif labels and GOLD in columns:
        meanings = label_names(values_of(table, columns[GOLD])[:_MOST_LABELS], labels, written)
    asked, bad = Reader(task, columns, meanings, labels).read(table)
    return Work(table, task, columns, meanings, labels, asked, bad)
