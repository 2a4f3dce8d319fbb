"""What is measured must not be in the training: sentences held out, and all that are near to them.

A hidden word of a short sentence is easy to predict from a training sentence that differs in only
one word. So texts lose the sentences that equal an evaluation sentence or differ from one in a
single piece, and labelled rows those that contain one or differ from one in a single word.

`gaps.tsv`, `negations.tsv` and `written.txt` were written before any model answered them, and stay
as they are. The first two are measured; those of `written.txt` have been read by people.
"""

import csv
import re
import tomllib
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np

from bert_core.finetuning import LabelledText
from bert_core.pretraining import split_sentences
from bert_core.text.tokenizer import BertTokenizer
from training.corpus import EncodedText, plain_ids, without_sentences

Sentence = tuple[int, ...]
Words = tuple[str, ...]
T = TypeVar("T")
# Number of held-out sentences per text, and the shortest and longest of them in pieces.
KEPT_BACK = {"tatoeba-sentences": 1_400, "wordnet-examples": 600}
LENGTHS = (6, 18)
PRONOUNS = ("he", "she")
_HERE = Path(__file__).parent
_BIAS = tomllib.loads((_HERE / "bias.toml").read_text(encoding="utf-8"))
OPEN_PRONOUN, OPEN_OCCUPATION = (tuple(_BIAS[f"open_{gap}"]) for gap in ("pronoun", "occupation"))
OCCUPATIONS = tuple(_BIAS["occupations"].split())
_WORD = re.compile(r"\w+")
_RUN = 4  # words of an evaluation sentence that is not to be found inside another


@dataclass(frozen=True, slots=True)
class Gap:
    """A sentence with one [MASK], and the words that would fill it well."""

    sentence: str
    good: frozenset[str]


@cache
def gaps() -> tuple[Gap, ...]:
    """Return a hundred everyday sentences with a gap."""
    return tuple(Gap(row["sentence"], frozenset(row["good"].split())) for row in _rows("gaps"))


@cache
def negations() -> tuple[LabelledText, ...]:
    """Return forty sentences with a negation or a contrast: 0 negative, 1 positive."""
    rows = _rows("negations")
    return tuple(LabelledText(row["sentence"], int(row["label"])) for row in rows)


def _rows(name: str) -> list[dict[str, str]]:
    with (_HERE / f"{name}.tsv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


@cache
def evaluated() -> tuple[str, ...]:
    """Return every sentence of our own, gaps filled in with each word that fits."""
    filled = [gap.sentence.replace("[MASK]", word) for gap in gaps() for word in sorted(gap.good)]
    filled += [
        template.format(occupation=occupation, word=word)
        for template in OPEN_PRONOUN + OPEN_OCCUPATION
        for occupation in OCCUPATIONS
        for word in PRONOUNS
    ]
    written = (_HERE / "written.txt").read_text(encoding="utf-8").splitlines()
    return (*filled, *(row.text for row in negations()), *written)


def blanked(sequence: tuple[T, ...], blank: T) -> Iterator[tuple[T, ...]]:
    """Yield a sequence with each of its items blanked in turn.

    >>> list(blanked((5, 6), -1))
    [(-1, 6), (5, -1)]
    """
    for place in range(len(sequence)):
        yield (*sequence[:place], blank, *sequence[place + 1 :])


def is_near(text: str) -> bool:
    """Tell whether a text contains an evaluation sentence, or all but one word of one.

    >>> is_near("five plus three is nine"), is_near("Five plus six is eleven.")
    (True, False)
    >>> is_near("Did you know that the opposite of early is late?")
    True
    """
    words, (near, whole) = _words(text), _evaluated_words()
    return not near.isdisjoint(blanked(words, "")) or any(
        words[at : at + len(each)] == each
        for at, word in enumerate(words)
        for each in whole.get(word, ())
    )


@cache
def _evaluated_words() -> tuple[frozenset[Words], dict[str, list[Words]]]:
    """Return the sentences with each word blanked in turn, and whole ones by their first word."""
    whole: dict[str, list[Words]] = defaultdict(list)
    texts = {_words(text) for text in evaluated()}
    for words in texts:
        if len(words) >= _RUN:
            whole[words[0]].append(words)
    return frozenset(key for words in texts for key in blanked(words, "")), dict(whole)


def _words(text: str) -> Words:
    return tuple(_WORD.findall(text.lower()))


def kept_back(texts: Sequence[EncodedText]) -> list[Sentence]:
    """Return the short sentences to measure on, chosen by the checksum of their pieces."""
    found: list[Sentence] = []
    for text in texts:
        if text.name in KEPT_BACK:
            low, high = LENGTHS
            sentences = {
                tuple(text.sentence(start))
                for start, end in pairwise(text.documents)
                if end - start == 1
                and low <= text.sentences[start + 1] - text.sentences[start] <= high
            }
            count = min(KEPT_BACK[text.name], len(sentences) // 4)
            found += sorted(sentences, key=_checksum)[:count]
    return found


def evaluation_sentences(tokenizer: BertTokenizer) -> set[Sentence]:
    """Return the sentences of our own as pieces."""
    texts = {sentence for text in evaluated() for sentence in split_sentences(text)}
    return {tuple(ids) for ids in plain_ids(tokenizer, sorted(texts))}


def without_near(texts: Sequence[EncodedText], kept: Iterable[Sentence]) -> list[EncodedText]:
    """Remove from every text the sentences that are kept back, or differ in a single piece."""
    near = {key for sentence in kept for key in blanked(sentence, -1)}
    longest = max(map(len, near), default=0)
    found = []
    for text in texts:
        lengths = np.diff(text.sentences)
        bad = np.zeros(len(lengths), dtype=bool)
        for index in np.flatnonzero(lengths <= longest):
            bad[index] = not near.isdisjoint(blanked(tuple(text.sentence(int(index))), -1))
        found.append(without_sentences(text, bad))
    return found


def _checksum(sentence: Sentence) -> int:
    return zlib.crc32(np.asarray(sentence, dtype=np.uint16).tobytes())
