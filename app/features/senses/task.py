"""Senses: the vectors of one word in many sentences, at every layer."""

from collections import Counter, defaultdict
from typing import Annotated

import torch
from torch import Tensor

from app.engine.compute.processor import PROCESSOR
from app.engine.models import Engine
from app.engine.vectors import layer_of, vectors
from app.features.senses.result import Occurrence, SensesResult, Sentence
from app.records.fields import Field
from bert_core import Encoding
from bert_core.analysis.similarity import Projection, cosines, principal_axes
from bert_core.errors import InputError
from bert_core.reading.gaps import pieces_after
from bert_core.reading.occurrences import occurrences

MOST_SENTENCES = 60
MOST_PLACES = 80
_LAYER = "After layer (-1: the input)"

Places = list[tuple[int, range]]
"""Index of a sentence, and positions in it."""


def senses(
    engine: Engine,
    text: Annotated[
        str, Field("Sentences, one per line (a blank line separates senses)", lines=10)
    ],
    word: Annotated[str, Field("Word", key="target", lines=1, first=True)],
    *,
    layer: Annotated[int | None, Field(_LAYER, key="after", low=-1, layer=True)] = None,
) -> SensesResult:
    """Compare the vectors that one word has in many sentences.

    Args:
        engine: the model.
        text: one sentence per line, 2 to 60 of them; a blank line begins a new group.
        word: the word to look for, or several words in a row; it must be in at least two places.
            The pieces of a word are averaged.
        layer: the layer after which vectors are compared, counted from 0; -1 for the input of the
            first one. If empty, the last one.

    Raises:
        InputError: there is no word, it is in fewer than two places, or something is too long.
    """
    layer = layer_of(engine, layer)
    sentences = split(text)
    encodings = [_encoded(engine, sentence) for sentence in sentences]
    places = _places(encodings, _spellings(engine, word), word)
    own = _vectors(engine, encodings, places)

    def compare() -> tuple[Tensor, Projection]:
        return torch.stack([cosines(x, x) for x in own]), principal_axes(own[layer + 1], 3)

    similarity, space = PROCESSOR.run(compare, tokens=1)
    return SensesResult(
        word=word.strip(),
        sentences=sentences,
        occurrences=_occurrences(sentences, encodings, places),
        layer=layer,
        similarity=similarity.double().numpy(),
        space=space.coordinates.numpy(),
        shares=tuple(space.shares.tolist()),
    )


def split(text: str) -> tuple[Sentence, ...]:
    """Split a text into sentences, one per line, and groups, separated by blank lines.

    >>> [(each.number, each.group) for each in split("a\\n\\n\\nb\\nc")]
    [(1, 0), (2, 1), (3, 1)]
    """
    found: list[Sentence] = []
    group, blank = -1, True
    for line in text.splitlines():
        if not line.strip():
            blank = True
            continue
        group += blank
        blank = False
        found.append(Sentence(len(found) + 1, line.strip(), group))
    if len(found) < 2:
        raise InputError(
            f"The text has {len(found)} line{'' if len(found) == 1 else 's'}; at least two are "
            "compared. Write one sentence per line."
        )
    if len(found) > MOST_SENTENCES:
        raise InputError(
            f"The text has {len(found)} sentences; this page compares at most {MOST_SENTENCES}. "
            "Remove some lines."
        )
    return tuple(found)


def _encoded(engine: Engine, sentence: Sentence) -> Encoding:
    encoding = engine.tokenizer.encode(sentence.text)
    if len(encoding) > engine.max_length:
        raise InputError(
            f"Sentence {sentence.number} has {len(encoding):,} tokens; {engine.provenance.name} "
            f"reads at most {engine.max_length:,}. Shorten it, or put each sentence on its own "
            "line."
        )
    return encoding


def _spellings(engine: Engine, word: str) -> list[list[int]]:
    """Return the ids of a word after a space, at the beginning of a text, and after a mark."""
    tokenizer = engine.tokenizer
    spellings = [pieces_after(tokenizer, before, word) for before in (" ", "", "(")]
    if not spellings[0]:
        raise InputError(
            "There is no word to look for. Type one that is in at least two sentences."
        )
    if tokenizer.unk_token in spellings[0]:
        raise InputError(
            f"“{word.strip()[:60]}” contains something that this vocabulary cannot spell. Try "
            "another word."
        )
    different = dict.fromkeys(map(tuple, spellings))
    return [tokenizer.convert_tokens_to_ids(list(each)) for each in different]


def _places(encodings: list[Encoding], spellings: list[list[int]], word: str) -> Places:
    found = [
        (index, place)
        for index, encoding in enumerate(encodings)
        for place in sorted(
            (each for ids in spellings for each in occurrences(encoding, ids)),
            key=lambda each: each.start,
        )
    ]
    if not 2 <= len(found) <= MOST_PLACES:
        much = "fewer than two places" if len(found) < 2 else f"more than {MOST_PLACES} places"
        raise InputError(
            f"“{word.strip()[:60]}” is in {much} of these {len(encodings)} sentences "
            f"({len(found)}). Other forms of a word count as different words. Change the word or "
            "the sentences."
        )
    return found


def _vectors(engine: Engine, encodings: list[Encoding], places: Places) -> list[Tensor]:
    found: dict[int, Tensor] = {}
    for index, states in vectors(engine, encodings):  # (L + 1, T, D)
        for number, (sentence, place) in enumerate(places):
            if sentence == index:
                found[number] = states[:, place.start : place.stop].mean(dim=1)
    return list(torch.stack([found[number] for number in range(len(places))], dim=1))


def _occurrences(
    sentences: tuple[Sentence, ...], encodings: list[Encoding], places: Places
) -> tuple[Occurrence, ...]:
    times = Counter(index for index, _ in places)
    seen: defaultdict[int, int] = defaultdict(int)
    found = []
    for index, place in places:
        letter = chr(ord("a") + seen[index] % 26) if times[index] > 1 else ""
        seen[index] += 1
        spans = encodings[index].spans
        found.append(
            Occurrence(
                label=f"{sentences[index].number}{letter}",
                sentence=sentences[index].number,
                group=sentences[index].group,
                start=spans[place.start][0],
                end=spans[place.stop - 1][1],
                pieces=tuple(place),
            )
        )
    return tuple(found)
