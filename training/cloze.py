"""Sentences of textbooks with a gap, and four terms of which one was there.

Review questions of a textbook ask for its terms, and there are few such questions; the book itself
has tens of thousands of sentences that state the same facts. A term of a chapter is taken out of a
sentence, and three other terms of the chapter stand beside it: what is right cannot be told by the
subject alone. A cloze test, after Taylor (1953), with the wrong answers of Xie et al. (2018,
"Large-scale cloze test dataset created by teachers") in mind, made by rule.
"""

import random
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from pathlib import Path

from bert_core.finetuning import Choices
from bert_core.pretraining import split_sentences
from training.corpus import read_documents, text_files

BOOKS = (
    "openstax-american-government",
    "openstax-anatomy-physiology",
    "openstax-introduction-sociology",
    "openstax-microbiology",
    "openstax-psychology",
    "openstax-us-history",
)
GAP = "________"  # as the review questions write it
_WORDS = (8, 36)  # of a sentence
_TERMS = 40  # of a chapter
_LEAST = 3  # times a term stands in its chapter
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*[A-Za-z]")
_ENDINGS = ("ing", "ed", "ly", "s", "al", "ic")
_COMMON_SHARE = 0.2  # of all chapters: a word in more of them is nobody's term


@dataclass(frozen=True, slots=True)
class Chapter:
    """The sentences of a chapter, and the terms it speaks of more than others do."""

    sentences: Sequence[str]
    terms: Sequence[str]


def gapped_sentences(data: Path, seed: int) -> list[Choices]:
    """Return one row for every fitting sentence of the textbooks that have review questions.

    Args:
        data: the data folder; books that are not there are left out.
        seed: of which term is taken out, and of what stands beside it.
    """
    found = text_files(data)
    chapters = read_chapters([found[name] for name in BOOKS if name in found])
    rows = []
    for chapter in chapters:
        for sentence in chapter.sentences:
            source = random.Random(zlib.crc32(f"{seed} {sentence}".encode()))
            row = gapped(sentence, chapter.terms, source)
            if row is not None:
                rows.append(row)
    return rows


def read_chapters(paths: Iterable[Path]) -> list[Chapter]:
    """Read every chapter of the books and choose its terms, of one word or two."""
    documents = [
        [sentence for row in document for sentence in split_sentences(row)]
        for path in paths
        for document in read_documents(path)
    ]
    counts = [Counter(_candidates(sentences)) for sentences in documents]
    holders = Counter(term for count in counts for term in count)
    return [
        Chapter(sentences, _terms(count, holders, len(documents)))
        for sentences, count in zip(documents, counts, strict=True)
    ]


def gapped(sentence: str, terms: Sequence[str], source: random.Random) -> Choices | None:
    """Take a term out of a sentence and put three others beside it; None where that cannot be.

    Args:
        sentence: of the chapter.
        terms: of the chapter, lower-cased.
        source: what is drawn from.

    >>> terms = ["axon", "dendrites", "synapse", "neuron", "membrane"]
    >>> row = gapped("Signals leave the cell through its axon and end there.", terms,
    ...              random.Random(0))
    >>> row.context, sorted(row.choices), row.choices[row.label]
    ('Signals leave the cell through its ________ and end there.', \
['axon', 'membrane', 'neuron', 'synapse'], 'axon')
    """
    if not _WORDS[0] <= len(sentence.split()) <= _WORDS[1]:
        return None
    lowered = f" {' '.join(_WORD.findall(sentence.lower()))} "
    inside = [term for term in terms if lowered.count(f" {term} ") == 1]
    if not inside:
        return None
    longest = [term for term in inside if not any(term != o and term in o.split() for o in inside)]
    right = source.choice(longest)
    place = re.search(rf"\b{re.escape(right)}\b", sentence, re.IGNORECASE)
    others = [term for term in terms if f" {term} " not in lowered and not _alike(term, right)]
    fitting = [term for term in others if _form(term) == _form(right)]
    if place is None or len(others) < 3:
        return None
    wrong = source.sample(fitting, min(3, len(fitting)))
    rest = [term for term in others if term not in wrong]
    wrong += source.sample(rest, 3 - len(wrong))
    choices = [right, *wrong]  # all in lower case: capitals must not tell
    source.shuffle(choices)
    question = f"{sentence[: place.start()]}{GAP}{sentence[place.end() :]}"
    return Choices(question, tuple(choices), choices.index(right))


def _candidates(sentences: Sequence[str]) -> Iterable[str]:
    """Yield the words of a chapter and the neighbouring two, lower-cased."""
    for sentence in sentences:
        words = _WORD.findall(sentence.lower())
        yield from words
        yield from (" ".join(pair) for pair in pairwise(words))


def _terms(counts: Mapping[str, int], holders: Mapping[str, int], chapters: int) -> list[str]:
    """Return what a chapter says often and few others say; best first."""
    scores: dict[str, float] = defaultdict(float)
    for term, count in counts.items():
        words = term.split()
        if count < _LEAST or any(holders[word] > _COMMON_SHARE * chapters for word in words):
            continue
        if all(len(word) > 2 for word in words):
            scores[term] = count * len(words) * log(chapters / holders[term])
    return sorted(scores, key=lambda term: (-scores[term], term))[:_TERMS]


def _alike(one: str, other: str) -> bool:
    """Whether two terms share a word, or one letter at the end tells them apart."""
    stems = [{word.rstrip("s") for word in term.split()} for term in (one, other)]
    return not stems[0].isdisjoint(stems[1])


def _form(term: str) -> tuple[int, str]:
    """What makes two terms fit the same gap: number of words, and how the last one ends."""
    return term.count(" "), next((each for each in _ENDINGS if term.endswith(each)), "")
