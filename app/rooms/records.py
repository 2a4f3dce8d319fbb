"""What a room is: frozen values, which every turn replaces."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

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
    """What is asked in one step of a lesson."""

    step: Annotated[int, "its number; each has a board of its own"]
    heading: Annotated[str, "a short title"]
    ask: Annotated[str, "the question"]
    given: Annotated[tuple[str, ...], "what the model is given, in lines"] = ()
    kind: Annotated[Kind, 'how a guess is given; "look" for no guess'] = "look"
    choices: Annotated[tuple[str, ...], 'of "choose"'] = ()
    ends: Annotated[tuple[int, int], "of the scale of a number"] = (0, 0)
    unit: Annotated[str, "of the number"] = ""
    say: Annotated[str, "what the lesson explains before it asks"] = ""


@dataclass(frozen=True, slots=True)
class Truth:
    """What the model does, known to students when the teacher shows it."""

    says: Annotated[str, "the answer in words"]
    reveal: Annotated[str, "what the lesson says with it"]
    right: Annotated[int | None, "the number of the choice that is right"] = None
    number: Annotated[float | None, "the true number"] = None
    replies: Annotated[tuple[str, ...], "to each choice"] = ()


@dataclass(frozen=True, slots=True)
class Bar:
    """How many gave one answer."""

    label: Annotated[str, "the answer"]
    first: Annotated[int, "votes before the discussion"]
    second: Annotated[int, "votes after it"]
    right: Annotated[bool, "whether it is the model's, once that is shown"]


@dataclass(frozen=True, slots=True)
class Word:
    """A word that students gave."""

    text: Annotated[str, "as the first of them wrote it"]
    first: Annotated[int, "how many gave it before the discussion"]
    second: Annotated[int, "how many after it"]
    chance: Annotated[float | None, "the model's probability; None where it has none"]
    hidden: Annotated[bool, "whether the teacher has hidden it"]


@dataclass(frozen=True, slots=True)
class Board:
    """One question, and what was voted."""

    card: Annotated[Card, "the question"]
    phase: Annotated[Phase, "how far it is"] = "ask"
    votes: Annotated[
        tuple[Mapping[str, Guess], Mapping[str, Guess]], "of both rounds, by member"
    ] = ({}, {})
    truth: Annotated[Truth | None, "the answer; None until it is shown"] = None
    chances: Annotated[Mapping[str, float | None], "the model's probability of words"] = field(
        default_factory=dict
    )
    hidden: Annotated[
        frozenset[str], "words that the teacher has hidden, without differences of case"
    ] = frozenset()

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
    """A class."""

    code: Annotated[str, "what students type"]
    key: Annotated[str, "what only the teacher knows"] = field(repr=False)
    network: Annotated[str, "where it was opened from"]
    owners: Annotated[frozenset[str], "numbers of the teacher's browsers"]
    lesson: Annotated[str, "the slug of the lesson"]
    title: Annotated[str, "its title"]
    step: Annotated[int, "the step that is shown; 0 before the first"] = 0
    boards: Annotated[Mapping[int, Board], "by step"] = field(default_factory=dict, repr=False)
    stage: Annotated[int, "how often what students see has changed"] = 0
    members: Annotated[frozenset[str], "numbers of the browsers that have joined"] = frozenset()
    here: Annotated[frozenset[str], "those of them that are connected"] = frozenset()

    @property
    def board(self) -> Board | None:
        """The question that is shown; None before the first."""
        return self.boards.get(self.step)
