"""Measure the pretraining heads: masked words, next sentence, everyday gaps."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from bert_core.bundled.figures import Figure
from bert_core.finetuning import LabelledText
from bert_core.model.heads import BertForPreTraining
from bert_core.pretraining import MaskedTokens, RowTokens, pack_blocks
from bert_core.reading.running import batches
from bert_core.text.tokenizer import BertTokenizer
from training.aims import FIRST_FIVE, FIRST_GUESS, HIDDEN_FIRST, HIDDEN_FIVE, next_sentence
from training.aims import GAPS as GAPS_AIM
from training.corpus import plain_ids, read_documents
from training.gaps import GAPS, Gap
from training.judgements import masked_batches, right_share, sentence_pairs
from training.rows import json_rows
from training.scores import counted, resampled, share

RUNNING_TEXT = "text/wikitext2-valid-test.txt"
WORD_SEED = 1234
BLOCK_LENGTH = 128
BATCH = 32  # blocks; changing it changes what the fixed seed draws


@torch.no_grad()
def masked_words(model: BertForPreTraining, tokenizer: BertTokenizer, data: Path) -> list[Figure]:
    """Measure top-1 and top-5 of masked words in running text: 15 % chosen, fixed seed.

    Once corrupted as in training, where some of the chosen words are still to be seen, and once
    with every one of them as [MASK], which is what visitors type. Words of one block are guessed
    from each other, so the intervals resample blocks.
    """
    blocks = running_text(model, tokenizer, data / RUNNING_TEXT)
    found = []
    for rows, masked in masked_batches(tokenizer, blocks, BATCH, WORD_SEED):
        hidden = torch.where(masked.labels >= 0, tokenizer.mask_token_id, rows)
        hits = [right_guesses(model, ids, masked) for ids in (masked.input_ids, hidden)]
        asked = (masked.position_labels >= 0).sum(-1, keepdim=True)
        found.append(torch.cat([*hits, asked], dim=-1))  # (B, 5)
    counts = torch.cat(found).double().numpy()
    aims = (FIRST_GUESS, FIRST_FIVE, HIDDEN_FIRST, HIDDEN_FIVE)
    return [
        resampled(aim, counts[:, [way, -1]], share, cases=int(counts[:, -1].sum()))
        for way, aim in enumerate(aims)
    ]


def running_text(
    model: BertForPreTraining, tokenizer: BertTokenizer, path: Path
) -> list[list[int]]:
    """Pack a text, plain or compressed, into blocks of one length."""
    length = min(BLOCK_LENGTH, model.config.max_position_embeddings)
    documents = (
        [index for row in plain_ids(tokenizer, document) for index in row]
        for document in read_documents(path)
    )
    blocks = pack_blocks(documents, length, RowTokens.from_vocab(tokenizer.vocab))
    return [block for block in blocks if len(block) == length] or blocks[:1]


def right_guesses(model: BertForPreTraining, input_ids: Tensor, masked: MaskedTokens) -> Tensor:
    """Count each row's hidden pieces that are the first guess, and among the first five; (B, 2)."""
    scores = model.scores_at(input_ids.to(model.device), masked.positions.to(model.device))
    hits = scores.topk(5).indices.cpu() == masked.position_labels[..., None]  # (B, P, 5)
    return torch.stack([hits[..., 0].sum(-1), hits.any(-1).sum(-1)], dim=-1)


def next_sentences(model: BertForPreTraining, tokenizer: BertTokenizer, data: Path) -> list[Figure]:
    """Measure next-sentence accuracy separately for each kind of pair."""
    kinds = pairs_by_kind(data).items()
    return [
        right_share(next_sentence(kind), sentence_pairs(model, tokenizer, rows))
        for kind, rows in kinds
    ]


def pairs_by_kind(data: Path) -> dict[str, list[LabelledText]]:
    """Read the evaluation pairs."""
    pairs: dict[str, list[LabelledText]] = {}
    for row in json_rows(data / "nsp" / "eval_pairs.jsonl"):
        pair = LabelledText(row["sentence_a"], row["label"], row["sentence_b"])
        pairs.setdefault(row["kind"], []).append(pair)
    return pairs


@torch.no_grad()
def gap_words(
    model: BertForPreTraining, tokenizer: BertTokenizer, gaps: Sequence[Gap] = GAPS
) -> list[list[str]]:
    """Return the top five words for each gap."""
    answers: list[list[str]] = [[] for _ in gaps]
    encodings = [tokenizer.encode(gap.sentence) for gap in gaps]
    for group, (ids, types, mask) in batches(tokenizer, encodings, model.device):
        places = (ids == tokenizer.vocab["[MASK]"]).long().argmax(-1, keepdim=True)  # (B, 1)
        best = model.scores_at(ids, places, types, mask)[:, 0].topk(5).indices
        for index, five in zip(group, best.tolist(), strict=True):
            answers[index] = tokenizer.convert_ids_to_tokens(five)
    return answers


def everyday_gaps(model: BertForPreTraining, tokenizer: BertTokenizer) -> Figure:
    """Measure how often a good word is among the top five for a gap."""
    answers = gap_words(model, tokenizer)
    right = sum(fills(gap, words) for gap, words in zip(GAPS, answers, strict=True))
    return counted(GAPS_AIM, right, len(GAPS))


def fills(gap: Gap, words: Sequence[str]) -> bool:
    """Return whether a good word is among these, ignoring case."""
    return not gap.good.isdisjoint(word.lower() for word in words)


def gap_answers(name_or_folder: str | Path) -> list[tuple[Gap, list[str]]]:
    """Return every gap with the top five words of a model."""
    model = BertForPreTraining.from_pretrained(name_or_folder)
    tokenizer = BertTokenizer.from_pretrained(name_or_folder)
    return list(zip(GAPS, gap_words(model, tokenizer), strict=True))
