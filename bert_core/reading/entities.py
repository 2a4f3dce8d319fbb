"""Which stretches of a text are entities: the one reader of labels.

`find_entities` asks a model. It does so in two steps, which can be taken one by one:

1. `read_texts` runs the model over each text, in overlapping windows where one is longer than the
   model, and gives every piece the labels of the window that reads it (`windows`).
2. `LabelledText.entities` joins the labels into entities, in one of the five ways of the
   token-classification pipeline of `transformers`:

   - "none": every piece for itself;
   - "simple": neighbouring pieces of one kind are one entity;
   - "first", "average", "max": first every word gets one label, by its first piece, by the mean of
     its pieces' probabilities, or by its surest piece; then neighbouring words of one kind are one.

Four things differ on purpose from that pipeline. Which pieces form a word is known from the
tokenizer, not guessed from the length of its spelling (which fails where accents are written as
characters of their own). BIOES and BILOU labels are understood. A plain label with a hyphen keeps
its whole name. Marks on the last letter of an entity belong to it.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bert_core.model.heads import BertForTokenClassification
from bert_core.reading.running import Floats, Runner
from bert_core.reading.tagging import Fault, TagScheme
from bert_core.reading.windows import Windows, cut_windows, readers
from bert_core.text.encoding import Encoding, Span
from bert_core.text.tokenizer import BertTokenizer

Aggregation = Literal["none", "simple", "first", "average", "max"]
AGGREGATIONS: tuple[Aggregation, ...] = ("none", "simple", "first", "average", "max")

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Entity:
    """A stretch of the text that the model labelled.

    Attributes:
        label: what is shown beside it: its kind, or for single pieces the label itself.
        kind: what it is, such as "PER".
        start: its first character in the text as typed.
        end: the character after its last one.
        score: probability of the label, the mean over its words (or pieces), 0 to 1.
        pieces: its first piece, and the one after its last.
    """

    label: str
    kind: str
    start: int
    end: int
    score: float
    pieces: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Entities:
    """The entities of a text by one aggregation.

    Attributes:
        entities: in the order of the text; they never overlap.
        faults: labels that break the rules of their scheme, at the first piece of what they label.
        asked: for each piece whether its own prediction counts; (N,).
    """

    entities: tuple[Entity, ...]
    faults: tuple[Fault, ...]
    asked: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Coverage:
    """How a text was read.

    Attributes:
        windows: inputs that the model read one by one.
        room: pieces that one of them holds at most.
        shared: pieces that neighbours share.
        context: the fewest pieces that any piece had before or after it in the window that
            decided on it; the ends of the text do not count as a lack.
    """

    windows: int
    room: int
    shared: int
    context: int


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text of N pieces with the model's labels, column by column: there may be many pieces.

    Attributes:
        text: as typed.
        tokens: N spellings in the vocabulary.
        spans: first character of each and the one after its last.
        words: number of the word that each belongs to, (N,).
        probabilities: of every label at every piece, (N, C); each row adds up to 1.
        coverage: how the text was read.
    """

    text: str
    tokens: Sequence[str]
    spans: Sequence[Span]
    words: Ints
    probabilities: Floats
    coverage: Coverage

    def __len__(self) -> int:
        return len(self.tokens)

    def first_pieces(self, places: Sequence[Span]) -> Ints:
        """Return the first piece of each stretch of characters; -1 where there is none."""
        starts = np.array([start for start, _ in self.spans], dtype=np.int64)
        begins, ends = np.array(places, dtype=np.int64).reshape(-1, 2).T
        pieces = np.searchsorted(starts, begins)
        return np.where(np.append(starts, len(self.text))[pieces] < ends, pieces, -1)

    def entities(self, scheme: TagScheme, how: Aggregation = "first") -> Entities:
        """Join the labels into entities.

        Args:
            scheme: the labels.
            how: see the top of this module.
        """
        units = _units(self, how)
        labels: list[int] = units.probabilities.argmax(axis=1).tolist()
        scores = units.probabilities.max(axis=1)
        if how == "none":
            tags = [scheme.tags[label] for label in labels]
            found = [(tag.name, tag.kind, at, at + 1) for at, tag in enumerate(tags) if tag.kind]
        else:
            found = [(s.kind, s.kind, s.start, s.stop) for s in scheme.stretches(labels)]
        entities = []
        for label, kind, start, stop in found:
            first, last = int(units.starts[start]), int(units.stops[stop - 1]) - 1
            place = self.spans[first][0], self._end(last)
            score = float(scores[start:stop].mean())
            entities.append(Entity(label, kind, *place, score, (first, last + 1)))
        faults = [replace(each, at=int(units.starts[each.at])) for each in scheme.faults(labels)]
        units.asked.setflags(write=False)
        return Entities(tuple(entities), tuple(faults), units.asked)

    def _end(self, last: int) -> int:
        """Return where an entity ends, with the marks on its last letter that no piece covers."""
        end = self.spans[last][1]
        limit = self.spans[last + 1][0] if last + 1 < len(self) else len(self.text)
        while end < limit and unicodedata.combining(self.text[end]):
            end += 1
        return end


def find_entities(
    model: BertForTokenClassification,
    tokenizer: BertTokenizer,
    text: str,
    how: Aggregation = "first",
) -> tuple[Entity, ...]:
    """Find the entities of a text of any length.

    Scores are those of the temperature in the model's configuration.

    Args:
        model: in evaluation mode.
        tokenizer: of the model.
        text: may be empty.
        how: how labels of pieces become entities; see the top of this module.
    """
    temperature = model.config.temperature("BertForTokenClassification")
    [labelled] = read_texts(Runner.of(model, tokenizer), [text], temperature)
    return labelled.entities(TagScheme.of(model.config), how).entities


def read_texts(
    runner: Runner, texts: Sequence[str], temperature: float = 1.0
) -> list[LabelledText]:
    """Run a model over whole texts.

    Args:
        runner: computes.
        texts: of any length.
        temperature: by which logits are divided.
    """
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


def _labelled(
    whole: Encoding, windows: Windows, logits: Sequence[Floats], room: int
) -> LabelledText:
    """Keep for each piece the answer of the window that reads it."""
    reader, context = readers(windows.bounds)
    chosen = np.concatenate(
        [
            logits[number][1:-1][reader[first:end, 0] == number]
            for number, (first, end) in enumerate(windows.bounds)
        ]
    )
    odds = np.exp(chosen - chosen.max(axis=1, keepdims=True))
    probabilities = odds / odds.sum(axis=1, keepdims=True)
    words = np.asarray(whole.word_ids[1:-1], dtype=np.int64)
    for array in (probabilities, words):
        array.setflags(write=False)  # others may share them
    return LabelledText(
        text=whole.text,
        tokens=tuple(whole.tokens[1:-1]),
        spans=tuple(whole.offsets[1:-1]),
        words=words,
        probabilities=probabilities,
        coverage=Coverage(
            len(windows.inputs), room, windows.shared, int(context.min(initial=len(words)))
        ),
    )


# -- aggregation -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Units:
    """What an aggregation gives one label each: pieces or words.

    Attributes:
        starts: the first piece of each, (U,).
        stops: the piece after the last of each, (U,).
        probabilities: of every label, (U, C).
        asked: which pieces have a say, (N,).
    """

    starts: Ints
    stops: Ints
    probabilities: Floats
    asked: NDArray[np.bool_]


def _units(labelled: LabelledText, how: Aggregation) -> _Units:
    """Form what gets one label each: pieces as they are, or words by one of three rules."""
    count = len(labelled)
    shares = labelled.probabilities
    if how in ("none", "simple"):
        every = np.arange(count)
        return _Units(every, every + 1, shares, np.ones(count, dtype=np.bool_))
    opens = np.flatnonzero(np.diff(labelled.words, prepend=-1))  # the first piece of every word
    stops = np.append(opens[1:], count)
    asked = np.ones(count, dtype=np.bool_)
    if how == "average":
        shares = np.add.reduceat(shares, opens, axis=0) / (stops - opens)[:, None]
        return _Units(opens, stops, shares, asked)
    chosen = opens if how == "first" else _surest(shares.max(axis=1), opens, stops)
    asked = np.zeros(count, dtype=np.bool_)
    asked[chosen] = True
    return _Units(opens, stops, shares[chosen], asked)


def _surest(best: Floats, opens: Ints, stops: Ints) -> Ints:
    """Return of every word the piece with the highest probability, the first of equals."""
    highest = np.repeat(np.maximum.reduceat(best, opens), stops - opens)
    equals = np.flatnonzero(best == highest)
    words = np.searchsorted(opens, equals, side="right")
    return equals[np.unique(words, return_index=True)[1]]
