"""Measure the pretraining heads: masked words, gaps, short sentences, sentence pairs.

Nothing here was trained on: the sentences are removed from all texts (`training.unseen`).
"""

import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from bert_core.bundled.figures import Figure
from bert_core.finetuning import LabelledText
from bert_core.model.heads import BertForPreTraining
from bert_core.pretraining import MaskedTokens, RowTokens, sentence_rows
from bert_core.reading.running import batches
from bert_core.text.tokenizer import BertTokenizer
from training import judgements
from training.calibration import Stated, error_figure
from training.corpus import encoded_texts, running_text
from training.hiding import WordTables
from training.rows import json_rows
from training.scores import Bools, aim, counted, error_aim, resampled, share
from training.unseen import KEPT_BACK, Gap, Sentence, gaps, kept_back

RUNNING_TEXT = "text/wikitext2-valid-test.txt"
PAIRS = "nsp/eval_pairs.jsonl"
WORD_SEED = 1234
BATCH = 32  # blocks; changing it changes what the fixed seed draws
_TOGETHER = 64  # short rows per batch


def used(temperature: float) -> str:
    """Write a temperature for the meaning of a calibration error."""
    return f"{temperature:.2f}"


@torch.no_grad()
def masked_words(model: BertForPreTraining, tokenizer: BertTokenizer, data: Path) -> list[Figure]:
    """Measure top-1 and top-5 of masked words in running text: 15 % chosen, fixed seed.

    Once corrupted as in training, where some of the chosen words are still to be seen, and once
    with every one of them as [MASK], which is what visitors type. Words of one block are guessed
    from each other, so the intervals resample blocks.
    """
    blocks = running_text(tokenizer, data / RUNNING_TEXT, model.config.max_position_embeddings)
    found = []
    for rows, masked in judgements.masked_batches(tokenizer, blocks, BATCH, WORD_SEED):
        hidden = torch.where(masked.labels >= 0, tokenizer.mask_token_id, rows)
        hits = [_right_guesses(model, ids, masked) for ids in (masked.input_ids, hidden)]
        asked = (masked.position_labels >= 0).sum(-1, keepdim=True)
        found.append(torch.cat([*hits, asked], dim=-1))  # (B, 5)
    counts = torch.cat(found).double().numpy()
    tasks = [f"masked word{way}, {guess}" for way in ("", ", all hidden")
             for guess in ("first guess", "among first five")]  # fmt: skip
    figures = [
        resampled(aim(task), counts[:, [way, -1]], share, cases=int(counts[:, -1].sum()))
        for way, task in enumerate(tasks)
    ]
    temperature = model.config.temperature("BertForMaskedLM")
    stated = Stated.of(judgements.masked_words(model, tokenizer, blocks, WORD_SEED), temperature)
    error = error_aim("masked word", figures[0].measured_on)
    return [*figures, error_figure(error, stated, used(temperature))]


def _right_guesses(model: BertForPreTraining, input_ids: Tensor, masked: MaskedTokens) -> Tensor:
    """Count each row's hidden pieces that are the first guess, and among the first five; (B, 2)."""
    scores = model.scores_at(input_ids.to(model.device), masked.positions.to(model.device))
    hits = scores.topk(5).indices.cpu() == masked.position_labels[..., None]  # (B, P, 5)
    return torch.stack([hits[..., 0].sum(-1), hits.any(-1).sum(-1)], dim=-1)


def everyday_gaps(model: BertForPreTraining, tokenizer: BertTokenizer, data: Path) -> list[Figure]:
    """Measure how often a good word is among the top five for a gap."""
    return [counted(aim("everyday gap, among first five"), filled(model, tokenizer, gaps(), 5))]


@torch.no_grad()
def filled(
    model: BertForPreTraining, tokenizer: BertTokenizer, asked: Sequence[Gap], count: int
) -> Bools:
    """Return (N,) whether a good word is among the first `count` for each gap, ignoring case."""
    right = np.zeros(len(asked), dtype=np.bool_)
    encodings = [tokenizer.encode(gap.sentence) for gap in asked]
    for group, (ids, types, mask) in batches(tokenizer, encodings, model.device):
        places = (ids == tokenizer.vocab["[MASK]"]).long().argmax(-1, keepdim=True)  # (B, 1)
        best = model.scores_at(ids, places, types, mask)[:, 0].topk(count).indices
        for index, guesses in zip(group, best.tolist(), strict=True):
            words = tokenizer.convert_ids_to_tokens(guesses)
            right[index] = not asked[index].good.isdisjoint(word.lower() for word in words)
    return right


@torch.no_grad()
def short_sentences(
    model: BertForPreTraining, tokenizer: BertTokenizer, data: Path
) -> list[Figure]:
    """Hide a word in each short sentence held out; measure right guesses and wrong copies."""
    content = WordTables.from_vocab(tokenizer.vocab).content
    hits: list[tuple[bool, bool, bool]] = []
    asked = [
        (sentence, words[zlib.crc32(repr(sentence).encode()) % len(words)])
        for sentence in kept_back(encoded_texts(data, tuple(KEPT_BACK), tokenizer))
        if (words := _whole_words(sentence, tokenizer))
    ]
    for start in range(0, len(asked), _TOGETHER):
        group = asked[start : start + _TOGETHER]
        for (sentence, place), guess in zip(group, _guesses(model, tokenizer, group), strict=True):
            rest = {*sentence[:place], *sentence[place + 1 :]}
            copied = guess != sentence[place] and guess in rest
            hits.append((guess == sentence[place], copied, copied and content[guess]))
    tasks = ("first guess", "wrongly copied", "content word wrongly copied")
    return [
        counted(aim(f"short sentence, {task}"), [row[place] for row in hits])
        for place, task in enumerate(tasks)
    ]


def _whole_words(sentence: Sentence, tokenizer: BertTokenizer) -> list[int]:
    """Return the positions of one-piece words, without punctuation."""
    pieces = [*tokenizer.convert_ids_to_tokens(list(sentence)), ""]
    return [
        place
        for place, piece in enumerate(pieces[:-1])
        if piece.isalnum() and not pieces[place + 1].startswith("##")
    ]


def _guesses(
    model: BertForPreTraining, tokenizer: BertTokenizer, asked: Sequence[tuple[Sentence, int]]
) -> list[int]:
    """Return the best piece for one hidden position in each sentence."""
    longest = max(len(sentence) for sentence, _ in asked) + 2
    tokens = RowTokens.from_vocab(tokenizer.vocab)
    rows = sentence_rows([sentence for sentence, _ in asked], longest, tokens)
    at = torch.tensor([[place + 1] for _, place in asked])  # (B, 1), after [CLS]
    ids = rows.input_ids.scatter(1, at, tokenizer.mask_token_id)
    inputs = (ids, at, rows.token_type_ids, rows.attention_mask)
    scores = model.scores_at(*(each.to(model.device) for each in inputs))
    found: list[int] = scores[:, 0].argmax(-1).tolist()
    return found


def next_sentences(model: BertForPreTraining, tokenizer: BertTokenizer, data: Path) -> list[Figure]:
    """Measure each kind of pair, and the calibration of those told apart, apart and together."""
    pairs: dict[str, list[LabelledText]] = {}
    for row in json_rows(data / PAIRS):
        pair = LabelledText(row["sentence_a"], row["label"], row["sentence_b"])
        pairs.setdefault(row["kind"], []).append(pair)
    temperature = model.config.temperature("BertForNextSentencePrediction")
    figures, stated = list[Figure](), dict[str, Stated]()
    for kind, rows in pairs.items():
        judged = list(judgements.sentence_pairs(model, tokenizer, rows))
        right = np.concatenate([chunk.right for chunk in judged])
        figures.append(counted(aim(f"next sentence, {kind}"), right))
        if kind != "swapped":
            stated[kind] = Stated.of(judged, temperature)
    groups = {"next sentence": [*stated.values()]} if stated else {}
    groups |= {f"next sentence, {kind}": [each] for kind, each in stated.items()}
    for task, parts in groups.items():
        both = task == "next sentence"
        where = "nsp/eval_pairs" + (f", {' and '.join(stated)}" if both else "")
        error = error_aim(task, where, aimed=both)
        figures.append(error_figure(error, Stated.together(parts), used(temperature)))
    return figures
