"""What a room is: frozen values, which every turn replaces."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from bert_core.errors import InputError

Phase = Literal["ask", "shown", "again", "revealed"]
"""Of a question: asked, votes shown, asked again after a discussion, answered by the model."""

Kind = Literal["choose", "number", "word", "look"]
Guess = int | str
"""The number of a choice, a number on the scale, or a word."""

Reason = Literal["gone", "full", "closed", "guess", "often", "away"]
_BINS = 10  # of a number's scale


class RoomError(InputError):
    """Why something cannot be done in a room, in words.

    Attributes:
        reason: there is no such room, no more fit in, it is not the time for it, the guess is none,
            it was tried too often, or the rooms are out of reach.
    """

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Card:
    """What is asked in one step of a lesson.

    Attributes:
        step: its number; each has a board of its own.
        heading: a short title.
        ask: the question.
        given: what the model is given, in lines.
        kind: how a guess is given; "look" for no guess.
        choices: of "choose".
        ends: of the scale of a number.
        unit: of the number.
    """

    step: int
    heading: str
    ask: str
    given: tuple[str, ...] = ()
    kind: Kind = "look"
    choices: tuple[str, ...] = ()
    ends: tuple[int, int] = (0, 0)
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Truth:
    """What the model does, known to students when the teacher shows it.

    Attributes:
        says: the answer in words.
        reveal: what the lesson says with it.
        right: the number of the choice that is right.
        number: the true number.
        replies: to each choice.
    """

    says: str
    reveal: str
    right: int | None = None
    number: float | None = None
    replies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bar:
    """How many gave one answer.

    Attributes:
        label: the answer.
        first: votes before the discussion.
        second: votes after it.
        right: whether it is the model's, once that is shown.
    """

    label: str
    first: int
    second: int
    right: bool


@dataclass(frozen=True, slots=True)
class Word:
    """A word that students gave.

    Attributes:
        text: as the first of them wrote it.
        first: how many gave it before the discussion.
        second: how many after it.
        chance: the model's probability; None where it has none.
        hidden: whether the teacher has hidden it.
    """

    text: str
    first: int
    second: int
    chance: float | None
    hidden: bool


@dataclass(frozen=True, slots=True)
class Board:
    """One question, and what was voted.

    Attributes:
        card: the question.
        phase: how far it is.
        votes: of both rounds, by member.
        truth: the answer; None until it is shown.
        chances: the model's probability of words.
        hidden: words that the teacher has hidden, without differences of case.
    """

    card: Card
    phase: Phase = "ask"
    votes: tuple[Mapping[str, Guess], Mapping[str, Guess]] = ({}, {})
    truth: Truth | None = None
    chances: Mapping[str, float | None] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()

    @property
    def round(self) -> int:
        """Which votes are given, or were given last: 0 before the discussion, 1 after it."""
        return int(self.phase == "again" or bool(self.votes[1]))

    @property
    def is_open(self) -> bool:
        """Whether votes are taken."""
        return self.card.kind != "look" and self.phase in ("ask", "again")

    def bars(self) -> tuple[Bar, ...]:
        """Count the votes for each choice, or for each part of a number's scale."""
        rounds = [Counter(map(self._place, votes.values())) for votes in self.votes]
        true = self._true_place()
        return tuple(
            Bar(label, rounds[0][place], rounds[1][place], place == true)
            for place, label in enumerate(self._labels())
        )

    def words(self) -> tuple[Word, ...]:
        """Return the words, in the order in which they first came."""
        if self.card.kind != "word":
            return ()
        shown: dict[str, str] = {}
        rounds: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        for votes, counted in zip(self.votes, rounds, strict=True):
            for word in map(str, votes.values()):
                shown.setdefault(word.casefold(), word)
                counted[word.casefold()] += 1
        return tuple(
            Word(text, rounds[0][k], rounds[1][k], self.chances.get(text), k in self.hidden)
            for k, text in shown.items()
        )

    def _labels(self) -> tuple[str, ...]:
        if self.card.kind != "number":
            return self.card.choices
        ends = self._edges()
        unit = f" {self.card.unit}" if self.card.unit else ""
        pairs = zip(ends, (*(each - 1 for each in ends[1:]), self.card.ends[1]), strict=True)
        return tuple(
            f"{low} to {high}{unit}" if high > low else f"{low}{unit}" for low, high in pairs
        )

    def _edges(self) -> tuple[int, ...]:
        """Return where the parts of the scale begin."""
        low, high = self.card.ends
        parts = min(_BINS, high - low + 1)
        return tuple(low + (high - low + 1) * part // parts for part in range(parts))

    def _place(self, guess: Guess | float) -> int:
        if self.card.kind == "number":
            return max(0, sum(float(guess) >= edge for edge in self._edges()) - 1)
        return int(guess) if self.card.kind == "choose" else -1

    def _true_place(self) -> int | None:
        if self.truth is None or self.phase != "revealed":
            return None
        return self.truth.right if self.truth.number is None else self._place(self.truth.number)


@dataclass(frozen=True, slots=True)
class Room:
    """A class.

    Attributes:
        code: what students type.
        key: what only the teacher knows.
        network: where it was opened from.
        owners: numbers of the teacher's browsers.
        lesson: the slug of the lesson.
        title: its title.
        step: the step that is shown; 0 before the first.
        boards: by step.
        stage: how often what students see has changed.
        members: numbers of the browsers that have joined.
        here: those of them that are connected.
    """

    code: str
    key: str = field(repr=False)
    network: str
    owners: frozenset[str]
    lesson: str
    title: str
    step: int = 0
    boards: Mapping[int, Board] = field(default_factory=dict, repr=False)
    stage: int = 0
    members: frozenset[str] = frozenset()
    here: frozenset[str] = frozenset()

    @property
    def board(self) -> Board | None:
        """The question that is shown; None before the first."""
        return self.boards.get(self.step)
