"""A table on its way through a model, batch by batch; what is answered stays when it is stopped."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from app.data.answering import AT_ONCE, Guess, answer_rows, kinds_of, labels_of
from app.data.columns import GOLD, Columns, TaskName, check_columns
from app.data.gold import Asked, Reader, kinds_in, label_names, values_of
from app.data.tables import Table
from app.engine.models import Engine

_MOST_LABELS = 200


@dataclass(slots=True)
class Work:
    """Rows to be answered, and those that are."""

    table: Annotated[Table, "the rows"]
    task: Annotated[TaskName, "what they are asked"]
    columns: Annotated[Columns, "the column of each part"]
    meanings: Annotated[
        dict[str, str],
        'what each label of the gold, or kind of name, means to the model; "" for nothing',
    ]
    labels: Annotated[tuple[str, ...], "of the model"]
    asked: Annotated[tuple[Asked, ...], "the rows as the model is asked about them"]
    bad: Annotated[tuple[str, ...], "what was left out, and why"]
    guesses: Annotated[list[Guess], "the answers so far, in the order of the rows"] = field(
        default_factory=list
    )
    second: Annotated[list[Guess], "those of a second model"] = field(default_factory=list)

    @property
    def left(self) -> int:
        """How many rows are not answered yet."""
        return len(self.asked) - len(self.guesses)

    def answer(self, engine: Engine, second: Engine | None = None) -> Iterator[int]:
        """Answer what is left; yield after each batch how many rows are answered.

        The second model's labels, or kinds, are called as the first one's where only their spelling
        differs.

        Raises:
            LimitError: the visitor's budget is used up; what is answered is kept.
        """
        names = label_names(_names(second, self), _names(engine, self)) if second else {}

        def name(label: str) -> str:
            return names.get(label) or label

        while rows := self.asked[len(self.guesses) : len(self.guesses) + AT_ONCE]:
            found = answer_rows(engine, self.task, rows)
            others = answer_rows(second, self.task, rows) if second else []
            self.guesses += found
            self.second += [
                replace(
                    each,
                    answer=name(each.answer),
                    shares=tuple((name(label), share) for label, share in each.shares),
                    names=frozenset((name(kind), a, b) for kind, a, b in each.names),
                )
                for each in others
            ]
            yield len(self.guesses)


def _names(engine: Engine, work: Work) -> tuple[str, ...]:
    return kinds_of(engine) if work.task == "ner" else labels_of(engine, work.task)


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
