"""Short sentences that are kept back, and what must not be trained on beside them.

One word of a short sentence is easy to name when a training sentence says the same but for one
word. So a sentence is left out of every text when it equals a sentence kept back, or differs from
it in one piece only.
"""

import zlib
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from bert_core.text.tokenizer import BertTokenizer
from training.bias import OCCUPATIONS, OPEN_OCCUPATION, OPEN_WORD, WORDS
from training.corpus import EncodedText, plain_ids, without_sentences
from training.famous import FAMOUS
from training.gaps import GAPS

# How many sentences of a text are kept back.
KEPT_BACK = {"tatoeba-sentences": 1_400, "wordnet-examples": 600}
LENGTHS = (6, 18)  # of these, in pieces, full stop included
Sentence = tuple[int, ...]


def kept_back(texts: Sequence[EncodedText]) -> dict[str, list[Sentence]]:
    """Return the sentences to measure on, by text; the checksum of their pieces chooses.

    Args:
        texts: the encoded training texts; those that are not in KEPT_BACK give none.
    """
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
    """Return famous lines, everyday gaps and the sentences about occupations, filled in."""
    lines = [gap.sentence.replace("[MASK]", word) for gap in (*FAMOUS, *GAPS) for word in gap.good]
    lines += [
        template.format(occupation=occupation, word=word)
        for template in OPEN_WORD + OPEN_OCCUPATION
        for occupation in OCCUPATIONS
        for word in WORDS
    ]
    return {tuple(ids) for ids in plain_ids(tokenizer, lines)}


def without_known(
    texts: Sequence[EncodedText], kept: Iterable[Sentence], lines: set[Sentence]
) -> list[EncodedText]:
    """Drop from every text what would give an evaluation away.

    Args:
        texts: the encoded texts.
        kept: sentences that are measured with a word hidden, whichever it is.
        lines: sentences that are measured with a known word hidden.
    """
    near = {key for sentence in kept for key in _but_one(sentence)}
    return [_without(text, near, lines) for text in texts]


def _without(text: EncodedText, near: set[Sentence], lines: set[Sentence]) -> EncodedText:
    lengths = np.diff(text.sentences)
    longest = max([LENGTHS[1], *map(len, lines)])
    bad = np.zeros(len(lengths), dtype=bool)
    for index in np.flatnonzero(lengths <= longest):
        sentence = tuple(text.sentence(int(index)))
        bad[index] = sentence in lines or any(key in near for key in _but_one(sentence))
    return without_sentences(text, bad)


def _but_one(sentence: Sentence) -> Iterable[Sentence]:
    """Yield the sentence with each of its pieces left open in turn."""
    for place in range(len(sentence)):
        yield (*sentence[:place], -1, *sentence[place + 1 :])


def _checksum(sentence: Sentence) -> int:
    return zlib.crc32(np.asarray(sentence, dtype=np.uint16).tobytes())
