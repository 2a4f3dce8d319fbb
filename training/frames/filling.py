"""Read the tables of this folder and fill in frames."""

import random
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

SLOT = re.compile(r"\{(\w+)\}")
_ARTICLE = re.compile(r"((?<![^.?!:] )(?<!\w)A|\ba) (?=(?:\[(?:[A-Z]{3} )?)?(\w+))")
_SOUNDS = re.compile(r"(?!uni|use|usu|uk|ur|eu|one\b|once)[aeiou]|hour|honest|heir|honou?r", re.I)


@cache
def table(name: str) -> dict[str, Any]:
    """Return a TOML file of this folder."""
    path = Path(__file__).with_name(f"{name}.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def filled(frame: str, words: Mapping[str, str]) -> str:
    """Fill in a frame: "a" or "an" as it sounds, the first letter a capital.

    >>> filled("a {s} is a {o}, not a {x}.", {"s": "owl", "o": "bird", "x": "unicorn"})
    'An owl is a bird, not a unicorn.'
    """
    return sounded(SLOT.sub(lambda slot: words[slot[1]], frame))


def sounded(text: str) -> str:
    """Put "an" where it sounds so, and a capital at the beginning."""
    text = _ARTICLE.sub(lambda a: f"{a[1]}n " if _SOUNDS.match(a[2]) else f"{a[1]} ", text)
    return text[:1].upper() + text[1:]


def slots(frame: str) -> set[str]:
    """Return the names of a frame's slots.

    >>> sorted(slots("{s} is {o}."))
    ['o', 's']
    """
    return set(SLOT.findall(frame))


def plural(word: str) -> str:
    """Return the regular plural of a noun.

    >>> plural("comedy"), plural("bus"), plural("play")
    ('comedies', 'buses', 'plays')
    """
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "sh", "ch", "x")) else f"{word}s"


def two(source: random.Random, words: Sequence[str]) -> tuple[str, str]:
    """Draw two different words."""
    first, second = source.sample(list(words), 2)
    return first, second


def flat(lists: Iterable[Iterable[str]]) -> list[str]:
    """Return the words of several lists, each once and in order."""
    return list(dict.fromkeys(word for each in lists for word in each))
