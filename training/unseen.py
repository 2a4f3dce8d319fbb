"""Short sentences held out for measurement, and training sentences too close to them.

A hidden word of a short sentence is easy to predict from a training sentence that differs in only
one word. So a sentence is removed from every text if it equals a held-out sentence or differs from
one in a single piece.
"""

import zlib
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from bert_core.pretraining import split_sentences
from bert_core.text.tokenizer import BertTokenizer
from training.bias import OCCUPATIONS, OPEN_OCCUPATION, OPEN_WORD, WORDS
from training.corpus import EncodedText, plain_ids, without_sentences
from training.famous import FAMOUS
from training.gaps import GAPS
from training.written.near import evaluated

# Number of held-out sentences per text.
KEPT_BACK = {"tatoeba-sentences": 1_400, "wordnet-examples": 600}
LENGTHS = (6, 18)  # shortest and longest of them in pieces, including the full stop
Sentence = tuple[int, ...]


def kept_back(texts: Sequence[EncodedText]) -> dict[str, list[Sentence]]:
    """Return the sentences to measure on, by text, chosen by the checksum of their pieces."""
    found = {}
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
            found[text.name] = sorted(sentences, key=_checksum)[:count]
    return found


def evaluation_lines(tokenizer: BertTokenizer) -> set[Sentence]:
    """Return the famous lines, everyday gaps and sentences about occupations, filled in."""
    lines = [gap.sentence.replace("[MASK]", word) for gap in (*FAMOUS, *GAPS) for word in gap.good]
    lines += [
        template.format(occupation=occupation, word=word)
        for template in OPEN_WORD + OPEN_OCCUPATION
        for occupation in OCCUPATIONS
        for word in WORDS
    ]
    return {tuple(ids) for ids in plain_ids(tokenizer, lines)}


def written_lines(tokenizer: BertTokenizer) -> list[Sentence]:
    """Return the evaluation sentences of our own, filled in, see `training.written`."""
    texts = (one for text in evaluated() for one in split_sentences(text))
    return [tuple(ids) for ids in plain_ids(tokenizer, sorted(set(texts)))]


def without_known(
    texts: Sequence[EncodedText], kept: Iterable[Sentence], lines: set[Sentence]
) -> list[EncodedText]:
    """Remove from every text the sentences that would give away an evaluation.

    In the sentences `kept` any one word may be hidden, in `lines` a given one.
    """
    near = {key for sentence in kept for key in _but_one(sentence)}
    longest = max(map(len, (*near, *lines)), default=0)
    return [_without(text, near, lines, longest) for text in texts]


def _without(
    text: EncodedText, near: set[Sentence], lines: set[Sentence], longest: int
) -> EncodedText:
    lengths = np.diff(text.sentences)
    bad = np.zeros(len(lengths), dtype=bool)
    for index in np.flatnonzero(lengths <= longest):
        sentence = tuple(text.sentence(int(index)))
        bad[index] = sentence in lines or any(key in near for key in _but_one(sentence))
    return without_sentences(text, bad)


def _but_one(sentence: Sentence) -> Iterable[Sentence]:
    """Yield the sentence with each of its pieces blanked in turn."""
    for place in range(len(sentence)):
        yield (*sentence[:place], -1, *sentence[place + 1 :])


def _checksum(sentence: Sentence) -> int:
    return zlib.crc32(np.asarray(sentence, dtype=np.uint16).tobytes())
