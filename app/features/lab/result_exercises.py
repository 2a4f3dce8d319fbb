"""An exercise of the lab: a question, its choices, and what several seeds gave for each."""

from dataclasses import dataclass

from app.features.lab.result_settings import LabSettings


@dataclass(frozen=True, slots=True)
class Option:
    """A choice.

    Attributes:
        say: what it is.
        settings: with which it can be run.
        values: what was measured, for each seed.
        allowed: whether it reaches what the exercise asks for, with every seed.
    """

    say: str
    settings: LabSettings
    values: tuple[float, ...]
    allowed: bool = True


@dataclass(frozen=True, slots=True)
class Exercise:
    """A question that is answered by running.

    Attributes:
        title: short.
        ask: the question.
        of: what is compared: "way", "lost", "gap" or "parameters".
        options: the choices.
        right: which one is better with every seed than all others with any; None if none is.
        why: what is said then.
    """

    title: str
    ask: str
    of: str
    options: tuple[Option, ...]
    right: int | None
    why: str
