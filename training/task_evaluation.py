"""Measure every task head of a model; questions have a module of their own.

Entities follow conlleval: whole spans, kind and both ends right (Tjong Kim Sang and De Meulder
2003). Intervals come from resampling the cases.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from bert_core.finetuning import TaggedWords, word_batch
from bert_core.heads import (
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.model import BertPreTrainedModel
from bert_core.tokenizer import BertTokenizer
from training.question_evaluation import question_scores
from training.rows import TAGS, sentiments, tagged_words
from training.scores import BATCH, Score, mean, rectangle, score

ENTITY_FILES = ("ewt-test", "pud")  # together they are ner/test
SCORED = ("PER", "LOC", "ORG")
Span = tuple[str, int, int]
M = TypeVar("M", bound=BertPreTrainedModel)


def evaluate_tasks(name_or_folder: str | Path, data: Path, device: str = "cpu") -> list[Score]:
    """Measure every task head that a model has and the data folder has files for."""
    tokenizer = BertTokenizer.from_pretrained(name_or_folder)
    found: list[Score] = []
    questions = _trained(BertForQuestionAnswering, name_or_folder, device)
    if questions is not None and _exists(data / "qa", "eval_xquad_en.jsonl"):
        found += question_scores(questions, tokenizer, data)
    tagger = _trained(BertForTokenClassification, name_or_folder, device)
    if tagger is not None and _exists(data / "ner" / "by-source", f"{ENTITY_FILES[0]}.conll"):
        found += entity_scores(tagger, tokenizer, data)
    judge = _trained(BertForSequenceClassification, name_or_folder, device)
    if judge is not None and _exists(data / "sst2", "test.tsv"):
        found += sentiment_scores(judge, tokenizer, data)
    return found


def _trained(cls: type[M], name_or_folder: str | Path, device: str) -> M | None:
    """Load a model as `cls`, or return None where its head was never trained."""
    model = cls.from_pretrained(name_or_folder)
    if model.load_report is not None and model.load_report.missing:
        return None
    return model.to(device)


def _exists(folder: Path, name: str) -> bool:
    return (folder / name).is_file() or (folder / f"{name}.xz").is_file()


def spans(tags: Sequence[str]) -> set[Span]:
    """Return the entities of a tag sequence as (kind, first word, last word + 1).

    An I- that follows nothing of its kind begins an entity, as in conlleval.

    >>> sorted(spans(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"]))
    [('LOC', 3, 4), ('LOC', 4, 5), ('PER', 0, 2)]
    """
    found: set[Span] = set()
    kind, first = "", 0
    for place, tag in enumerate([*tags, "O"]):
        mark, _, name = tag.partition("-")
        if kind and (mark != "I" or name != kind):
            found.add((kind, first, place))
            kind = ""
        if mark == "B" or (mark == "I" and not kind):
            kind, first = name, place
    return found


@torch.no_grad()
def entity_counts(
    model: BertForTokenClassification, tokenizer: BertTokenizer, rows: Sequence[TaggedWords]
) -> NDArray[np.float64]:
    """Return (N, 3): right, found and wanted spans of the scored kinds in each sentence."""
    labels = [model.config.id2label[number] for number in range(len(model.config.id2label))]
    counts = np.zeros((len(rows), 3))
    for number, row in enumerate(rows):
        batch = word_batch(tokenizer, [row], max_length=model.config.max_position_embeddings)
        kept = batch["labels"] >= 0
        outputs = model.run(
            batch["input_ids"].to(model.device),
            attention_mask=batch["attention_mask"].to(model.device),
            attentions=False,
            hidden_states=False,
        )
        assert outputs.logits is not None
        guesses = outputs.logits.argmax(-1).cpu()[kept].tolist()
        found = {s for s in spans([labels[guess] for guess in guesses]) if s[0] in SCORED}
        truth = batch["labels"][kept].tolist()
        wanted = {s for s in spans([TAGS[tag] for tag in truth]) if s[0] in SCORED}
        counts[number] = len(found & wanted), len(found), len(wanted)
    return counts


def entity_scores(
    model: BertForTokenClassification, tokenizer: BertTokenizer, data: Path
) -> list[Score]:
    """Measure span F1 of persons, places and organisations, together and for each source."""
    both = []
    for name in ENTITY_FILES:
        rows = tagged_words(data, [name])
        both.append((name, entity_counts(model, tokenizer, rows)))
    together = np.concatenate([counts for _, counts in both])
    found = [_entity_score("ner/test", together)]
    return found + [_entity_score(f"{name} alone", counts) for name, counts in both]


def _entity_score(where: str, counts: NDArray[np.float64]) -> Score:
    return score(
        "named entities (PER, LOC, ORG), F1", where, counts, _span_f1, int(counts[:, 2].sum())
    )


def _span_f1(counts: NDArray[np.float64]) -> float:
    right, found, wanted = counts.sum(0)
    return float(2 * right / (found + wanted)) if found + wanted else 1.0


@torch.no_grad()
def sentiment_scores(
    model: BertForSequenceClassification, tokenizer: BertTokenizer, data: Path
) -> list[Score]:
    """Measure accuracy on SST-2's test sentences, as they are and as a person would type them."""
    rows = sentiments(data, "test")
    found = []
    for where, texts in (
        ("SST-2 test", [row.split.text for row in rows]),
        ("SST-2 test, typed with capitals and punctuation", [row.typed.text for row in rows]),
    ):
        right: list[float] = []
        for first in range(0, len(texts), BATCH):
            encodings = tokenizer.encode_batch(texts[first : first + BATCH], max_length=512)
            outputs = model.run(
                *rectangle(encodings, model.device), attentions=False, hidden_states=False
            )
            assert outputs.logits is not None
            guesses = outputs.logits.argmax(-1).tolist()
            right += [
                float(guess == row.split.label)
                for guess, row in zip(guesses, rows[first:], strict=False)
            ]
        found.append(score("sentiment", where, np.array(right), mean))
    return found
