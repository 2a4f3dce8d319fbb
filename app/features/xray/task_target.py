"""What can be answered, by number and by name, and what the library measures of it."""

import numpy as np

from app.features.xray.result import Kind
from app.features.xray.task_run import Text
from bert_core.analysis import Target
from bert_core.errors import InputError
from bert_core.reading.gaps import written_before

NEXT = ("B follows A", "B does not follow")


def target_of(kind: Kind, position: int, chosen: int) -> Target:
    """Return the number that is explained."""
    if kind == "next":
        return Target.next_sentence()
    if kind in ("word", "entity"):
        return (Target.token if kind == "word" else Target.label)(position, chosen)
    whole = {"start": Target.start, "end": Target.end, "label": Target.classification}
    return whole[kind](chosen)


def sign(kind: Kind, chosen: int) -> int:
    """Return -1 where a growing target speaks against the answer that is followed."""
    return -1 if kind == "next" and chosen == 1 else 1


def target_value(kind: Kind, logits: np.ndarray, chosen: int) -> float:
    """Compute the target from the logits (N,) of all answers, in nats."""
    if kind == "next":
        return float(logits[0] - logits[1])
    top = logits.max()
    return float(logits[chosen] - top - np.log(np.exp(logits - top).sum()))


def name_of(text: Text, number: int) -> str:
    """Return the name of an answer; "" for a negative number."""
    if number < 0:
        return ""
    if text.kind == "word":
        return text.engine.readable(number)
    if text.kind in ("start", "end"):
        return f"{text.encoding.pieces[number]} ({number})"
    return NEXT[number] if text.kind == "next" else text.model.config.label_name(number)


def number_of(text: Text, position: int, name: str, count: int) -> int:
    """Return the number of an answer that a visitor named.

    Raises:
        InputError: there is no such label, or the word has several pieces.
    """
    wanted = name.strip()
    if text.kind == "word":
        entry = text.engine.entry(wanted, written_before(text.encoding, position))
        if entry is None:
            raise InputError(
                f"“{wanted[:60]}” is not one piece of the vocabulary, and at one place the model "
                "writes one piece. Follow another word."
            )
        return entry
    known = [name_of(text, number) for number in range(count)]
    for number, each in enumerate(known):
        if each.lower() == wanted.lower():
            return number
    raise InputError(f"There is no answer “{wanted[:60]}”. Answers are: {', '.join(known)[:300]}.")
