"""Measure a model on evaluation files: masked words, next sentence, everyday gaps.

Every figure comes with its number of cases and a 95 % interval (Wilson 1927), because a model card
without them invites reading too much into a digit.
"""

import json
import lzma
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from bert_core.errors import InputError, MissingFileError
from bert_core.heads import BertForPreTraining
from bert_core.pretraining import (
    MaskingVocabulary,
    RowTokens,
    mask_tokens,
    pack_blocks,
    pair_rows,
)
from bert_core.tokenizer import BertTokenizer
from training.corpus import plain_ids, read_documents
from training.gaps import GAPS, Gap
from training.scores import Score

WORD_SEED = 1234
WORD_RATE = 0.15
BLOCK_LENGTH = 128
BATCH = 32


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured share.

    Attributes:
        task: what was asked.
        measured_on: which data.
        right: number of cases that were right.
        cases: number of cases.
    """

    task: str
    measured_on: str
    right: int
    cases: int

    @property
    def share(self) -> float:
        """The share of right cases, 0 to 1."""
        return self.right / self.cases

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share."""
        return wilson(self.right, self.cases)


def wilson(right: int, cases: int, z: float = 1.96) -> tuple[float, float]:
    """Return the score interval of a share (Wilson 1927).

    >>> [round(end, 3) for end in wilson(90, 100)]
    [0.826, 0.945]
    """
    if cases < 1:
        raise InputError("There are no cases to measure; check the evaluation file.")
    share, square = right / cases, z * z
    centre = (share + square / (2 * cases)) / (1 + square / cases)
    spread = math.sqrt(share * (1 - share) / cases + square / (4 * cases**2))
    half = z * spread / (1 + square / cases)
    return max(0.0, centre - half), min(1.0, centre + half)


def evaluate(name_or_folder: str | Path, data: Path, device: str = "cpu") -> list[Figure]:
    """Measure a model on everything this recipe has evaluation files for.

    Args:
        name_or_folder: a bundled name or a folder with weights and vocabulary.
        data: the data folder.
        device: "cpu" or "cuda".
    """
    model = BertForPreTraining.from_pretrained(name_or_folder).to(device)
    tokenizer = BertTokenizer.from_pretrained(name_or_folder)
    texts = sorted((data / "text").glob("wikitext2-valid-test.txt*"))
    pairs = sorted((data / "nsp").glob("eval_pairs.jsonl*"))
    figures: list[Figure] = []
    if texts:
        figures += masked_words(model, tokenizer, texts[0])
    if pairs:
        figures += next_sentences(model, tokenizer, pairs[0])
    if not figures:
        raise MissingFileError(
            f"There are no evaluation files in {data}; expected text/wikitext2-valid-test.txt.xz "
            "or nsp/eval_pairs.jsonl.xz."
        )
    return [*figures, everyday_gaps(model, tokenizer)]


@torch.no_grad()
def masked_words(model: BertForPreTraining, tokenizer: BertTokenizer, path: Path) -> list[Figure]:
    """Measure top-1 and top-5 of masked words in running text: 15 % corrupted, fixed seed."""
    tokens = RowTokens.from_vocab(tokenizer.vocab)
    documents = (
        [index for row in plain_ids(tokenizer, document) for index in row]
        for document in read_documents(path)
    )
    blocks = pack_blocks(documents, BLOCK_LENGTH, tokens)
    full = [block for block in blocks if len(block) == BLOCK_LENGTH] or blocks[:1]
    masking = MaskingVocabulary.from_vocab(tokenizer.vocab)
    generator = torch.Generator().manual_seed(WORD_SEED)
    first = among_five = cases = 0
    for rows in _batches(full, BATCH):
        masked = mask_tokens(torch.tensor(rows), masking, rate=WORD_RATE, generator=generator)
        labels = masked.position_labels.to(model.device)
        scores = model.scores_at(
            masked.input_ids.to(model.device), masked.positions.to(model.device)
        )
        hits = scores.topk(5).indices == labels[..., None]  # (B, P, 5)
        first += int(hits[..., 0].sum())
        among_five += int(hits.any(-1).sum())
        cases += int((labels >= 0).sum())
    where = "WikiText-2, valid and test"
    return [
        Figure("masked word, first guess", where, first, cases),
        Figure("masked word, among first five", where, among_five, cases),
    ]


@torch.no_grad()
def next_sentences(model: BertForPreTraining, tokenizer: BertTokenizer, path: Path) -> list[Figure]:
    """Measure next-sentence accuracy for each kind of pair apart."""
    tokens = RowTokens.from_vocab(tokenizer.vocab)
    right: dict[str, int] = {}
    cases: dict[str, int] = {}
    for rows in _batches(list(read_json_lines(path)), BATCH):
        first = plain_ids(tokenizer, [row["sentence_a"] for row in rows])
        second = plain_ids(tokenizer, [row["sentence_b"] for row in rows])
        inputs = pair_rows(
            list(zip(first, second, strict=True)), model.config.max_position_embeddings, tokens
        )
        scores = model.run(
            inputs.input_ids.to(model.device),
            inputs.token_type_ids.to(model.device),
            inputs.attention_mask.to(model.device),
            attentions=False,
            hidden_states=False,
            logits=False,
        )
        guesses = model.cls.seq_relationship(scores.pooler_output).argmax(-1).tolist()
        for row, guess in zip(rows, guesses, strict=True):
            cases[row["kind"]] = cases.get(row["kind"], 0) + 1
            right[row["kind"]] = right.get(row["kind"], 0) + int(guess == row["label"])
    where = "nsp/eval_pairs"
    return [Figure(f"next sentence, {kind}", where, right[kind], cases[kind]) for kind in cases]


@torch.no_grad()
def gap_words(
    model: BertForPreTraining, tokenizer: BertTokenizer, gaps: Sequence[Gap] = GAPS
) -> list[list[str]]:
    """Return the first five words for each gap."""
    answers = []
    for gap in gaps:
        ids = torch.tensor([tokenizer.encode(gap.sentence).input_ids], device=model.device)
        position = (ids == tokenizer.vocab["[MASK]"]).nonzero()[:1, 1:]
        scores = model.scores_at(ids, position)[0, 0]
        answers.append(tokenizer.convert_ids_to_tokens(scores.topk(5).indices.tolist()))
    return answers


def everyday_gaps(model: BertForPreTraining, tokenizer: BertTokenizer) -> Figure:
    """Measure how often a good word is among the first five for a gap."""
    answers = gap_words(model, tokenizer)
    right = sum(bool(g.good.intersection(words)) for g, words in zip(GAPS, answers, strict=True))
    return Figure("everyday gap, among first five", "own sentences", right, len(GAPS))


def gap_answers(name_or_folder: str | Path) -> list[tuple[Gap, list[str]]]:
    """Return every gap with the first five words of a model."""
    model = BertForPreTraining.from_pretrained(name_or_folder)
    tokenizer = BertTokenizer.from_pretrained(name_or_folder)
    return list(zip(GAPS, gap_words(model, tokenizer), strict=True))


def table(figures: Iterable[Figure | Score]) -> str:
    """Write figures as the Markdown table of the model card.

    >>> print(table([Figure("a task", "a file", 9, 10)]))
    | task | measured on | cases | result | 95 % interval |
    |---|---|---:|---:|---|
    | a task | a file | 10 | 90.0 % | 59.6–98.2 % |
    """
    lines = [
        "| task | measured on | cases | result | 95 % interval |",
        "|---|---|---:|---:|---|",
    ]
    for figure in figures:
        low, high = figure.interval
        lines.append(
            f"| {figure.task} | {figure.measured_on} | {figure.cases:,} | "
            f"{100 * figure.share:.1f} % | {100 * low:.1f}–{100 * high:.1f} % |"
        )
    return "\n".join(lines)


def read_json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON-lines file, plain or xz."""
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            if line.strip():
                yield json.loads(line)


def _batches(rows: Sequence[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(rows), size):
        yield list(rows[start : start + size])
