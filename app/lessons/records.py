"""What a lesson is: steps, questions and their choices, claims, terms, paths."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["choose", "order", "point", "number", "word"]
"""How a guess is given: one of several choices, all of them in an order, a word of the text, a
number on a scale, or a word of the visitor's own."""

At = Literal["words", "pieces", "heads"]
"""What can be pointed at: words of the text, the pieces that the model reads, or its heads."""

Values = Mapping[str, str | int | float | bool]
"""Values of a task by the names of its parameters."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What must hold of some quantities; those of a list are added.

    Attributes:
        of: the quantities that are compared.
        is_: the word that it must be; "" for any.
        least: the smallest number allowed.
        most: the largest one.
        more: quantities that it must exceed.
        times: by which factor.
        same: the quantity that it must equal.
        other: the quantity that it must differ from.
    """

    of: tuple[str, ...]
    is_: str = ""
    least: float | None = None
    most: float | None = None
    more: tuple[str, ...] = ()
    times: float = 1.0
    same: str = ""
    other: str = ""


@dataclass(frozen=True, slots=True)
class Look:
    """What a step looks at: a text, what it is compared with, and words that name parts of it.

    Attributes:
        values: what the task is asked.
        beside: further values for the same task, by the name that quantities use.
        words: the values of placeholders such as {thing}.
    """

    values: Values
    beside: Mapping[str, Values] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> dict[str, str]:
        """The values of placeholders: the words, and the values by their names."""
        return {**{name: str(value) for name, value in self.values.items()}, **self.words}


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer to a question. Whether it is right follows from what is computed.

    Attributes:
        say: the answer.
        reply: the reply to a visitor who chose it.
        is_: right if the truth is this word.
        least: right if the truth is at least this number.
        most: right if it is at most this number.
        otherwise: right if no other choice is.
        of: the quantity by which this choice is placed in an order.
        right: of a reason, which cannot be computed.
    """

    say: str
    reply: str = ""
    is_: str = ""
    least: float | None = None
    most: float | None = None
    otherwise: bool = False
    of: str = ""
    right: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """What a visitor guesses before the answer is computed.

    Attributes:
        kind: how the guess is given.
        ask: the question.
        of: the quantity that is the truth; "" where the choices have their own, or for a reason.
        minus: a quantity that is subtracted from it.
        choices: of "choose" and "order".
        ends: of the scale of a number; 0 and 0 for a count, whose scale ends at all.
        unit: of the number, such as "%".
        at: of "point": what is pointed at.
    """

    kind: Kind
    ask: str
    of: str = ""
    minus: str = ""
    choices: tuple[Choice, ...] = ()
    ends: tuple[int, int] = (0, 0)
    unit: str = ""
    at: At = "words"


@dataclass(frozen=True, slots=True)
class Change:
    """The one thing that a visitor may change.

    Attributes:
        ask: what to try.
        edits: the parameters that can be edited.
        watch: the sentence about each new answer; a template.
    """

    ask: str
    edits: tuple[str, ...]
    watch: str


@dataclass(frozen=True, slots=True)
class Another:
    """A question about further items of a claim, to try an idea on.

    Attributes:
        claim: whose items.
        ask: the question; a template that may name the item's columns.
        yes: the choice that is right where the item counts for the claim.
        no: the other one.
        say: what is said then; a template.
    """

    claim: str
    ask: str
    yes: str
    no: str
    say: str


@dataclass(frozen=True, slots=True)
class Step:
    """One screen of a lesson.

    Attributes:
        heading: a short title.
        say: what to read first.
        page: the task that answers; its page has the same picture.
        looks: what is looked at; further ones are spare, for weights with which the first fails.
        holds: what must be so for the step to teach what it says.
        question: None to just look.
        reveal: what is said with the answer; a template.
        why: a second question, about the reason.
        change: what may be changed.
        another: where the idea can be tried again.
        parts: how many parts of the page's screen are drawn.
        show: how the names of its pictures begin that are drawn instead, without the headline; ()
            for the first parts.
    """

    heading: str
    say: str
    page: str
    looks: tuple[Look, ...]
    holds: tuple[Condition, ...]
    question: Question | None
    reveal: str
    why: Question | None
    change: Change | None
    another: Another | None
    parts: int = 3
    show: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson.

    Attributes:
        slug: the name of its file.
        title: a question.
        goal: what a visitor can do at the end.
        minutes: how long it takes.
        steps: at most six.
        last: the takeaway, in a sentence.
        larger: the remark about larger models, which is not checked here; "" for nothing.
        claims: the claims it rests on.
        own: whether it is the operator's, not ours.
    """

    slug: str
    title: str
    goal: str
    minutes: int
    steps: tuple[Step, ...]
    last: str
    larger: str = ""
    claims: tuple[str, ...] = ()
    own: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence about a model that is counted over items.

    Attributes:
        name: what files call it.
        says: the sentence.
        task: who answers.
        items: rows of columns, which templates call {0}, {1} and so on.
        look: what is asked of an item.
        where: which items are counted at all.
        counts: when an item counts.
        tell: quantities whose mean and ends are told, by name.
        test: what must hold of the figures.
        role: what the head is called for which it holds most often; "" for a claim about no head.
        untrained: whether a copy of the model is asked that has learned nothing.
    """

    name: str
    says: str
    task: str
    items: tuple[tuple[str, ...], ...]
    look: Look
    where: tuple[Condition, ...]
    counts: tuple[Condition, ...]
    tell: Mapping[str, str]
    test: tuple[Condition, ...]
    role: str = ""
    untrained: bool = False


@dataclass(frozen=True, slots=True)
class Figures:
    """What was counted for a claim.

    Attributes:
        n: how many items there were.
        k: how many of them count.
        holds: whether the claim's test holds.
        tell: the mean, the lowest and the highest value of each quantity that is told.
        head: of a claim with a role: the layer and the head for which it was counted.
    """

    n: int
    k: int
    holds: bool
    tell: Mapping[str, tuple[float, float, float]]
    head: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """A word that a first visitor may not know.

    Attributes:
        says: what it means, in two sentences.
        page: the page that shows it.
        values: the parameters of the page's address.
    """

    says: str
    page: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Path:
    """Lessons in an order.

    Attributes:
        slug: its name in addresses.
        title: its name in the menu.
        lead: whom it is for.
        lessons: slugs, the first one first.
    """

    slug: str
    title: str
    lead: str
    lessons: tuple[str, ...]
