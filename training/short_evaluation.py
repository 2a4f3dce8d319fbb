"""Measure the masked-word head on what visitors type: famous lines, short sentences, facts.

Nothing here was trained on: the lines and sentences are removed from all texts
(`training.unseen`), and no template names the subjects of these facts (`training.relations`).
"""

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from bert_core.bundled.figures import Figure
from bert_core.model.heads import BertForPreTraining
from bert_core.pretraining import RowTokens, sentence_rows
from bert_core.text.tokenizer import BertTokenizer
from training.aims import (
    CONTENT_COPIES,
    FAMOUS_FIRST,
    FAMOUS_FIVE,
    RELATIONS,
    UNSEEN_COPIES,
    UNSEEN_FIRST,
    Aim,
)
from training.corpus import encoded_texts
from training.famous import FAMOUS
from training.gaps import Gap
from training.hiding import WordTables
from training.pretraining_evaluation import fills, gap_words
from training.relations import kept_back_gaps
from training.scores import Floats, counted, resampled
from training.unseen import KEPT_BACK, Sentence, kept_back

_TOGETHER = 64  # short rows per batch
_FEWEST = 4  # sentences of a relation that is measured
Facts = Mapping[str, Sequence[tuple[str, frozenset[str]]]]


# -- famous lines ------------------------------------------------------------------------------


def famous_lines(model: BertForPreTraining, tokenizer: BertTokenizer) -> list[Figure]:
    """Measure how often a good word is the first guess, and among the first five."""
    answers = gap_words(model, tokenizer, FAMOUS)
    return [
        counted(aim, right_gaps(FAMOUS, answers, count), len(FAMOUS))
        for aim, count in ((FAMOUS_FIRST, 1), (FAMOUS_FIVE, 5))
    ]


def right_gaps(gaps: Sequence[Gap], answers: Sequence[Sequence[str]], count: int) -> int:
    """Return for how many gaps a good word is among the first `count` answers."""
    return sum(fills(gap, words[:count]) for gap, words in zip(gaps, answers, strict=True))


# -- unseen sentences --------------------------------------------------------------------------


def unseen_words(model: BertForPreTraining, tokenizer: BertTokenizer, data: Path) -> list[Figure]:
    """Hide a word in each short sentence held out; measure right guesses and wrong copies."""
    kept = kept_back(encoded_texts(data, tuple(KEPT_BACK), tokenizer))
    sentences = [sentence for each in kept.values() for sentence in each]
    found = unseen_counts(model, tokenizer, sentences)
    return [
        counted(UNSEEN_FIRST, found.first, found.cases),
        counted(UNSEEN_COPIES, found.copied, found.cases),
        counted(CONTENT_COPIES, found.copied_content, found.cases),
    ]


class UnseenCounts(NamedTuple):
    """Guesses for one hidden word in each sentence.

    Attributes:
        first: right first guesses.
        five: right ones among five.
        copied: first guesses that wrongly repeat another word of the sentence.
        copied_content: those that are content words.
        cases: sentences with a word to hide.
    """

    first: int
    five: int
    copied: int
    copied_content: int
    cases: int


@torch.no_grad()
def unseen_counts(
    model: BertForPreTraining, tokenizer: BertTokenizer, sentences: Sequence[Sentence]
) -> UnseenCounts:
    """Hide a one-piece word in each sentence, chosen by the sentence's checksum."""
    content = WordTables.from_vocab(tokenizer.vocab).content
    rows, places = [], []
    for sentence in sentences:
        if words := _whole_words(sentence, tokenizer):
            rows.append(sentence)
            places.append(words[zlib.crc32(repr(sentence).encode()) % len(words)])
    first = five = copied = copied_content = 0
    for start in range(0, len(rows), _TOGETHER):
        group = rows[start : start + _TOGETHER]
        guesses = _guesses(model, tokenizer, group, places[start : start + _TOGETHER])
        for sentence, place, words in zip(group, places[start:], guesses, strict=False):
            rest = {*sentence[:place], *sentence[place + 1 :]}
            first += words[0] == sentence[place]
            five += sentence[place] in words
            wrongly = words[0] != sentence[place] and words[0] in rest
            copied += wrongly
            copied_content += wrongly and content[words[0]]
    return UnseenCounts(first, five, copied, copied_content, len(rows))


def _whole_words(sentence: Sentence, tokenizer: BertTokenizer) -> list[int]:
    """Return the positions of one-piece words, without punctuation."""
    pieces = [*tokenizer.convert_ids_to_tokens(list(sentence)), ""]
    return [
        place
        for place, piece in enumerate(pieces[:-1])
        if piece.isalnum() and not pieces[place + 1].startswith("##")
    ]


def _guesses(
    model: BertForPreTraining,
    tokenizer: BertTokenizer,
    sentences: Sequence[Sentence],
    places: Sequence[int],
) -> list[list[int]]:
    """Return the top five pieces for one hidden position in each sentence."""
    longest = max(map(len, sentences)) + 2
    rows = sentence_rows(sentences, longest, RowTokens.from_vocab(tokenizer.vocab))
    at = torch.tensor(places)[:, None] + 1  # (B, 1), after [CLS]
    ids = rows.input_ids.scatter(1, at, tokenizer.mask_token_id)
    inputs = (ids, at, rows.token_type_ids, rows.attention_mask)
    scores = model.scores_at(*(each.to(model.device) for each in inputs))
    found: list[list[int]] = scores[:, 0].topk(5).indices.tolist()
    return found


# -- facts -------------------------------------------------------------------------------------


def relations(model: BertForPreTraining, tokenizer: BertTokenizer, data: Path) -> list[Figure]:
    """Measure facts about held-out subjects, as the mean over the kinds of facts."""
    hits = relation_hits(model, tokenizer, kept_back_gaps(data))
    return [fact_figure(RELATIONS, hits)] if hits else []


def fact_figure(aim: Aim, hits: Mapping[str, Floats]) -> Figure:
    """Return the mean over the kinds of facts as a figure."""
    rows = [
        np.column_stack([np.full(len(each), number), each])
        for number, each in enumerate(hits.values())
    ]
    cases = int(sum(each[:, 1].sum() for each in hits.values()))
    return resampled(aim, np.concatenate(rows), mean_over_kinds, cases=cases)


def relation_hits(
    model: BertForPreTraining, tokenizer: BertTokenizer, facts: Facts
) -> dict[str, Floats]:
    """Ask about held-out subjects, leaving out answers of several pieces.

    Returns:
        By relation (N, 2): right first guesses about each subject, and sentences asked.
    """
    found = {}
    for name, asked in facts.items():
        gaps = []
        for sentence, good in asked:
            whole = frozenset(word for word in good if len(tokenizer.tokenize(word)) == 1)
            if whole:
                gaps.append(Gap(sentence, whole))
        if len(gaps) >= _FEWEST:
            answers = gap_words(model, tokenizer, gaps)
            right = [fills(gap, words[:1]) for gap, words in zip(gaps, answers, strict=True)]
            found[name] = np.array([(sum(right[n : n + 2]), len(right[n : n + 2]))
                                    for n in range(0, len(right), 2)], dtype=float)  # fmt: skip
    return found


def mean_over_kinds(rows: Floats) -> float:
    """Return the mean over kinds of their shares; rows are kind, right, asked (N, 3).

    >>> mean_over_kinds(np.array([[0, 2, 2], [0, 0, 2], [1, 1, 1]]))
    0.75
    """
    kinds = rows[:, 0].astype(int)
    right, asked = (np.bincount(kinds, weights=rows[:, column]) for column in (1, 2))
    return float((right[asked > 0] / asked[asked > 0]).mean())
