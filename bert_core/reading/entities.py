"""Find the entities in a text from the labels of token classification.

`read_texts` gives every piece the label probabilities of the window that reads it (see `windows`).
`TaggedText.entities` joins the labels, using one of the strategies of the `transformers` pipeline:

- "none": every piece is its own entity; "simple": neighbouring pieces of the same kind are one;
- "first", "average", "max": every word gets one label, from its first piece, the mean of its
  pieces' probabilities, or its most confident piece; neighbouring words of the same kind are one
  entity.

Unlike in that pipeline, words are those of `text.borders`, BIOES and BILOU labels are supported, a
plain label with a hyphen keeps its full name, and no entity ends inside a character.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from bert_core.model.heads import BertForTokenClassification
from bert_core.reading.running import Floats, Runner
from bert_core.reading.tagging import Fault, TagScheme
from bert_core.reading.windows import Windows, cut_windows, readers
from bert_core.text.batches import TextTokenizer
from bert_core.text.encoding import Encoding, Span

Aggregation = Literal["none", "simple", "first", "average", "max"]
AGGREGATIONS: tuple[Aggregation, ...] = ("none", "simple", "first", "average", "max")

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Entity:
    """A stretch of the text that the model labelled."""

    label: Annotated[str, "to display: the kind or, for single pieces, the full label"]
    kind: Annotated[str, 'the entity type, such as "PER"']
    start: Annotated[int, "index of its first character in the text as typed"]
    end: Annotated[int, "index after its last character"]
    score: Annotated[float, "mean probability of the label over its words (or pieces), 0 to 1"]
    pieces: Annotated[tuple[int, int], "index of its first piece, and the index after its last"]


@dataclass(frozen=True, slots=True)
class Entities:
    """The entities of a text under one aggregation strategy."""

    entities: Annotated[tuple[Entity, ...], "in text order; they never overlap"]
    faults: Annotated[tuple[Fault, ...], "against the scheme, at the first piece they label"]
    asked: Annotated[NDArray[np.bool_], "(N,) whether each piece's own prediction counts"]


@dataclass(frozen=True, slots=True)
class Coverage:
    """How a text was read."""

    windows: Annotated[int, "number of inputs the model read"]
    room: Annotated[int, "maximum number of pieces in one window"]
    shared: Annotated[int, "number of pieces shared by neighbouring windows"]
    context: Annotated[int, "fewest pieces between any piece and a cut of the window that read it"]


@dataclass(frozen=True, slots=True)
class TaggedText:
    """A text of N pieces with label probabilities, stored by column because N may be large."""

    text: Annotated[str, "as typed"]
    tokens: Annotated[Sequence[str], "its N pieces, as people read them"]
    spans: Annotated[Sequence[Span], "characters of each piece; see `Encoding.spans`"]
    words: Annotated[Ints, "(N,) number of the word each piece belongs to"]
    probabilities: Annotated[Floats, "(N, C) of every label at every piece; rows sum to 1"]
    coverage: Annotated[Coverage, "how the text was read"]

    def __len__(self) -> int:
        return len(self.tokens)

    def first_pieces(self, places: Sequence[Span]) -> Ints:
        """Return the first piece of each character range, or -1 where there is none."""
        starts = np.array([start for start, _ in self.spans], dtype=np.int64)
        begins, ends = np.array(places, dtype=np.int64).reshape(-1, 2).T
        pieces = np.searchsorted(starts, begins)
        return np.where(np.append(starts, len(self.text))[pieces] < ends, pieces, -1)

    def entities(self, scheme: TagScheme, how: Aggregation = "first") -> Entities:
        """Join the labels into entities; `how` is described in the module docstring."""
        starts, stops, shares, asked = _units(self, how)
        labels: list[int] = shares.argmax(axis=1).tolist()
        scores = shares.max(axis=1)
        if how == "none":
            tags = [scheme.tags[label] for label in labels]
            found = [(tag.name, tag.kind, at, at + 1) for at, tag in enumerate(tags) if tag.kind]
        else:
            found = [(s.kind, s.kind, s.start, s.stop) for s in scheme.stretches(labels)]
        entities = []
        done = 0  # pieces of one character may have different labels
        for label, kind, start, stop in found:
            pieces = int(starts[start]), int(stops[stop - 1])
            begin, end = max(done, self.spans[pieces[0]][0]), self.spans[pieces[1] - 1][1]
            if begin < end:
                score = float(scores[start:stop].mean())
                entities.append(Entity(label, kind, begin, end, score, pieces))
                done = end
        faults = [replace(each, at=int(starts[each.at])) for each in scheme.faults(labels)]
        asked.setflags(write=False)
        return Entities(tuple(entities), tuple(faults), asked)


def find_entities(
    model: BertForTokenClassification,
    tokenizer: TextTokenizer,
    text: str,
    how: Aggregation = "first",
) -> tuple[Entity, ...]:
    """Find the entities of a text of any length; scores use the model's temperature."""
    temperature = model.config.temperature("BertForTokenClassification")
    [labelled] = read_texts(Runner.of(model, tokenizer), [text], temperature)
    return labelled.entities(TagScheme.of(model.config), how).entities


def read_texts(runner: Runner, texts: Sequence[str], temperature: float = 1.0) -> list[TaggedText]:
    """Run a model over whole texts."""
    size = runner.max_length
    stride = min(size // 4, size - 3)
    wholes = [runner.tokenizer.encode(text) for text in texts]
    windows = [
        cut_windows(runner.tokenizer, whole, fits=size, size=size, stride=stride)
        for whole in wholes
    ]
    logits = iter(runner.logits([each for found in windows for each in found.inputs], "logits"))
    return [
        _labelled(whole, found, [next(logits)[0] / temperature for _ in found.inputs], size - 2)
        for whole, found in zip(wholes, windows, strict=True)
    ]


def _labelled(whole: Encoding, windows: Windows, logits: Sequence[Floats], room: int) -> TaggedText:
    reader, context = readers(windows.bounds)
    chosen = np.concatenate(
        [
            logits[number][1:-1][reader[first:end, 0] == number]
            for number, (first, end) in enumerate(windows.bounds)
        ]
    )
    odds = np.exp(chosen - chosen.max(axis=1, keepdims=True))
    probabilities = odds / odds.sum(axis=1, keepdims=True)
    words = np.asarray(whole.words[1:-1], dtype=np.int64)
    for array in (probabilities, words):
        array.setflags(write=False)  # others may share them
    return TaggedText(
        text=whole.text,
        tokens=tuple(whole.pieces[1:-1]),
        spans=tuple(whole.spans[1:-1]),
        words=words,
        probabilities=probabilities,
        coverage=Coverage(
            len(windows.inputs), room, windows.shared, int(context.min(initial=len(words)))
        ),
    )


def _units(labelled: TaggedText, how: Aggregation) -> tuple[Ints, Ints, Floats, NDArray[np.bool_]]:
    """Form the U units that get one label each: single pieces, or words by one of three rules.

    Returns (U,) first piece, (U,) piece after the last, (U, C) probabilities, (N,) which pieces
    count.
    """
    count, shares = len(labelled), labelled.probabilities
    every, asked = np.arange(count), np.ones(count, dtype=np.bool_)
    if how in ("none", "simple"):
        return every, every + 1, shares, asked
    opens = np.flatnonzero(np.diff(labelled.words, prepend=-1))  # the first piece of every word
    stops = np.append(opens[1:], count)
    if how == "average":
        shares = np.add.reduceat(shares, opens, axis=0) / (stops - opens)[:, None]
        return opens, stops, shares, asked
    chosen = opens
    if how == "max":  # each word's most probable piece, the first one in a tie
        chosen = np.lexsort((-shares.max(axis=1), labelled.words))[opens]
    return opens, stops, shares[chosen], np.isin(every, chosen)
