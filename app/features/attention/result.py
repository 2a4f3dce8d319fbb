"""The results of the attention page: every head at once, and one view of some of them."""

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from app.records.results import Cut
from bert_core.analysis.head_statistics import HeadName, HeadStatistics, name_heads, rank_heads
from bert_core.errors import InputError

Floats = NDArray[np.float32]

Place = tuple[int, int]
"""A head as (layer, head), both counted from 0."""

_LINKS = 20


@dataclass(frozen=True, slots=True)
class Units:
    """What rows and columns are: pieces, or whole words."""

    tokens: Annotated[tuple[str, ...], "U tokens, or words as typed; [CLS] and [SEP] included"]
    sides: Annotated[
        tuple[int | None, ...],
        "for each unit 0 (first text), 1 (second text) or None (added special token)",
    ]
    pieces: Annotated[tuple[tuple[int, ...], ...], "for each unit the positions of its pieces"]


@dataclass(frozen=True, slots=True)
class Heads:
    """One head, or a layer's heads, whose mean is shown."""

    places: Annotated[tuple[Place, ...], "the heads, at least one"]

    @classmethod
    def one(cls, layer: int, head: int) -> Self:
        """Choose a single head."""
        return cls(((layer, head),))

    @classmethod
    def layer(cls, layer: int, heads: int) -> Self:
        """Choose the mean over a layer's heads."""
        return cls(tuple((layer, head) for head in range(heads)))


@dataclass(frozen=True, slots=True)
class Pattern:
    """What one head does in a text."""

    layer: Annotated[int, "counted from 0"]
    head: Annotated[int, "counted from 0"]
    name: Annotated[
        str,
        'what gets most of its attention: "previous", "next", "itself", "same piece" (the same '
        'piece elsewhere), "punctuation", "[CLS]" or "[SEP]"; "broad" if all get almost the same; '
        '"none" if there is no simple pattern',
    ]
    score: Annotated[float, "the share of attention that gave the name, 0 to 1"]


def _is_linking(pattern: Pattern) -> bool:
    return pattern.name == "same piece"


@dataclass(frozen=True, slots=True)
class Link:
    """How strongly one piece looks at another."""

    source: Annotated[int, "position of the piece that looks, counted from 0"]
    target: Annotated[int, "position of the piece that is looked at"]
    weight: Annotated[float, "its share of the attention that the source gives, 0 to 1"]


@dataclass(frozen=True, slots=True, eq=False)
class AttentionResult:
    """The attention of every head for one input."""

    ANSWER: ClassVar = ("tokens", "sides", "layers", "heads", "patterns", "shown", "links",
                        "matrix", "cut", "read_as", "shuffle")  # fmt: skip

    units: Annotated[
        Units, "what the rows and columns are; pieces as the model computed, or whole words"
    ]
    words: Annotated[Units, "the words of the same input"]
    attentions: Annotated[
        tuple[Floats, ...], "L arrays (H, U, U); rows attend to columns, and each row sums to 1"
    ]
    statistics: Annotated[
        HeadStatistics, "where every head looks on average in this input, by pieces"
    ]
    cut: Annotated[Cut, "what was truncated from the input"]
    text: Annotated[str, "the first text"] = ""
    pair: Annotated[str | None, "the second text, or None"] = None
    asked: Annotated[Heads | None, "the heads whose matrix was asked for; None for none"] = None
    model: Annotated[str, "name of the model"] = ""
    read_as: Annotated[
        tuple[str, ...], 'the signs that were read as [MASK], such as "___", without repetition'
    ] = ()
    shuffle: Annotated[int, "the number of the order of its words; 0 as written"] = 0

    @property
    def read(self) -> str:
        """The texts as they were read, on one line."""
        return " | ".join(filter(None, (self.text, self.pair)))

    @property
    def tokens(self) -> tuple[str, ...]:
        """The pieces of the input, [CLS] and [SEP] included."""
        return self.units.tokens

    @property
    def sides(self) -> tuple[int | None, ...]:
        """For each piece 0 (first text), 1 (second text) or None (added)."""
        return self.units.sides

    @property
    def by_word(self) -> bool:
        """Whether rows and columns are whole words."""
        return self.units is self.words

    @property
    def layers(self) -> int:
        """The number of layers."""
        return len(self.attentions)

    @property
    def heads(self) -> int:
        """The number of heads in each layer."""
        return int(self.attentions[0].shape[0])

    @property
    def is_pair(self) -> bool:
        """Whether a second text is part of the input."""
        return 1 in self.sides

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """What every head does in this text, the clearest pattern first.

        Where only punctuation repeats, heads named after the same piece come last.
        """
        names = name_heads(self.statistics)
        ranked = [
            Pattern(layer, head, names[layer][head].name, names[layer][head].score)
            for layer, head in rank_heads(self.statistics)
        ]
        return tuple(ranked if self._repeats else sorted(ranked, key=_is_linking))

    @property
    def _repeats(self) -> bool:
        """Whether a word, or a piece of one, is there more than once."""
        tokens = zip(self.tokens, self.sides, strict=True)
        counts = Counter(token for token, side in tokens if side is not None)
        return any(n > 1 and any(map(str.isalnum, each)) for each, n in counts.items())

    @property
    def telling(self) -> Place:
        """The head to open a text with: one with a pattern that can be seen at once.

        A head that links repeated words tells more about a text than the neighbours that some
        heads always look at, so the clearest of those comes first.
        """
        ranked = self.patterns
        linking = filter(_is_linking, ranked if self._repeats else ())
        return next(((each.layer, each.head) for each in [*linking, *ranked]), (0, 0))

    @property
    def shown(self) -> Heads:
        """The heads that `links` and `matrix` are about, as (layer, head); several are averaged."""
        return self.asked or Heads.one(*self.telling)

    def matrix_of(self, heads: Heads) -> Floats:
        """Return one head, or the mean of several, (U, U).

        Raises:
            InputError: there is no such head.
        """
        for layer, head in heads.places:
            if not 0 <= layer < self.layers:
                raise InputError(
                    f"There is no layer {layer}; this model has layers 0 to {self.layers - 1}."
                )
            if not 0 <= head < self.heads:
                raise InputError(
                    f"There is no head {head}; every layer has heads 0 to {self.heads - 1}."
                )
        chosen = [self.attentions[layer][head] for layer, head in heads.places]
        mean: Floats = np.add.reduce(chosen) / np.float32(len(chosen))
        return mean

    @property
    def links(self) -> tuple[Link, ...]:
        """The strongest links, at most 20, strongest first."""
        weights = self.matrix_of(self.shown)
        best = np.argsort(-weights, axis=None, kind="stable")[:_LINKS]
        places = zip(*np.unravel_index(best, weights.shape), strict=True)
        return tuple(
            Link(int(row), int(column), float(weights[row, column])) for row, column in places
        )

    @property
    def matrix(self) -> Floats | None:
        """If a layer was asked for: a row for each piece that looks, adding up to 1; else null."""
        return self.matrix_of(self.asked) if self.asked else None


@dataclass(frozen=True, slots=True, eq=False)
class AttentionGrid:
    """A small picture of every head."""

    pictures: Annotated[
        NDArray[np.uint8], "(L, H, r, r), values 0 to 255; 255 is that head's own maximum"
    ]
    averaged: Annotated[bool, "True when a picture is coarser than the matrix"]


@dataclass(frozen=True, slots=True, eq=False)
class HeadView:
    """One head, or the mean of a layer's, with or without the added tokens."""

    heads: Annotated[Heads, "the heads"]
    at: Annotated[tuple[int, ...], "indices of the S units that are shown"]
    tokens: Annotated[tuple[str, ...], "their tokens"]
    weights: Annotated[Floats, "(S, S)"]
    shown: Annotated[Floats, "(S,), the sum of each row over the shown columns"]
    special: Annotated[bool, "whether [CLS] and [SEP] are shown"]


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """The strongest links of some heads."""

    view: Annotated[HeadView, "the heads, and the units that links point into"]
    row: Annotated[NDArray[np.intp], "(N,) index of the unit that looks"]
    column: Annotated[NDArray[np.intp], "(N,) index of the unit that is looked at"]
    head: Annotated[NDArray[np.intp], "(N,) index of the head"]
    weight: Annotated[Floats, "(N,) its strength"]
    over: Annotated[int, "number of links, drawn or not"]


@dataclass(frozen=True, slots=True)
class RankedHead:
    """What a head does in this text, and usually."""

    place: Annotated[Place, "layer and head"]
    here: Annotated[HeadName, "its pattern in this text"]
    usual: Annotated[HeadName | None, "its pattern in many texts; None if not measured"]
