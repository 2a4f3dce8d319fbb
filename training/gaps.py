"""Everyday gaps: sentences anybody could type, with words that would do.

Written down before any answer of a model was looked at; a gap counts when one of the good words
is among the first five.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gap:
    """A sentence with one [MASK], and the words that would fill it well."""

    sentence: str
    good: frozenset[str]


def _gap(sentence: str, good: str) -> Gap:
    return Gap(sentence, frozenset(good.split()))


GAPS = (
    _gap("The capital of France is [MASK].", "paris"),
    _gap("She drank a cup of [MASK].", "tea coffee water milk chocolate wine"),
    _gap("The sun rises in the [MASK].", "east morning"),
    _gap("He opened the [MASK] and walked into the room.", "door doors"),
    _gap("In winter it is often very [MASK].", "cold dark snowy wet"),
    _gap("The cat chased the [MASK] around the house.", "mouse dog mice rat rats bird cat"),
    _gap("We went to the [MASK] to buy some bread.", "shop store market bakery kitchen"),
    _gap("My brother and my [MASK] live in the same town.", "sister mother father parents wife"),
    _gap("A week has seven [MASK].", "days"),
    _gap("She plays the [MASK] in an orchestra.", "violin piano cello flute drums trumpet"),
    _gap("Fish live in [MASK].", "water lakes rivers ponds oceans seas streams"),
    _gap("The [MASK] barked at the postman.", "dog dogs"),
    _gap("I was so tired that I went straight to [MASK].", "bed sleep"),
    _gap("Berlin is the capital of [MASK].", "germany"),
    _gap("He wrote a long [MASK] to his mother.", "letter note message story"),
    _gap("Snow is [MASK].", "white cold falling frozen soft"),
    _gap("The doctor told him to stop [MASK].", "smoking drinking eating working"),
    _gap("They have been married for twenty [MASK].", "years"),
    _gap("The train arrived at the [MASK] ten minutes late.", "station platform"),
    _gap("Please close the [MASK], it is cold in here.", "door window windows doors"),
)
