"""Measure the progress of a long pretraining as a curve; nothing is selected by it."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from bert_core.model.heads import BertForPreTraining
from bert_core.pretraining import MaskingVocabulary, RowTokens, mask_tokens, pack_blocks
from bert_core.text.tokenizer import BertTokenizer
from training.corpus import plain_ids, read_documents
from training.famous import FAMOUS
from training.gaps import GAPS, Gap
from training.pretraining_evaluation import fills, gap_words, next_sentences
from training.unseen import Sentence

BLOCKS = 160  # blocks of running text: about 3,000 hidden pieces
LENGTH = 128
_TOGETHER = 64  # short rows per batch


@dataclass(frozen=True, slots=True)
class Checks:
    """The data to measure on.

    Attributes:
        kept: short sentences held out from training, by text.
        relations: sentences about subjects held out from the templates, by relation.
        data: the data folder.
    """

    kept: Mapping[str, Sequence[Sentence]]
    relations: Mapping[str, Sequence[tuple[str, frozenset[str]]]]
    data: Path


@torch.no_grad()
def measure_way(
    model: BertForPreTraining, tokenizer: BertTokenizer, checks: Checks
) -> dict[str, float]:
    """Return all figures in percent, by name."""
    found = {
        **_lines(model, tokenizer, "famous", FAMOUS),
        **_lines(model, tokenizer, "everyday", GAPS),
        **_unseen(model, tokenizer, [each for kept in checks.kept.values() for each in kept]),
        **_relations(model, tokenizer, checks.relations),
        **_running_text(model, tokenizer, checks.data),
    }
    if sorted((checks.data / "nsp").glob("eval_pairs.jsonl*")):
        for figure in next_sentences(model, tokenizer, checks.data):
            found[figure.task] = 100 * figure.share
    return {name: round(value, 2) for name, value in found.items()}


def _lines(
    model: BertForPreTraining, tokenizer: BertTokenizer, name: str, gaps: Sequence[Gap]
) -> dict[str, float]:
    answers = gap_words(model, tokenizer, gaps)
    return {
        f"{name} {label}": _share(
            [fills(gap, words[:count]) for gap, words in zip(gaps, answers, strict=True)]
        )
        for label, count in (("first", 1), ("five", 5))
    }


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
    length = max(map(len, sentences)) + 2
    ids = torch.full((len(sentences), length), tokenizer.pad_token_id)
    for row, (sentence, place) in enumerate(zip(sentences, places, strict=False)):
        whole = [tokenizer.cls_token_id, *sentence, tokenizer.sep_token_id]
        whole[place + 1] = tokenizer.mask_token_id
        ids[row, : len(whole)] = torch.tensor(whole)
    at = torch.tensor(places[: len(sentences)])[:, None] + 1  # (B, 1)
    attended = (ids != tokenizer.pad_token_id).long()
    scores = model.scores_at(ids, at, torch.zeros_like(ids), attended)
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
            answers = gap_words(model, tokenizer, gaps)
            right = [fills(gap, words[:1]) for gap, words in zip(gaps, answers, strict=True)]
            found[f"relation {name}"] = _share(right)
    if found:
        found["relations mean"] = sum(found.values()) / len(found)
    return found


def _running_text(
    model: BertForPreTraining, tokenizer: BertTokenizer, data: Path
) -> dict[str, float]:
    """Measure 15 % hidden pieces: hidden as in the BERT paper, and all as [MASK]."""
    paths = sorted((data / "text").glob("wikitext2-valid-test.txt*"))
    if not paths:
        return {}
    tokens = RowTokens.from_vocab(tokenizer.vocab)
    documents = (
        [index for row in plain_ids(tokenizer, document) for index in row]
        for document in read_documents(paths[0])
    )
    blocks = [row for row in pack_blocks(documents, LENGTH, tokens) if len(row) == LENGTH]
    masking = MaskingVocabulary.from_vocab(tokenizer.vocab)
    hits = torch.zeros(2, 2)
    cases = 0
    generator = torch.Generator().manual_seed(1234)
    step = max(1, len(blocks) // BLOCKS)
    rows = torch.tensor(blocks[::step][:BLOCKS])
    for group in rows.chunk(BLOCKS // 16):
        masked = mask_tokens(group, masking, rate=0.15, generator=generator)
        hidden = torch.where(masked.labels >= 0, masking.mask_id, group)
        cases += int((masked.position_labels >= 0).sum())
        for way, ids in enumerate((masked.input_ids, hidden)):
            best = model.scores_at(ids, masked.positions).topk(5).indices
            equal = best == masked.position_labels[..., None]
            hits[way] += torch.stack([equal[..., 0].sum(), equal.any(-1).sum()])
    shares = (100 * hits / max(1, cases)).tolist()
    return {
        "running text first": shares[0][0],
        "running text five": shares[0][1],
        "running text, all hidden, first": shares[1][0],
        "running text, all hidden, five": shares[1][1],
    }


def _share(right: Sequence[bool]) -> float:
    return 100 * sum(right) / max(1, len(right))
