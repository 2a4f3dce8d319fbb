"""Measure the progress of a long pretraining as a curve; nothing is selected by it."""

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from bert_core.model.heads import BertForPreTraining
from bert_core.pretraining import RowTokens, sentence_rows
from bert_core.text.tokenizer import BertTokenizer
from training.famous import FAMOUS
from training.gaps import GAPS, Gap
from training.judgements import masked_batches
from training.pretraining_evaluation import (
    RUNNING_TEXT,
    WORD_SEED,
    fills,
    gap_words,
    next_sentences,
    right_guesses,
    running_text,
)
from training.rows import is_there
from training.unseen import Sentence

BLOCKS = 160  # blocks of running text: about 3,000 hidden pieces
_TOGETHER = 64  # short rows per batch


@torch.no_grad()
def measure_way(
    model: BertForPreTraining,
    tokenizer: BertTokenizer,
    data: Path,
    kept: Sequence[Sentence],
    relations: Mapping[str, Sequence[tuple[str, frozenset[str]]]],
) -> dict[str, float]:
    """Return all figures in percent, by name.

    Args:
        model: the model, in evaluation mode.
        tokenizer: its tokenizer.
        data: the data folder.
        kept: short sentences held out from training.
        relations: sentences about subjects held out from the templates, by relation.
    """
    found = {
        "famous first": _filled(model, tokenizer, FAMOUS),
        "famous five": _filled(model, tokenizer, FAMOUS, 5),
        "everyday first": _filled(model, tokenizer, GAPS),
        "everyday five": _filled(model, tokenizer, GAPS, 5),
        **_unseen(model, tokenizer, kept),
        **_relations(model, tokenizer, relations),
        **_running_text(model, tokenizer, data),
    }
    if is_there(data / "nsp" / "eval_pairs.jsonl"):
        for figure in next_sentences(model, tokenizer, data):
            found[figure.task] = 100 * figure.share
    return {name: round(value, 2) for name, value in found.items()}


def _filled(
    model: BertForPreTraining, tokenizer: BertTokenizer, gaps: Sequence[Gap], count: int = 1
) -> float:
    """Return how often a good word is among the first `count`, in percent."""
    answers = gap_words(model, tokenizer, gaps)
    right = [fills(gap, words[:count]) for gap, words in zip(gaps, answers, strict=True)]
    return 100 * sum(right) / max(1, len(right))


def _unseen(
    model: BertForPreTraining, tokenizer: BertTokenizer, sentences: Sequence[Sentence]
) -> dict[str, float]:
    """Hide a one-piece word in each sentence; measure right guesses and wrong copies."""
    rows, places = [], []
    for sentence in sentences:
        words = _whole_words(sentence, tokenizer)
        if words:
            checksum = zlib.crc32(repr(sentence).encode())
            rows.append(sentence)
            places.append(words[checksum % len(words)])
    first = five = copied = 0
    for start in range(0, len(rows), _TOGETHER):
        group = rows[start : start + _TOGETHER]
        guesses = _guesses(model, tokenizer, group, places[start : start + _TOGETHER])
        for sentence, place, words in zip(group, places[start:], guesses, strict=False):
            rest = {*sentence[:place], *sentence[place + 1 :]}
            first += words[0] == sentence[place]
            five += sentence[place] in words
            copied += words[0] != sentence[place] and words[0] in rest
    share = 100 / max(1, len(rows))
    return {
        "unseen first": share * first,
        "unseen five": share * five,
        "unseen wrong copies": share * copied,
    }


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
    scores = model.scores_at(ids, at, rows.token_type_ids, rows.attention_mask)
    found: list[list[int]] = scores[:, 0].topk(5).indices.tolist()
    return found


def _relations(
    model: BertForPreTraining,
    tokenizer: BertTokenizer,
    relations: Mapping[str, Sequence[tuple[str, frozenset[str]]]],
) -> dict[str, float]:
    """Measure each relation and their mean, leaving out words of several pieces."""
    found = {}
    for name, asked in relations.items():
        gaps = []
        for sentence, good in asked:
            whole = {word for word in good if len(tokenizer.tokenize(word)) == 1}
            if whole:
                gaps.append(Gap(sentence, frozenset(whole)))
        if len(gaps) >= 4:
            found[f"relation {name}"] = _filled(model, tokenizer, gaps)
    if found:
        found["relations mean"] = sum(found.values()) / len(found)
    return found


def _running_text(
    model: BertForPreTraining, tokenizer: BertTokenizer, data: Path
) -> dict[str, float]:
    """Measure 15 % hidden pieces: hidden as in the BERT paper, and all as [MASK]."""
    if not is_there(data / RUNNING_TEXT):
        return {}
    blocks = running_text(model, tokenizer, data / RUNNING_TEXT)
    chosen = blocks[:: max(1, len(blocks) // BLOCKS)][:BLOCKS]
    hits, cases = torch.zeros(2, 2), 0
    for rows, masked in masked_batches(tokenizer, chosen, BLOCKS // 10, WORD_SEED):
        hidden = torch.where(masked.labels >= 0, tokenizer.mask_token_id, rows)
        cases += int(masked.weights.sum())
        for way, ids in enumerate((masked.input_ids, hidden)):
            hits[way] += right_guesses(model, ids, masked)
    (first, five), (first_hidden, five_hidden) = (100 * hits / max(1, cases)).tolist()
    return {
        "running text first": first,
        "running text five": five,
        "running text, all hidden, first": first_hidden,
        "running text, all hidden, five": five_hidden,
    }
