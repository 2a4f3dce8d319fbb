"""WordNet 3.0: usage examples, definitions, and facts about opposites, kinds, parts, persons."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bert_core.bundled import bundled_folder
from training.fetching.texts import text
from training.fetching.transfer import Files, debian
from training.sources import Piece

_PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
_PERSON = "18"  # the file of nouns for people
# Kinds that a definition gives a word, by the word of the synset; the nearest one counts.
_KINDS = """animal|body_part:part of the body|container|vehicle|building|clothing:piece of clothing
relative|mammal|feeling|science|sport|game|room|bird|beverage:drink|furniture:piece of furniture
weapon|musical_instrument:instrument|fabric|edible_fruit:fruit|insect|natural_language:language
metallic_element:metal|calendar_month:month|tree|disease|machine|chromatic_color:color|book|fish
vegetable|flavorer:seasoning|tool|meat|boat|reptile|ship|flower|mineral|jewel:gem|shape|planet"""
_OCCUPATIONS = "worker|leader|professional|entertainer|scientist|artist"


@dataclass(frozen=True, slots=True)
class _Synset:
    """Words, pointers (sign, synset, word numbers), gloss and file of a synset."""

    words: list[str]
    pointers: list[tuple[str, str, str]]
    gloss: str
    file: str


class _WordNet:
    """Synsets by part of speech and place, and words with their senses and counts in texts."""

    def __init__(self, files: Files) -> None:
        self.synsets = dict[str, _Synset]()
        self.senses = dict[tuple[str, str], tuple[int, list[str]]]()
        for part, sign in _PARTS.items():
            for line in files[f"./usr/share/wordnet/data.{part}"].decode("latin-1").splitlines():
                if not line.startswith(" "):
                    self.synsets[sign + line[:8]] = _synset(line)
            for line in files[f"./usr/share/wordnet/index.{part}"].decode("latin-1").splitlines():
                if not line.startswith(" "):
                    row = line.split()
                    after = 4 + int(row[3])
                    places = [sign + place for place in row[after + 2 :]]
                    self.senses[sign, row[0]] = int(row[after + 1]), places

    def count(self, sign: str, word: str) -> int:
        """Return how many senses of a word were found in texts."""
        return self.senses.get((sign, word.lower()), (0, []))[0]

    def first(self, sign: str, word: str) -> str:
        """Return the most common sense of a word; "" if it has none."""
        return self.senses.get((sign, word.lower()), (0, [""]))[1][0]


def _synset(line: str) -> _Synset:
    head, _, gloss = line.partition("|")
    row = head.split()
    end = 4 + 2 * int(row[3], 16)
    words = [re.sub(r"\(\w+\)$", "", word) for word in row[4:end:2]]
    at = range(end + 1, end + 1 + 4 * int(row[end]), 4)
    pointers = [(row[i], row[i + 2].replace("s", "a") + row[i + 1], row[i + 3]) for i in at]
    return _Synset(words, pointers, gloss.strip(), row[1])


def wordnet(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make examples, definitions and facts."""
    [raw] = files.values()
    net = _WordNet(debian(raw, ["./usr/share/wordnet/*"]))
    known = set((bundled_folder("explorer-mini-uncased") / "vocab.txt").read_text("utf-8").split())
    examples = dict.fromkeys(
        sentence(one)
        for synset in net.synsets.values()
        for one in re.findall(r'"([^"]*)"', synset.gloss)
        if len(one.split()) >= 4
    )
    definitions = sorted(set(_definitions(net, known)), key=str.lower)
    rows = (
        json.dumps({"relation": relation, "subject": a, "object": b, "source": "WordNet 3.0"})
        for relation, a, b in dict.fromkeys(_facts(net, known))
    )
    made = zip(piece.files, (examples, definitions), strict=True)
    return {
        **{name: text([one] for one in lines) for name, lines in made},
        "parts/facts-wordnet.jsonl": "".join(row + "\n" for row in rows),
    }


def sentence(words: str) -> str:
    """Write a usage example as a sentence.

    >>> sentence("they laughed"), sentence("Why not?")
    ('They laughed.', 'Why not?')
    """
    words = words.strip()
    return words[:1].upper() + words[1:] + ("" if words[-1] in ".!?" else ".")


def _definitions(net: _WordNet, known: set[str]) -> Iterator[str]:
    """Yield the definition of the first sense of each word that is common or of known words."""
    for place, synset in net.synsets.items():
        clause = re.sub(r"\s*\([^)]*\)", " ", re.split(r'; |: "', synset.gloss)[0])
        clause = re.sub(r"\s+(?=[,.])", "", " ".join(clause.split()).strip(";:, "))
        if not 3 <= len(clause.split()) <= 28:
            continue
        for word in synset.words:
            said = word.replace("_", " ")
            common = net.count(place[0], word) or all(one in known for one in said.lower().split())
            if common and re.fullmatch("[A-Za-z ]+", said) and net.first(place[0], word) == place:
                yield sentence(f"{_opening(place[0], said, clause)} {clause}")


def _opening(sign: str, word: str, clause: str) -> str:
    """Return the words before a definition.

    >>> _opening("n", "apple", "a fruit"), _opening("v", "run", "move"), _opening("a", "big", "of")
    ('An apple is', 'To run is to', 'Big means')
    """
    if sign == "v":
        return f"To {word} is to"
    if sign != "n":
        return f"{word[:1].upper()}{word[1:]} means"
    counted = word[0].islower() and re.match(r"(an?|someone|any|one) ", clause)
    return f"{'An' if word[0] in 'aeiou' else 'A'} {word} is" if counted else f"{word} is"


def _facts(net: _WordNet, known: set[str]) -> Iterator[tuple[str, str, str]]:
    """Yield relation, subject and object, both of common words."""
    kinds, occupations = _named(net, _KINDS), _named(net, _OCCUPATIONS)
    for place, synset in net.synsets.items():
        common = [word for word in synset.words if _common(net, known, place[0], word)]
        for pointer in synset.pointers if common else ():
            yield from _pointed(net, known, place, pointer)
        for word in common if place[0] == "n" else ():
            if net.first("n", word) == place:
                if said := _kind(net, place, kinds):
                    yield "kind_of", word, said
                if synset.file == _PERSON and _kind(net, place, occupations):
                    yield "occupation", word, re.split(r"[;(]", synset.gloss)[0].strip()


def _pointed(
    net: _WordNet, known: set[str], place: str, pointer: tuple[str, str, str]
) -> Iterator[tuple[str, str, str]]:
    """Yield the fact that a pointer states: between two words, or of a whole synset."""
    mark, other, numbers = pointer
    here, there = net.synsets[place], net.synsets[other]
    first = here.words[max(0, int(numbers[:2], 16) - 1)]
    second = there.words[max(0, int(numbers[2:], 16) - 1)]
    if not (_common(net, known, place[0], first) and _common(net, known, other[0], second)):
        return
    if mark == "!":
        yield "opposite_of", first, second
    elif mark == "#p" and net.first("n", first) == place and net.count("n", first) > 1:
        yield "part_of", first, second
    elif mark == "+" and place[0] == "v" and there.file == _PERSON and _akin(first, second):
        yield "person_who", first, second


def _akin(verb: str, person: str) -> bool:
    return verb != person and verb[:3] == person[:3]


def _named(net: _WordNet, table: str) -> dict[str, str]:
    """Return the description of each kind in a table, by its synset."""
    rows = (row.partition(":") for row in re.split(r"[|\n]", table))
    return {net.first("n", word): said or word for word, _, said in rows}


def _kind(net: _WordNet, place: str, kinds: dict[str, str]) -> str:
    """Return the nearest kind above a synset, breadth first; "" if there is none."""
    level, seen = [place], {place}
    while level:
        above = [
            other
            for one in level
            for mark, other, _ in net.synsets[one].pointers
            if mark in ("@", "@i") and other not in seen
        ]
        for one in above:
            if one in kinds:
                return kinds[one]
        seen.update(above)
        level = above
    return ""


def _common(net: _WordNet, known: set[str], sign: str, word: str) -> bool:
    return word.isalpha() and word.islower() and word in known and net.count(sign, word) > 0
