"""Make multiple-choice rows from textbook sentences: a gap, and four terms to choose from.

A textbook has few review questions about its terms, but tens of thousands of sentences that state
the same facts. One of a chapter's terms is removed from a sentence and offered with three other
terms of the same chapter, so that the subject alone does not give the answer away. This is a
rule-based cloze test after Taylor (1953), with wrong answers in the spirit of Xie et al. (2018,
"Large-scale cloze test dataset created by teachers").
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
_WORDS = (8, 36)  # per sentence
_TERMS = 40  # per chapter
_LEAST = 3  # minimum occurrences of a term in its chapter
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*[A-Za-z]")
_ENDINGS = ("ing", "ed", "ly", "s", "al", "ic")
_COMMON_SHARE = 0.2  # of all chapters; a word in more of them is not a term


@dataclass(frozen=True, slots=True)
class Chapter:
    """The sentences of a chapter, and the terms that are typical of it."""

    sentences: Sequence[str]
    terms: Sequence[str]


def gapped_sentences(data: Path, seed: int) -> list[Choices]:
    """Return one row for every suitable sentence of the textbooks that have review questions."""
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
    """Read every chapter of the books and choose its terms of one or two words."""
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
    """Remove one of a chapter's terms from a sentence and offer it with three others.

    Returns None if that is impossible. Terms are lower-cased.

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
    choices = [right, *wrong]  # all lower case, so that capitals give nothing away
    source.shuffle(choices)
    question = f"{sentence[: place.start()]}{GAP}{sentence[place.end() :]}"
    return Choices(question, tuple(choices), choices.index(right))


def _candidates(sentences: Sequence[str]) -> Iterable[str]:
    """Yield a chapter's words and pairs of neighbouring words, lower-cased."""
    for sentence in sentences:
        words = _WORD.findall(sentence.lower())
        yield from words
        yield from (" ".join(pair) for pair in pairwise(words))


def _terms(counts: Mapping[str, int], holders: Mapping[str, int], chapters: int) -> list[str]:
    """Return terms that are frequent in a chapter and rare in others, best first."""
    scores: dict[str, float] = defaultdict(float)
    for term, count in counts.items():
        words = term.split()
        if count < _LEAST or any(holders[word] > _COMMON_SHARE * chapters for word in words):
            continue
        if all(len(word) > 2 for word in words):
            scores[term] = count * len(words) * log(chapters / holders[term])
    return sorted(scores, key=lambda term: (-scores[term], term))[:_TERMS]


def _alike(one: str, other: str) -> bool:
    """Return whether two terms share a word or differ only by one letter at the end."""
    stems = [{word.rstrip("s") for word in term.split()} for term in (one, other)]
    return not stems[0].isdisjoint(stems[1])


def _form(term: str) -> tuple[int, str]:
    """Return the form that fits a term to a gap: number of words, and ending of the last one."""
    return term.count(" "), next((each for each in _ENDINGS if term.endswith(each)), "")
