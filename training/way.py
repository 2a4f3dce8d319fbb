"""Measure the progress of a long training as a curve; nothing is selected by it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from bert_core.bundled.figures import Figure
from bert_core.model.heads import (
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.text.tokenizer import BertTokenizer
from training.famous import FAMOUS
from training.gaps import GAPS, Gap
from training.judgements import masked_batches
from training.pretraining_evaluation import (
    RUNNING_TEXT,
    WORD_SEED,
    gap_words,
    next_sentences,
    right_guesses,
    running_text,
)
from training.question_evaluation import question_figures
from training.rows import is_there
from training.short_evaluation import Facts, relation_hits, right_gaps, unseen_counts
from training.task_evaluation import entity_figures, sentiment_figures
from training.task_model import TaskModel
from training.unseen import Sentence

_Measure = Callable[[Any, BertTokenizer, Path], list[Figure]]
BLOCKS = 160  # blocks of running text: about 3,000 hidden pieces


@torch.no_grad()
def measure_way(
    model: BertForPreTraining,
    tokenizer: BertTokenizer,
    data: Path,
    kept: Sequence[Sentence],
    facts: Facts,
) -> dict[str, float]:
    """Return the figures of the pretraining heads in percent, by name.

    Args:
        model: the model, in evaluation mode.
        tokenizer: its tokenizer.
        data: the data folder.
        kept: short sentences held out from training.
        facts: sentences about subjects held out from the templates, by relation.
    """
    found = {
        **_filled("famous", model, tokenizer, FAMOUS),
        **_filled("everyday", model, tokenizer, GAPS),
        **_unseen(model, tokenizer, kept),
        **_relations(model, tokenizer, facts),
        **_running_text(model, tokenizer, data),
    }
    if is_there(data / "nsp" / "eval_pairs.jsonl"):
        for figure in next_sentences(model, tokenizer, data):
            found[figure.task] = 100 * figure.share
    return {name: round(value, 2) for name, value in found.items()}


@torch.no_grad()
def measure_tasks(model: TaskModel, tokenizer: BertTokenizer, data: Path) -> dict[str, float]:
    """Return the figures of the tasks in percent, by name; see `measure_way`."""
    figures: list[Figure] = []
    measures: tuple[tuple[type[BertPreTrainedModel], str, _Measure], ...] = (
        (BertForQuestionAnswering, "qa/eval_xquad_en.jsonl", question_figures),
        (BertForTokenClassification, "ner/by-source/pud.conll", entity_figures),
        (BertForSequenceClassification, "sst2/test.tsv", sentiment_figures),
    )
    for cls, file, figures_of in measures:
        if is_there(data / file):
            figures += figures_of(model.products[cls], tokenizer, data)
    return {
        f"{figure.task}, {figure.measured_on}": round(100 * figure.share, 2) for figure in figures
    }


def _filled(
    name: str, model: BertForPreTraining, tokenizer: BertTokenizer, gaps: Sequence[Gap]
) -> dict[str, float]:
    """Return how often a good word is the first guess and among the first five."""
    answers, share = gap_words(model, tokenizer, gaps), 100 / len(gaps)
    return {
        f"{name} first": share * right_gaps(gaps, answers, 1),
        f"{name} five": share * right_gaps(gaps, answers, 5),
    }


def _unseen(
    model: BertForPreTraining, tokenizer: BertTokenizer, sentences: Sequence[Sentence]
) -> dict[str, float]:
    found = unseen_counts(model, tokenizer, sentences)
    share = 100 / max(1, found.cases)
    return {
        "unseen first": share * found.first,
        "unseen five": share * found.five,
        "unseen wrong copies": share * found.copied,
        "unseen wrong copies of content words": share * found.copied_content,
    }


def _relations(
    model: BertForPreTraining, tokenizer: BertTokenizer, facts: Facts
) -> dict[str, float]:
    """Measure each relation and their mean."""
    found = {
        f"relation {name}": 100 * float(hits[:, 0].sum() / hits[:, 1].sum())
        for name, hits in relation_hits(model, tokenizer, facts).items()
    }
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
            hits[way] += right_guesses(model, ids, masked).sum(0)
    (first, five), (first_hidden, five_hidden) = (100 * hits / max(1, cases)).tolist()
    return {
        "running text first": first,
        "running text five": five,
        "running text, all hidden, first": first_hidden,
        "running text, all hidden, five": five_hidden,
    }
