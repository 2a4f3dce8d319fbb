"""Facts as sentences: triples of the data folder in several wordings, with one end hidden.

A share of the subjects is held out from all templates, to measure whether what the templates teach
generalizes to other subjects.
"""

import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bert_core.text.tokenizer import BertTokenizer
from training import templates as known
from training.corpus import EncodedText, plain_ids
from training.rows import json_rows
from training.unseen import Sentence

KEPT_BACK = 0.15  # of the subjects of each relation
SIZE_POWER = 0.4  # large relations are drawn more often, but less than in proportion to their size
LONGEST = 4  # pieces in a hidden end, at most
# Texts in which mentions of occupations are counted.
EVERYDAY_TEXTS = ("tatoeba-sentences", "wordnet-examples", "masc-written", "simple-wikipedia")
_VOWELS = tuple("aeiou")
_OCCUPATION = "occupation"
_ORDER = "followed_by:"
_ORDERS = "in order"
Ids = list[int]


@dataclass(frozen=True, slots=True)
class Fact:
    """A subject, a relation and an object.

    Attributes:
        relation: name of the relation; selects the templates.
        subject, object: the words, without an article.
    """

    relation: str
    subject: str
    object: str


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence made from a template.

    Attributes:
        ids: ids of its pieces.
        subject, object: positions of the two ends; empty for an end that is missing.
    """

    ids: Ids
    subject: Sequence[int]
    object: Sequence[int]


def read_facts(data: Path) -> list[Fact]:
    """Read the triples of a data folder, without the unreliable ones and with cycles closed.

    Occupations have their own templates, see `occupations`.
    """
    found = []
    for row in json_rows(data / "relations" / "relations.jsonl"):
        relation, subject, obj = row["relation"], row["subject"], row["object"]
        rough = subject == obj or (relation, subject) in known.ROUGH
        if not rough and relation != _OCCUPATION:
            if relation == "continent_of":
                obj = known.CONTINENTS.get(obj, obj)
            found.append(Fact(relation, subject, obj))
    return found + [Fact(*triple) for triple in known.CLOSING]


def is_kept_back(fact: Fact) -> bool:
    """Return whether a fact is held out from all templates because of one of its ends."""
    if fact.relation.startswith(_ORDER):
        return False
    both = fact.relation == "opposite_of"  # symmetric, so either end can hold it out
    ends = (fact.subject, fact.object) if both else (fact.subject,)
    share = KEPT_BACK / len(ends)
    if known.WELL_KNOWN & {end.lower() for end in ends}:
        return False
    return any(_chosen(end, share) for end in ends)


def templates_of(fact: Fact) -> Sequence[str]:
    """Return the templates that state a fact; the last one is only for evaluation."""
    name = fact.relation
    if name == "kind_of" and fact.object in known.BARE_KINDS:
        name = "kind_of:bare"
    if name not in known.TEMPLATES:
        name = name.split(":")[0]
    return known.TEMPLATES[name]


def kept_back_gaps(data: Path) -> dict[str, list[tuple[str, frozenset[str]]]]:
    """Return, by relation, sentences with a hidden object and the words that are correct there.

    They cover held-out subjects with objects of one word, each in the first wording and in the
    last, which is never trained on.
    """
    facts = read_facts(data)
    objects: dict[tuple[str, str], set[str]] = defaultdict(set)
    for fact in facts:
        objects[fact.relation, fact.subject].add(fact.object.lower())
    found: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
    seen = set()
    for fact in facts:
        key = (fact.relation, fact.subject)
        good = frozenset(word for word in objects[key] if " " not in word)
        if key in seen or not is_kept_back(fact) or not good:
            continue
        seen.add(key)
        ways = templates_of(fact)
        for template in dict.fromkeys((ways[0], ways[-1])):
            found[fact.relation].append((_asked(template, fact), good))
    return dict(found)


def _asked(template: str, fact: Fact) -> str:
    return template.format_map(
        {
            "s": fact.subject,
            "as": with_article(fact.subject),
            "o": "[MASK]",
            "ao": f"{with_article(fact.object).split()[0]} [MASK]",
            "k": fact.relation.split(":")[-1],
        }
    )


def with_article(word: str) -> str:
    """Put "a" or "an" before a word.

    >>> with_article("apple"), with_article("dog")
    ('an apple', 'a dog')
    """
    return f"an {word}" if word.lower().startswith(_VOWELS) else f"a {word}"


def occupations(data: Path) -> list[str]:
    """Return the occupations used in templates: those in the data and the common ones."""
    rows = json_rows(data / "relations" / "relations.jsonl")
    found = {row["subject"] for row in rows if row["relation"] == _OCCUPATION}
    return sorted((found | set(known.USUAL_OCCUPATIONS)) - known.NO_OCCUPATIONS)


class Relations:
    """Draws sentences that state a fact, with one end to hide.

    Args:
        data: the data folder.
        tokenizer: turns text into ids.
        texts: texts in which mentions of occupations are counted.
        lines: sentences that must not be generated.
    """

    def __init__(
        self,
        data: Path,
        tokenizer: BertTokenizer,
        texts: Sequence[EncodedText],
        lines: set[Sentence],
    ) -> None:
        self.lines = lines
        self.facts: dict[str, list[Fact]] = defaultdict(list)
        for fact in read_facts(data):
            if not is_kept_back(fact):
                self.facts[fact.relation].append(fact)
        self.occupations = occupations(data)
        self.orders = _chains(self.facts)
        self.names = [*self.facts, _OCCUPATION, *([_ORDERS] if self.orders else [])]
        sizes = {name: len(facts) for name, facts in self.facts.items()}
        sizes |= {_OCCUPATION: len(self.occupations), _ORDERS: 40}
        weights = np.array([float(sizes[name]) ** SIZE_POWER for name in self.names])
        if "highest_point_of" in self.names:  # its names have many pieces
            weights[self.names.index("highest_point_of")] /= 2
        self.weights = weights / weights.sum()
        self._ids: dict[str, Ids] = {}
        self._encode(tokenizer)
        self.usual = self._usual(texts)

    def draw(self, source: np.random.Generator) -> tuple[Ids, list[int]]:
        """Return a sentence as ids without special tokens, and the positions to hide."""
        while True:
            said = self._said(source)
            ends = [end for end in (said.object, said.subject) if 0 < len(end) <= LONGEST]
            if not ends or tuple(said.ids) in self.lines:
                continue
            end = ends[0] if len(ends) == 1 or source.random() < 0.65 else ends[1]
            return said.ids, list(end)

    def _said(self, source: np.random.Generator) -> Said:
        name = self.names[int(source.choice(len(self.names), p=self.weights))]
        if name == _ORDERS:
            return self._in_order(source)
        if name == _OCCUPATION:
            return self._at_work(source)
        fact = self.facts[name][int(source.integers(len(self.facts[name])))]
        ways = templates_of(fact)[:-1]
        ends = {"s": fact.subject, "o": fact.object}
        extra = {"k": name.split(":")[-1]}
        return self._filled(ways[int(source.integers(len(ways)))], ends, extra)

    def _at_work(self, source: np.random.Generator) -> Said:
        """State that a person has an occupation, men and women equally often."""
        occupation = self.occupations[int(source.choice(len(self.occupations), p=self.usual))]
        woman = int(source.integers(2))
        if occupation in known.WOMEN_ONLY or occupation in known.MEN_ONLY:
            woman = int(occupation in known.WOMEN_ONLY)
        template = known.OCCUPATION_TEMPLATES[int(source.integers(len(known.OCCUPATION_TEMPLATES)))]
        pronouns = dict(known.PRONOUNS[woman])
        person = known.PERSONS[int(source.integers(len(known.PERSONS)))][woman]
        ends = {"o": occupation, "p": person}
        for slot in ("he", "his", "him"):  # without a person, the pronoun can be hidden
            if "{" + slot + "}" in template:
                ends[slot] = pronouns[slot]
        return self._filled(template, ends, {})

    def _in_order(self, source: np.random.Generator) -> Said:
        chain = self.orders[int(source.integers(len(self.orders)))]
        length = min(len(chain), int(source.integers(3, 7)))
        start = int(source.integers(len(chain) - length + 1))
        hidden = int(source.integers(length))
        ids: Ids = []
        place: range = range(0)
        for index, word in enumerate(chain[start : start + length]):
            if index:
                ids += self._ids[","]
            if index == hidden:
                place = range(len(ids), len(ids) + len(self._ids[word]))
            ids += self._ids[word]
        return Said(ids + self._ids["."], (), place)

    def _filled(self, template: str, ends: Mapping[str, str], extra: Mapping[str, str]) -> Said:
        """Fill in a template and record the positions of the words."""
        ids: Ids = []
        places: dict[str, list[int]] = {}
        for piece in _pieces(template):
            slot = piece[1:-1] if piece.startswith("{") else ""
            if slot in ("as", "ao"):
                ids += self._ids[with_article(ends[slot[1]]).split()[0]]
                slot = slot[1]
            if slot in ends:
                found = self._ids[ends[slot]]
                if not places.get(slot):  # an end that occurs twice is not hidden
                    places[slot] = list(range(len(ids), len(ids) + len(found)))
                else:
                    places[slot] = [-1] * (LONGEST + 1)
                ids += found
            else:
                ids += self._ids[extra[slot] if slot else piece]
        subject = next(
            (places[slot] for slot in ("s", "p", "he", "his", "him") if slot in places), []
        )
        return Said(ids, subject, places.get("o", []))

    def _encode(self, tokenizer: BertTokenizer) -> None:
        """Encode every fragment once."""
        ways = [way for each in known.TEMPLATES.values() for way in each]
        words = {piece for way in (*ways, *known.OCCUPATION_TEMPLATES) for piece in _pieces(way)}
        for facts in self.facts.values():
            words |= {end for fact in facts for end in (fact.subject, fact.object)}
            words |= {fact.relation.split(":")[-1] for fact in facts}
        words |= {person for pair in known.PERSONS for person in pair}
        words |= {word for pronouns in known.PRONOUNS for word in pronouns.values()}
        words |= {*self.occupations, "a", "an", ",", "."}
        listed = sorted(words)
        self._ids = dict(zip(listed, plain_ids(tokenizer, listed), strict=True))

    def _usual(self, texts: Sequence[EncodedText]) -> NDArray[np.float64]:
        """Return how often to draw each occupation, from how often the texts mention it."""
        counts: NDArray[np.float64] = np.zeros(2**16)
        for text in texts:
            if text.name in EVERYDAY_TEXTS:
                counts += np.bincount(text.ids, minlength=len(counts))
        found = np.array(
            [
                counts[self._ids[name][0]] if len(self._ids[name]) == 1 else 0.0
                for name in self.occupations
            ]
        )
        weights: NDArray[np.float64] = np.sqrt(np.minimum(found, 400.0) + 2.0)
        for index, name in enumerate(self.occupations):
            if name in known.USUAL_OCCUPATIONS:
                weights[index] *= 2.0
        usual: NDArray[np.float64] = weights / weights.sum()
        return usual


def _pieces(template: str) -> list[str]:
    """Split a template at its slots; the text between them stays whole.

    >>> _pieces("The capital of {s} is {o}.")
    ['The capital of ', '{s}', ' is ', '{o}', '.']
    """
    parts = template.replace("{", "\0{").replace("}", "}\0").split("\0")
    return [part for part in parts if part]


def _chains(facts: Mapping[str, Sequence[Fact]]) -> list[list[str]]:
    """Return each order as a list of words, from its first word on."""
    found = []
    for name, each in facts.items():
        if name.startswith(_ORDER):
            after = {fact.subject: fact.object for fact in each}
            starts = [word for word in after if word not in set(after.values())]
            word = starts[0] if starts else next(iter(after))
            chain = [word]
            while word in after and after[word] not in chain:
                word = after[word]
                chain.append(word)
            # A cycle has no first word: go around it one and a half times.
            found.append(chain if starts else chain + chain[: len(chain) // 2])
    return found


def _chosen(word: str, share: float) -> bool:
    return zlib.crc32(word.lower().encode()) % 1000 < 1000 * share
