"""Praise and blame with a negation or a contrast, each beside its plain sentence.

"Not bad at all" praises and "anything but sturdy" does not; models that count good and bad words
take them for the opposite.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

from bert_core.finetuning import LabelledText
from training.frames.filling import filled, plural, slots, table, two
from training.written.near import is_near

_OPENED, _SHORT, _LOWER, _BARE = 0.15, 0.5, 0.15, 0.1  # shares of sentences made less formal
_BOTH = re.compile(r"\{(good|bad)(2?)\}")


@dataclass(frozen=True, slots=True)
class Frame:
    """A sentence with slots and its plain partner, each with its label."""

    label: int
    text: str
    plain_label: int
    plain: str

    def mirrored(self) -> "Frame":
        """Return the frame with praise and blame exchanged."""
        return Frame(1 - self.label, _turned(self.text), 1 - self.plain_label, _turned(self.plain))


def sentences(count: int, seed: int) -> list[LabelledText]:
    """Return negated sentences and, after each, its plain partner: 0 negative, 1 positive."""
    return list(islice(_drawn(random.Random(seed)), count))


@cache
def frames() -> tuple[Frame, ...]:
    """Return all frames, mirrored ones in both forms."""
    read = table("feelings")
    both = [Frame(*row) for row in read["mirrored"]]
    single = [Frame(*row) for row in read["single"]]
    return (*both, *(frame.mirrored() for frame in both), *single)


def _drawn(source: random.Random) -> Iterator[LabelledText]:
    by_label = [[frame for frame in frames() if frame.label == label] for label in (0, 1)]
    topics = table("feelings")["topic"]
    label = 0
    while True:
        frame, topic = source.choice(by_label[label]), source.choice(topics)
        words = _words(topic, source)
        if not slots(frame.text) | slots(frame.plain) <= words.keys():
            continue
        if "{part" not in frame.text + frame.plain:
            words |= _pairs(topic, source)
        texts = [_typed(filled(each, words), source) for each in (frame.text, frame.plain)]
        if not any(map(is_near, texts)):
            yield LabelledText(texts[0], frame.label)
            yield LabelledText(texts[1], frame.plain_label)
            label = 1 - label


def _words(topic: dict[str, Any], source: random.Random) -> dict[str, str]:
    """Draw a word for every slot that a topic can fill."""
    group = source.choice(topic["group"])
    part, part2 = two(source, group["part"])
    thing = source.choice(topic["it"])
    words = {"part": part, "part2": part2, "it": thing, "its": plural(thing)}
    words |= _pairs(group, source)
    words |= {slot: source.choice(pool) for slot, pool in table("feelings")["any"].items()}
    words |= {
        slot: source.choice(topic[slot])
        for slot in ("had", "do", "doing", "fault", "merit")
        if slot in topic
    }
    for slot, done in (("fail", "failed"), ("work", "worked")):
        if slot in topic:
            forms = source.choice(topic[slot]).split()
            half = (len(forms) + 1) // 2
            words |= {slot: " ".join(forms[:half]), done: " ".join(forms[half:])}
    return words


def _pairs(group: dict[str, Any], source: random.Random) -> dict[str, str]:
    good, good2 = two(source, group["good"])
    bad, bad2 = two(source, group["bad"])
    return {"good": good, "good2": good2, "bad": bad, "bad2": bad2}


def _typed(text: str, source: random.Random) -> str:
    """Write a sentence as different people would type it."""
    read = table("feelings")
    if source.random() < _SHORT:
        for long, short in read["shorten"].items():
            text = re.sub(rf"\b{long}\b", short, text)
    if source.random() < _OPENED:
        first = text if re.match(r"I\b|I'", text) else text[:1].lower() + text[1:]
        text = source.choice(read["openers"]) + first
    if source.random() < _LOWER:
        text = text.lower()
    if source.random() < _BARE:
        text = text.rstrip(".")
    return text


def _turned(text: str) -> str:
    """Exchange {good} and {bad}."""
    return _BOTH.sub(lambda slot: f"{{{'bad' if slot[1] == 'good' else 'good'}{slot[2]}}}", text)
