"""Named entities: label every piece of a text, and read entities from the labels.

`ner` runs the model, in overlapping windows where the text is longer than it reads, gives every
piece the labels of the window in which it has most context, and joins the labels into entities
in the five ways of the token-classification pipeline of `transformers`:

- "none": every piece for itself;
- "simple": neighbouring pieces of one kind are one entity;
- "first", "average", "max": first every word gets one label, by its first piece, by the mean of
  its pieces' probabilities, or by its surest piece; then neighbouring words of one kind are one.

Four things differ on purpose from that pipeline. Which pieces form a word is known from the
tokenizer, not guessed from the length of its spelling (which fails where accents are written as
characters of their own). BIOES and BILOU labels are understood. A plain label with a hyphen keeps
its whole name. Marks that stand on the last letter of an entity belong to it.
"""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from app.compute.recent import RECENT
from app.features.ner.result import (
    AGGREGATIONS,
    Aggregation,
    Coverage,
    Entity,
    Fault,
    Labels,
    NerResult,
    Pieces,
    Reading,
)
from app.features.ner.result_agreement import Agreement
from app.features.ner.task_annotated import compare, read_annotated
from app.models import Engine
from bert_core import BertForTokenClassification, Encoding
from bert_core.errors import InputError
from bert_core.reading.tagging import TagScheme

_TOGETHER = 8  # windows a call: the memory of a batch is bounded, and others get their turn
_ROW_BYTES = 300  # roughly what a piece, or an entity, weighs in Python

Progress = Callable[[int, int], None]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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


def ner(
    engine: Engine,
    text: str,
    *,
    aggregation: Aggregation = "first",
    progress: Progress | None = None,
) -> NerResult:
    """Find the entities of a text of any length.

    Args:
        engine: the model.
        text: any text that holds at least one piece.
        aggregation: how labels of pieces become entities; see the top of this module.
        progress: is told after each group of windows how many are done, and of how many.

    Raises:
        InputError: there is nothing to read, or no such aggregation.
    """
    if aggregation not in AGGREGATIONS:
        raise InputError(
            f"There is no aggregation {aggregation!r}; expected one of {', '.join(AGGREGATIONS)}."
        )
    # The model's own identity counts too: folders may share an encoder and differ in the head.
    model = (engine.provenance.fingerprint, id(engine.model(BertForTokenClassification)))
    result = RECENT.get(
        ("ner", *model, text), make=lambda: _find(engine, text, progress), size=_size
    )
    return replace(result, aggregation=aggregation)


def ner_agreement(engine: Engine, lines: str) -> Agreement:
    """Compare the model with annotations, every word with the label of its first piece.

    Args:
        engine: the model.
        lines: a word and its tag a line, a blank line after each sentence.

    Raises:
        InputError: the lines are no annotations, or hold no piece.
    """
    annotated = read_annotated(lines)
    result = ner(engine, annotated.text)
    pieces, labels = result.pieces, result.labels
    best = pieces.probabilities.argmax(axis=1)
    starts = np.array([start for start, _ in pieces.spans])
    firsts = np.searchsorted(starts, [start for start, _ in annotated.words])
    tags = [
        labels.names[best[piece]] if piece < len(starts) and starts[piece] < end else "O"
        for piece, (_, end) in zip(firsts.tolist(), annotated.words, strict=True)
    ]
    return compare(annotated, tags, labels.names, labels.kinds)


def _find(engine: Engine, text: str, progress: Progress | None) -> NerResult:
    """Run the model and read its labels in every way."""
    pieces, coverage = _read(engine, text, progress)
    scheme = _scheme(engine)
    return NerResult(
        text=text,
        labels=Labels(
            names=tuple(tag.name for tag in scheme.tags),
            of=tuple(tag.kind for tag in scheme.tags),
            kinds=scheme.kinds,
            scheme=scheme.name,
            nameless=scheme.nameless,
        ),
        pieces=pieces,
        aggregation="first",
        readings={how: _reading(text, pieces, scheme, how) for how in AGGREGATIONS},
        coverage=coverage,
        calibration=engine.calibration(BertForTokenClassification),
    )


def _size(result: NerResult) -> int:
    """Estimate the bytes that a result holds."""
    found = sum(len(reading.entities) for reading in result.readings.values())
    return result.pieces.probabilities.nbytes + _ROW_BYTES * (len(result.pieces) + found)


def _scheme(engine: Engine) -> TagScheme:
    """Return the labels of the model, one for each of its logits."""
    config = engine.model(BertForTokenClassification).config
    return TagScheme([config.label_name(number) for number in range(config.num_labels)])


def _read(engine: Engine, text: str, progress: Progress | None) -> tuple[Pieces, Coverage]:
    """Run the model over the whole text, and keep for each piece its best window's answer."""
    whole = engine.tokenizer.encode(text)
    count = len(whole) - 2
    if not count:
        raise InputError(
            "The text holds no piece that the model reads. Write a word or pick an example."
        )
    room = engine.max_length - 2  # [CLS] and [SEP] take the rest
    shared = min(engine.max_length // 4, room - 1)
    windows = engine.tokenizer.encode_windows(text, max_length=engine.max_length, stride=shared)
    bounds = [
        (start, start + len(window) - 2)
        for start, window in zip(range(0, count, room - shared), windows, strict=False)
    ]
    owners, context = _owners(bounds, count)
    probabilities = np.concatenate(
        [
            answer[np.flatnonzero(owners[start:stop] == number)]
            for number, (answer, (start, stop)) in enumerate(
                zip(_answers(engine, windows, progress), bounds, strict=True)
            )
        ]
    )
    words = np.asarray(whole.word_ids[1:-1], dtype=np.int64)
    for shared_array in (probabilities, words):
        shared_array.setflags(write=False)  # sessions share the result
    pieces = Pieces(
        tokens=tuple(whole.tokens[1:-1]),
        spans=tuple(whole.offsets[1:-1]),
        words=words,
        probabilities=probabilities,
    )
    several = len(windows) > 1
    return pieces, Coverage(len(windows), room, shared if several else 0, context)


def _owners(bounds: Sequence[tuple[int, int]], count: int) -> tuple[Ints, int]:
    """Choose for every piece the window in which the nearer of its two edges is furthest.

    The ends of the text are no edges: nothing is missing there. Windows take turns from left to
    right, so the pieces of one window stand together.

    Args:
        bounds: first piece of each window and the one after its last.
        count: N.

    Returns:
        The window of every piece, (N,), and the fewest pieces of context that any piece has; N
        where there is one window only.
    """
    owners = np.zeros(count, dtype=np.int64)
    best = np.full(count, -1, dtype=np.int64)
    for number, (start, stop) in enumerate(bounds):
        here = np.arange(start, stop)
        before = here - start if start else np.full_like(here, count)
        behind = stop - 1 - here if stop < count else np.full_like(here, count)
        context = np.minimum(before, behind)
        better = here[context > best[start:stop]]
        owners[better] = number
        best[better] = context[better - start]
    return owners, int(best.min())


def _answers(
    engine: Engine, windows: Sequence[Encoding], progress: Progress | None
) -> list[Floats]:
    """Return the probabilities of every label at every piece of every window: (T - 2, C) each."""
    temperature = engine.calibration(BertForTokenClassification).temperature
    answers: list[Floats] = []
    for first in range(0, len(windows), _TOGETHER):
        group = windows[first : first + _TOGETHER]
        logits = engine.run(BertForTokenClassification, group).logits
        assert logits is not None  # this class always has them
        shares = torch.softmax(logits.double() / temperature, dim=-1).numpy()  # (B, T, C)
        answers += [row[1 : len(window) - 1] for row, window in zip(shares, group, strict=True)]
        if progress is not None:
            progress(len(answers), len(windows))
    return answers


def _reading(text: str, pieces: Pieces, scheme: TagScheme, how: Aggregation) -> Reading:
    """Read entities from the labels by one aggregation."""
    units = _units(pieces, how)
    labels = units.probabilities.argmax(axis=1)
    scores = units.probabilities.max(axis=1)
    numbers: list[int] = labels.tolist()
    if how == "none":
        found = [
            (scheme.tags[label].name, scheme.tags[label].kind, at, at + 1)
            for at, label in enumerate(numbers)
            if scheme.tags[label].kind
        ]
    else:
        found = [(s.kind, s.kind, s.start, s.stop) for s in scheme.stretches(numbers)]
    entities = []
    for label, kind, start, stop in found:
        first, last = int(units.starts[start]), int(units.stops[stop - 1]) - 1
        place = (pieces.spans[first][0], _end(text, pieces, last))
        score = float(scores[start:stop].mean())
        entities.append(Entity(label, kind, *place, score, (first, last + 1)))
    faults = tuple(
        Fault(
            piece=int(units.starts[fault.at]),
            label=scheme.tags[numbers[fault.at]].name,
            before=scheme.tags[numbers[fault.at - 1]].name if fault.at else "",
            opened=fault.why == "not closed",
        )
        for fault in scheme.faults(numbers)
    )
    units.asked.setflags(write=False)
    return Reading(tuple(entities), faults, units.asked)


def _end(text: str, pieces: Pieces, last: int) -> int:
    """Return where an entity ends, with the marks on its last letter that no piece covers."""
    end = pieces.spans[last][1]
    limit = pieces.spans[last + 1][0] if last + 1 < len(pieces) else len(text)
    while end < limit and unicodedata.combining(text[end]):
        end += 1
    return end


def _units(pieces: Pieces, how: Aggregation) -> _Units:
    """Form what gets one label each: pieces as they are, or words by one of three rules."""
    count = len(pieces)
    shares = pieces.probabilities
    if how in ("none", "simple"):
        every = np.arange(count)
        return _Units(every, every + 1, shares, np.ones(count, dtype=np.bool_))
    opens = np.flatnonzero(np.diff(pieces.words, prepend=-1))  # the first piece of every word
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
