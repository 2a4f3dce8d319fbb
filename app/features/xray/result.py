"""What the X-ray of one text shows: every layer at every piece, and the answer at the end."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from app.records.results import Calibration

Floats = NDArray[np.float32]
Kind = Literal["word", "start", "end", "entity", "label", "next"]
Ask = Literal["auto", "word", "start", "end", "entity", "label", "next"]
Mode = Literal["mean", "zero"]
Lens = Literal["affine", "raw"]
Place = Literal["head", "attention", "feed_forward"]

_LETTERS: dict[str, Place] = {"a": "attention", "f": "feed_forward"}
_PART = re.compile(r"(\d{1,3})\.(?:(\d{1,3})|([af]))")


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """A part of the model that can be switched off."""

    layer: Annotated[int, "counted from 0"]
    place: Annotated[Place, "a head, or the whole attention or feed-forward block"]
    head: Annotated[int, "counted from 0; -1 for a block"] = -1

    @property
    def name(self) -> str:
        """Its short name, as in links: layer and head, or the first letter of the block.

        >>> Part(2, "head", 7).name, Part(2, "attention").name
        ('2.7', '2.a')
        """
        return f"{self.layer}.{self.head if self.place == 'head' else self.place[0]}"

    @property
    def words(self) -> str:
        """Its name in words.

        >>> Part(2, "head", 7).words, Part(2, "feed_forward").words
        ('head 7 of layer 2', 'the feed-forward block of layer 2')
        """
        if self.place == "head":
            return f"head {self.head} of layer {self.layer}"
        return f"the {self.place.replace('_', '-')} block of layer {self.layer}"


def read_parts(names: str) -> tuple[Part, ...]:
    """Read parts from their short names, in order and without repetitions; skip everything else.

    >>> [part.name for part in read_parts("2.f 0.11, 2.f x 1.a")]
    ['0.11', '1.a', '2.f']
    """
    found = (_PART.fullmatch(name) for name in re.split(r"[ ,+]+", names))
    parts = {
        Part(int(each[1]), "head", int(each[2]))
        if each[2]
        else Part(int(each[1]), _LETTERS[each[3]])
        for each in found
        if each
    }
    return tuple(sorted(parts))


def all_parts(layers: int, heads: int) -> tuple[Part, ...]:
    """Return every head and block, layer by layer."""
    return tuple(
        part
        for layer in range(layers)
        for part in (
            *(Part(layer, "head", head) for head in range(heads)),
            Part(layer, "attention"),
            Part(layer, "feed_forward"),
        )
    )


def names_of(parts: Iterable[Part]) -> str:
    """Write parts as `read_parts` reads them."""
    return " ".join(part.name for part in sorted(set(parts)))


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the model, and the answer that is followed."""

    kind: Annotated[
        Kind,
        '"word" (which word is at a piece), "start" or "end" (of an answer in a passage), "entity"'
        ' (the label of a piece), "label" (of the text) or "next" (whether the second text follows'
        " the first)",
    ]
    position: Annotated[
        int,
        "the piece whose vector the head reads; 0, [CLS], for a whole text. For a start or end, "
        "the piece that is followed",
    ]
    chosen: Annotated[int, "number of the answer that is followed"]
    target: Annotated[str, "what is measured, in the words of the library"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One possible answer."""

    number: Annotated[int, "in the vocabulary, among the labels, or the position of the piece"]
    name: Annotated[str, "the word, label or piece"]
    probability: Annotated[float, "with the parts switched off"]
    before: Annotated[float, "with the whole model"]
    rank: Annotated[int, "1 for the most probable answer, with the parts switched off"]
    rank_before: Annotated[int, "with the whole model"]
    followed: Annotated[bool, "whether it is the answer that is followed"]


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """What the head of the question would answer at each piece if the model ended after a layer."""

    lens: Annotated[
        Lens, '"affine" maps the vectors of a layer to the last one first; "raw" does not'
    ]
    names: Annotated[
        tuple[tuple[str, ...], ...],
        'L + 1 rows of T: the most probable answer; "" where the head does not read',
    ]
    shares: Annotated[Floats, "(L + 1, T), its probability; NaN where the head does not read"]
    agreement: Annotated[
        Floats, "(L + 1, T), the probability of what the whole model reads there in the end"
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """How much each layer does to the vector of each piece."""

    turned: Annotated[Floats, "(L, T), 1 - cosine of the vector before and after the layer, 0 to 2"]
    by_attention: Annotated[
        Floats,
        "(L, T), the length of what the attention block adds, divided by that of the vector before"
        " the layer",
    ]
    by_feed_forward: Annotated[Floats, "(L, T), the same of the feed-forward block"]


@dataclass(frozen=True, slots=True)
class LayerReading:
    """What the lens says after one layer at the piece that is asked."""

    layer: Annotated[int | None, "counted from 0; None for the embeddings, before the first layer"]
    answer: Annotated[str, "the most probable answer there"]
    probability: Annotated[float, "of that answer"]
    followed: Annotated[float, "the probability of the answer that is followed"]


@dataclass(frozen=True, slots=True)
class PartEffect:
    """What happens without one part alone."""

    part: Annotated[
        str, '"2.7" is head 7 of layer 2, "2.a" and "2.f" its attention and feed-forward block'
    ]
    effect: Annotated[float, "change of the target, in nats; negative if the answer needs the part"]


@dataclass(frozen=True, slots=True, eq=False)
class XrayResult:
    """One text on its way through the model, and the answer at the end."""

    ANSWER: ClassVar = ("tokens", "question", "followed", "candidates", "effect", "off", "mode",
                        "lens", "path", "ranking", "layers", "heads", "read_as")  # fmt: skip

    tokens: Annotated[tuple[str, ...], "the pieces that the model reads"]
    question: Annotated[Question, "what is asked"]
    followed: Annotated[str, "the answer that is followed, in words"]
    candidates: Annotated[
        tuple[Candidate, ...],
        "the most probable answers, with the parts switched off and with the whole model",
    ]
    effect: Annotated[
        float, "change of the target without the parts that are off, in nats; 0 if none is"
    ]
    off: Annotated[
        tuple[str, ...],
        'what is switched off: "2.7" is head 7 of layer 2, "2.a" and "2.f" its attention and '
        "feed-forward block",
    ]
    mode: Annotated[Mode, "what replaces it: the mean activation over many texts, or zero"]
    path: Annotated[
        tuple[LayerReading, ...], "what the lens says after each layer at the piece that is asked"
    ]
    ranking: Annotated[
        tuple[PartEffect, ...],
        "every part by the change of the target without it alone, in nats, what is needed most "
        "first; [] if that was not asked for",
    ]
    layers: Annotated[int, "number of layers"]
    heads: Annotated[int, "number of heads in each"]
    sides: Annotated[
        tuple[int | None, ...],
        "for each piece 0 (first text), 1 (second text) or None (added special token)",
    ]
    text: Annotated[str, "the first text that the model reads"]
    pair: Annotated[str, 'the second text; "" for none']
    readings: Annotated[Readings, "what the lens says everywhere"]
    changes: Annotated[Changes, "how much each layer does to each piece"]
    attentions: Annotated[tuple[Floats, ...], "L arrays (H, T, T); rows are the pieces that look"]
    calibration: Annotated[Calibration, "how logits became probabilities"]
    labels: Annotated[tuple[str, ...], "all that a head for the whole text knows; else ()"] = ()
    trained_on: Annotated[str, 'what this head was trained on; "" if not known'] = ""
    read_as: Annotated[
        tuple[str, ...], 'the signs that were read as [MASK], such as "___", without repetition'
    ] = ()

    @property
    def best(self) -> Candidate:
        """The most probable answer now."""
        return min(self.candidates, key=lambda each: each.rank)

    @property
    def lens(self) -> Lens:
        """How vectors are read: "affine" maps them to the last layer first, "raw" does not."""
        return self.readings.lens

    @property
    def first(self) -> Candidate:
        """The most probable answer of the whole model."""
        return min(self.candidates, key=lambda each: each.rank_before)

    @property
    def parts_off(self) -> tuple[Part, ...]:
        """What is switched off."""
        return read_parts(" ".join(self.off))


Grid = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Patching:
    """What happens when single activations of one sentence are put into the run of another.

    Grids have 0 for no change and 1 for the whole difference between the two answers; they may
    exceed both. Heads are patched at all pieces at once; NaN for a pruned head.
    """

    ANSWER: ClassVar = (
        "tokens", "other_tokens", "answers", "target", "values", "restored", "lost",
        "heads_restored", "heads_lost",
    )  # fmt: skip

    tokens: Annotated[
        tuple[str, ...], "of the first sentence, whose answer is to be restored or lost"
    ]
    other_tokens: Annotated[tuple[str, ...], "of the second sentence"]
    answers: Annotated[tuple[str, str], "the answer of each sentence"]
    target: Annotated[str, "what is measured, in the words of the library"]
    is_contrast: Annotated[bool, "whether that is the difference of the logits of two words"]
    values: Annotated[tuple[float, float], "the target for the first and for the second sentence"]
    restored: Annotated[
        Grid,
        "(L, T): how much of the first answer comes back if the run of the second sentence gets "
        "this activation of the first",
    ]
    lost: Annotated[
        Grid,
        "(L, T): how much of it is lost if the run of the first sentence gets this activation of "
        "the second",
    ]
    heads_restored: Annotated[Grid, "(L, H), the same for heads"]
    heads_lost: Annotated[Grid, "(L, H)"]

    @property
    def changed(self) -> tuple[int, ...]:
        """The pieces in which the sentences differ."""
        pairs = zip(self.tokens, self.other_tokens, strict=True)
        return tuple(at for at, (one, other) in enumerate(pairs) if one != other)
