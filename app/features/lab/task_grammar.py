"""A generated corpus with named phenomena, whose best possible accuracy follows from its rules.

A `Template` is a sentence with gaps, and axes that fill them. Everything that depends on something
else (the verb on the number of its subject, the pronoun on the name, the object on the verb, the
capital on the country) is in one option of one axis; the axes are drawn independently. So all
sentences with their probabilities can be listed, and from the list follows exactly how often the
best guess at a gap is right.
"""

import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache

from app.features.lab.result_corpus import Phenomenon, Probe

HELD_OUT = 120  # sentences for each phenomenon that are never trained on
_SENTENCES_TOGETHER = 4  # of one text, about the same person and the same animal


@dataclass(frozen=True, slots=True)
class Option:
    """One way to fill an axis.

    Attributes:
        words: gap -> word.
        weight: how often it is drawn, relative to the other options of the axis.
        about: the person or animal that it names; sentences of one text are about the same.
    """

    words: Mapping[str, str]
    weight: int = 1
    about: str = ""


Axis = tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence with gaps.

    Attributes:
        pattern: with gaps in braces.
        axes: drawn independently; together they fill all gaps.
        weight: how often it is drawn, relative to the other templates.
        hidden: phenomenon -> the gap that is hidden to measure it.
    """

    pattern: str
    axes: tuple[Axis, ...]
    weight: int
    hidden: Mapping[str, str] = field(default_factory=dict)

    def sentences(self) -> Iterator[tuple[dict[str, str], int]]:
        """Yield the words of every sentence, and its weight among those of this template."""
        for options in itertools.product(*self.axes):
            weight = 1
            words: dict[str, str] = {}
            for option in options:
                words |= option.words
                weight *= option.weight
            yield words, weight

    def draw(self, source: random.Random, about: Set[str] = frozenset()) -> dict[str, str]:
        """Draw the words of a sentence, about given persons and animals if the axes name any."""
        words: dict[str, str] = {}
        for axis in self.axes:
            options = [each for each in axis if each.about in about] or axis
            words |= source.choices(options, [each.weight for each in options])[0].words
        return words


def _axis(gap: str, words: str) -> Axis:
    """Return equally frequent words for one gap."""
    return tuple(Option({gap: word}) for word in words.split())


_WOMEN = ["mary", "anna", "lucy", "emma", "clara"]
_MEN = ["john", "peter", "david", "henry", "oscar"]
_NAMES: Axis = tuple(
    Option({"name": name, "pronoun": pronoun}, about=name)
    for pronoun, names in (("she", _WOMEN), ("he", _MEN))
    for name in names
)
_ANIMALS = {
    "dog": "dogs", "cat": "cats", "horse": "horses", "bird": "birds", "mouse": "mice",
    "goose": "geese", "sheepdog": "sheepdogs", "child": "children", "farmer": "farmers",
    "doctor": "doctors", "woman": "women", "wolf": "wolves",
}  # fmt: skip
_NOUNS: Axis = tuple(
    Option({"noun": noun, "be": be}, about=one)
    for one, many in _ANIMALS.items()
    for noun, be in ((one, "is"), (many, "are"))
)
_OBJECTS = {
    "eats": "bread soup cake", "drinks": "milk tea water", "reads": "letter book story",
    "drives": "car truck bus", "plays": "piano violin drum", "wears": "coat hat scarf",
}  # fmt: skip
_VERBS: Axis = tuple(
    Option({"verb": verb, "object": thing}, weight=2 if number == 0 else 1)
    for verb, things in _OBJECTS.items()
    for number, thing in enumerate(things.split())
)
_CAPITALS: Axis = tuple(
    Option({"country": country, "capital": capital})
    for country, capital in (
        pair.split()
        for pair in (
            "france paris", "italy rome", "spain madrid", "japan tokyo",
            "egypt cairo", "peru lima", "kenya nairobi", "norway oslo",
        )
    )
)  # fmt: skip
_QUALITIES = _axis("quality", "hungry happy tired young quiet brave ill cold")
_OTHER_QUALITIES = _axis("old", "old small big good")
_TIMES = _axis("time", "today now again often")
_PLACES = _axis("place", "garden kitchen park school town house")
_NEAR = _axis("near", "near behind beside")


def _two_nouns(*, same: bool) -> Axis:
    """Return subjects with a second noun of the same or of the other number."""
    return tuple(
        Option({**noun.words, "other": other.words["noun"]}, about=noun.about)
        for noun in _NOUNS
        for other in _NOUNS
        if (noun.words["be"] == other.words["be"]) == same and noun.about != other.about
    )


NEAR, ACROSS, PRONOUN = "agreement", "agreement across a noun", "pronoun by name"
OBJECT, FACT, FREE = "object by verb", "facts", "free choice"
_LONG = "the {noun} {near} the {other} {be} {quality} {time} ."
_SAYING = _axis("says", "says knows hears thinks")
TEMPLATES = (
    Template(
        "the {old} {noun} {be} {quality} {time} .",
        (_OTHER_QUALITIES, _NOUNS, _QUALITIES, _TIMES),
        4,
        {NEAR: "be", FREE: "quality"},
    ),
    Template(_LONG, (_two_nouns(same=False), _NEAR, _QUALITIES, _TIMES), 4, {ACROSS: "be"}),
    # Without these, the number opposite to the nearest noun would always be right.
    Template(_LONG, (_two_nouns(same=True), _NEAR, _QUALITIES, _TIMES), 3),
    Template(
        "{name} waits in the {place} because {pronoun} is {quality} {time} .",
        (_NAMES, _PLACES, _QUALITIES, _TIMES),
        3,
        {PRONOUN: "pronoun"},
    ),
    Template(
        "{time} {name} {verb} the {object} in the {place} .",
        (_TIMES, _NAMES, _VERBS, _PLACES),
        5,
        {OBJECT: "object"},
    ),
    Template(
        "{name} {says} {time} that the capital of {country} is {capital} .",
        (_NAMES, _SAYING, _TIMES, _CAPITALS),
        3,
        {FACT: "capital"},
    ),
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How often two guessers are right at the gap of one phenomenon.

    Attributes:
        ceiling: who knows the rules; no one can be right more often.
        floor: who always says the most frequent word of this gap.
    """

    ceiling: float
    floor: float


@cache
def bounds() -> dict[str, Bounds]:
    """Return the bounds of each phenomenon, from the list of all sentences with that gap."""
    return {
        name: _bounds(template, gap)
        for template in TEMPLATES
        for name, gap in template.hidden.items()
    }


def _bounds(template: Template, gap: str) -> Bounds:
    """Add up what the best guess in each context, and the one best guess, get right."""
    contexts: dict[str, Counter[str]] = defaultdict(Counter)
    answers: Counter[str] = Counter()
    for words, weight in template.sentences():
        context = template.pattern.format_map({**words, gap: "[MASK]"})
        contexts[context][words[gap]] += weight
        answers[words[gap]] += weight
    total = answers.total()
    best = sum(max(found.values()) for found in contexts.values())
    return Bounds(best / total, max(answers.values()) / total)


def phenomena(seed: int = 0) -> tuple[Phenomenon, ...]:
    """Draw the held-out sentences of each phenomenon."""
    found = []
    for name, limits in bounds().items():
        template = next(each for each in TEMPLATES if name in each.hidden)
        gap, source = template.hidden[name], random.Random(f"{seed} {name}")
        probes: dict[str, Probe] = {}
        while len(probes) < HELD_OUT:
            words = template.draw(source)
            sentence = template.pattern.format_map(words)
            masked = template.pattern.format_map({**words, gap: "[MASK]"})
            probes[sentence] = Probe(masked, words[gap])
        found.append(Phenomenon(name, tuple(probes.values()), limits.floor, limits.ceiling))
    return tuple(found)


def documents(
    sentences: int, held_out: Sequence[Phenomenon], seed: int = 0
) -> tuple[tuple[str, ...], ...]:
    """Draw texts of four sentences about one person and one animal.

    Args:
        sentences: number of sentences, a multiple of four.
        held_out: phenomena whose sentences are left out.
        seed: the same seed gives the same texts.
    """
    source = random.Random(f"{seed} documents")
    taken = {probe.sentence for phenomenon in held_out for probe in phenomenon.probes}
    weights = [template.weight for template in TEMPLATES]
    persons, animals = [each.about for each in _NAMES], list(_ANIMALS)
    made = []
    for _ in range(sentences // _SENTENCES_TOGETHER):
        about = {source.choice(persons), source.choice(animals)}
        text: list[str] = []
        while len(text) < _SENTENCES_TOGETHER:
            template = source.choices(TEMPLATES, weights)[0]
            sentence = template.pattern.format_map(template.draw(source, about))
            if sentence not in taken:
                text.append(sentence)
        made.append(tuple(text))
    return tuple(made)
