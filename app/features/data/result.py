"""The result of the page of tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from app.data.answering import Guess
from app.data.columns import TaskName
from app.data.judged import Compared, Judged, Report


@dataclass(frozen=True, slots=True)
class DataResult:
    """The rows of a table, what a model answers for each, and how often that is right."""

    ANSWER: ClassVar = (
        "task", "columns", "meanings", "report", "rows", "left", "bad", "cut", "compared",
    )  # fmt: skip

    model: Annotated[str, "the model that answers"]
    task: Annotated[TaskName, "what each row was asked"]
    columns: Annotated[Mapping[str, str], "the column of each part of a row"]
    meanings: Annotated[
        Mapping[str, str], 'what each label of the table means to the model; "" for nothing'
    ]
    rows: Annotated[tuple[Judged, ...], "the rows that are answered, in their order"]
    guesses: Annotated[tuple[Guess, ...], "the same with all that the model says"]
    values: Annotated[Mapping[int, Mapping[str, Any]], "what the table has, by the row’s number"]
    report: Annotated[Report, "what is counted"]
    left: Annotated[int, "rows that are not answered yet"]
    bad: Annotated[tuple[str, ...], "rows that were left out, each with its number and the reason"]
    cut: Annotated[bool, "whether the table has more rows than are read"]
    second: Annotated[tuple[Judged, ...], "the rows as a second model answers them"] = ()
    compared: Annotated[Compared | None, "both models; null without a second one"] = None

    @property
    def unknown(self) -> tuple[str, ...]:
        """The labels of the table that are none of the model’s; their rows are not counted."""
        return tuple(value for value, label in self.meanings.items() if not label)
