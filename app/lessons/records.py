"""What a lesson is: steps, questions and their choices, claims, terms, paths."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator

Kind = Literal["choose", "point", "number", "word"]
"""How a guess is given: one of several choices, a word of the text, a number on a scale, or a word
of the visitor's own."""

At = Literal["words", "pieces", "heads"]
"""What can be pointed at: words of the text, the pieces that the model reads, or its heads."""

Values = Mapping[str, str | int | float | bool]
"""Values of a task by the names of its parameters."""


def _listed(value: object) -> object:
    return (
        (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value
    )


Texts = Annotated[tuple[str, ...], BeforeValidator(_listed)]
"""Several texts; in a file, one can be written without brackets."""


class OfFile:
    """A record that is read from a file; other keys are refused."""

    __slots__ = ()
    __pydantic_config__: ClassVar[Mapping[str, str]] = {"extra": "forbid"}


@dataclass(frozen=True, slots=True)
class Condition(OfFile):
    """What must hold of some quantities; those of a list are added."""

    of: Annotated[Texts, "the quantities that are compared"]
    is_: Annotated[str, 'the word that it must be; "" for any'] = ""
    least: Annotated[float | None, "the smallest number allowed"] = None
    most: Annotated[float | None, "the largest one"] = None
    more: Annotated[Texts, "quantities that it must exceed"] = ()
    times: Annotated[float, "by which factor"] = 1.0
    same: Annotated[str, "the quantity that it must equal"] = ""
    other: Annotated[str, "the quantity that it must differ from"] = ""


@dataclass(frozen=True, slots=True)
class Look(OfFile):
    """What a step looks at: a text, what it is compared with, and words that name parts of it."""

    values: Annotated[Values, "what the task is asked"]
    beside: Annotated[
        Mapping[str, Values], "further values for the same task, by the name that quantities use"
    ] = field(default_factory=dict)
    words: Annotated[Mapping[str, str], "the values of placeholders such as {thing}"] = field(
        default_factory=dict
    )

    @property
    def names(self) -> dict[str, str]:
        """The values of placeholders: the words, and the values by their names."""
        return {**{name: str(value) for name, value in self.values.items()}, **self.words}


@dataclass(frozen=True, slots=True)
class Choice(OfFile):
    """One answer to a question. Whether it is right follows from what is computed."""

    say: Annotated[str, "the answer"]
    reply: Annotated[str, "the reply to a visitor who chose it"] = ""
    is_: Annotated[str, "right if the truth is this word"] = ""
    least: Annotated[float | None, "right if the truth is at least this number"] = None
    most: Annotated[float | None, "right if it is at most this number"] = None
    otherwise: Annotated[bool, "right if no other choice is"] = False
    right: Annotated[bool, "of a reason, which cannot be computed"] = False


@dataclass(frozen=True, slots=True)
class Question(OfFile):
    """What a visitor guesses before the answer is computed."""

    ask: Annotated[str, "the question"]
    kind: Annotated[Kind, "how the guess is given"] = "choose"
    of: Annotated[
        str, 'the quantity that is the truth; "" where the choices have their own, or for a reason'
    ] = ""
    minus: Annotated[str, "a quantity that is subtracted from it"] = ""
    choices: Annotated[tuple[Choice, ...], 'of "choose"'] = ()
    from_: Annotated[int, "where the scale of a number begins"] = 0
    to: Annotated[int, "where it ends; 0 for a count, whose scale ends at all"] = 0
    unit: Annotated[str, 'of the number, such as "%"'] = ""
    at: Annotated[At, 'of "point": what is pointed at'] = "words"


@dataclass(frozen=True, slots=True)
class Change(OfFile):
    """The one thing that a visitor may change."""

    ask: Annotated[str, "what to try"]
    edits: Annotated[Texts, "the parameters that can be edited"]
    watch: Annotated[str, "the sentence about each new answer; a template"]


@dataclass(frozen=True, slots=True)
class Step(OfFile):
    """One screen of a lesson."""

    heading: Annotated[str, "a short title"]
    say: Annotated[str, "what to read first"]
    page: Annotated[str, "the task that answers; its page has the same picture"]
    look: Annotated[Look, "what is looked at"]
    reveal: Annotated[str, "what is said with the answer; a template"]
    holds: Annotated[
        tuple[Condition, ...], "what must be so for the step to teach what it says"
    ] = ()
    question: Annotated[Question | None, "None to just look"] = None
    why: Annotated[Question | None, "a second question, about the reason"] = None
    change: Annotated[Change | None, "what may be changed"] = None
    parts: Annotated[int, "how many parts of the page's screen are drawn"] = 3
    show: Annotated[
        Texts,
        "how the names of its pictures begin that are drawn instead, without the headline; () for "
        "the first parts",
    ] = ()


@dataclass(frozen=True, slots=True)
class Lesson(OfFile):
    """A lesson."""

    slug: Annotated[str, "the name of its file"]
    title: Annotated[str, "a question"]
    goal: Annotated[str, "what a visitor can do at the end"]
    minutes: Annotated[int, "how long it takes"]
    steps: Annotated[tuple[Step, ...], "at most six"]
    last: Annotated[str, "the takeaway, in a sentence"]
    larger: Annotated[str, 'what others found, which is not checked here; "" for nothing'] = ""
    claims: Annotated[Texts, "the claims it rests on"] = ()
    own: Annotated[bool, "whether it is the operator's, not ours"] = False


@dataclass(frozen=True, slots=True)
class Claim(OfFile):
    """A sentence about a model that is counted over items."""

    name: Annotated[str, "what files call it"]
    says: Annotated[str, "the sentence"]
    task: Annotated[str, "who answers"]
    items: Annotated[tuple[Texts, ...], "rows of columns, which templates call {0}, {1} and so on"]
    look: Annotated[Look, "what is asked of an item"]
    where: Annotated[tuple[Condition, ...], "which items are counted at all"] = ()
    counts: Annotated[tuple[Condition, ...], "when an item counts"] = ()
    tell: Annotated[Mapping[str, str], "quantities whose mean is told, by name"] = field(
        default_factory=dict
    )
    chance: Annotated[
        float | None, "the share of items that a binomial test must reject; None for no such test"
    ] = None
    stated: Annotated[str, 'the figure whose mean is that share; "" for none'] = ""
    fewer: Annotated[bool, "whether the claim is that fewer items count, not more"] = False
    against: Annotated[
        Texts,
        "the claims whose shares Fisher’s exact test must tell from this one, in that direction",
    ] = ()
    exact: Annotated[
        bool, "whether it follows from the vocabulary or the architecture, so that all count"
    ] = False
    role: Annotated[
        str, 'what the head is called for which it holds most often; "" for a claim about no head'
    ] = ""
    untrained: Annotated[bool, "whether a copy of the model is asked that has learned nothing"] = (
        False
    )


@dataclass(frozen=True, slots=True)
class Figures:
    """What was counted for a claim."""

    n: Annotated[int, "how many items there were"]
    k: Annotated[int, "how many of them count"]
    holds: Annotated[bool, "whether the claim's test holds"]
    tell: Annotated[Mapping[str, float], "the mean of each quantity that is told"]
    head: Annotated[
        tuple[int, int] | None,
        "of a claim with a role: the layer and the head for which it was counted",
    ] = None
    p: Annotated[
        float | None, "the largest p-value of its tests, both tails; None without such a test"
    ] = None
    left: Annotated[int, "items that there was no time for"] = 0


@dataclass(frozen=True, slots=True)
class Term(OfFile):
    """A word that a first visitor may not know."""

    says: Annotated[str, "what it means, in two sentences"]
    page: Annotated[str, "the page that shows it"]
    values: Annotated[Mapping[str, str], "the parameters of the page's address"] = field(
        default_factory=dict
    )


@dataclass(frozen=True, slots=True)
class Path:
    """Lessons in an order."""

    slug: Annotated[str, "its name in addresses"]
    title: Annotated[str, "its name in the menu"]
    lead: Annotated[str, "whom it is for"]
    lessons: Annotated[Texts, "slugs, the first one first"]
