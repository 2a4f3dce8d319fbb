"""Short everyday pairs of sentences, one after the other or not.

A sentence that follows shares no word with the one before it, and half of those that do not follow
do: counting common words does not help.
"""

import random
import re
from functools import cache
from typing import Any

from bert_core.finetuning import LabelledText
from training.frames.filling import SLOT, filled, slots, table
from training.hiding import FUNCTION_WORDS
from training.written.near import is_near

FOLLOWS, DOES_NOT = 0, 1
_SHARES_A_WORD = 0.5  # of the false pairs
_SMALL = ("The", "My", "Our", "Her", "His")


def pairs(count: int, seed: int) -> list[LabelledText]:
    """Return pairs of sentences, half of them with the second following the first (0, else 1)."""
    source = random.Random(seed)
    found: list[LabelledText] = []
    while len(found) < count:
        label = len(found) % 2
        scene, other = source.sample(_scenes(), 2)
        first = source.choice(scene["first"])
        if label == FOLLOWS:
            second = source.choice(scene["next"])
            if slots(second) and not slots(first):
                continue  # nobody whom the pronoun could mean
        elif source.random() < _SHARES_A_WORD:
            alike = [each for each in scene["shares"] if stems(first) & stems(each)]
            second = source.choice(alike or scene["shares"])
        else:
            second = source.choice(other[source.choice(("next", "next", "first", "shares"))])
        row = _told(first, second, label, source)
        then = row.text_pair or ""
        if label == FOLLOWS and stems(row.text) & stems(then):
            continue  # the person of one sentence is a word of the other
        if not is_near(row.text) and not is_near(then):
            found.append(row)
    return found


def stems(text: str) -> set[str]:
    """Return the beginnings of a text's content words.

    >>> sorted(stems("The baker {he} baked two loaves of bread."))
    ['bake', 'brea', 'loav', 'two']
    """
    words = set(re.findall(r"[a-z]{2,}", SLOT.sub("", text).lower())) - FUNCTION_WORDS
    return {word.rstrip("s") if len(word) < 5 else word[:4] for word in words}


@cache
def _scenes() -> list[dict[str, Any]]:
    scenes: list[dict[str, Any]] = table("neighbours")["scene"]
    return scenes


def _told(first: str, second: str, label: int, source: random.Random) -> LabelledText:
    """Fill in the person, the same in both sentences."""
    he, his, him, names = source.choice(table("neighbours")["persons"])
    named = source.choice(names.split("|"))
    rest = {"he": he, "his": his, "him": him}
    start, then = (
        filled(each, rest | {"P": named if each.startswith("{P}") else _inside(named)})
        for each in (first, second)
    )
    return LabelledText(start, label, then)


def _inside(person: str) -> str:
    """Write a person as in the middle of a sentence."""
    first = person.split()[0]
    return person[:1].lower() + person[1:] if first in _SMALL else person
