"""Measure named entities, sentiment and multiple choice; questions have a module of their own.

Entities are read from labels as the site reads them, by `reading.tagging` from the first piece of
each word. They count as conlleval counts them: whole spans, kind and both ends right (Tjong Kim
Sang and De Meulder 2003).
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from bert_core.bundled.figures import Figure
from bert_core.config import BertConfig
from bert_core.finetuning import Choices, TaggedWords, choice_batch, word_batch
from bert_core.model.heads import (
    BertForMultipleChoice,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.reading.running import batches, by_length
from bert_core.reading.tagging import Stretch, TagScheme
from bert_core.text.tokenizer import BertTokenizer
from training.aims import multiple_choice, names, sentiment
from training.rows import TAGS, choices, sentiments, tagged_words
from training.scores import Floats, Remembered, counted, mean, resampled

ENTITY_FILES = ("ewt-test", "pud")  # together they are ner/test
SCORED = ("PER", "LOC", "ORG")
AIMED_CHOICES = ("nextsentence", "openstax")  # the others are reported
CHOICE_FILES = (*AIMED_CHOICES, "codah", "copa")
_SENTIMENTS = ("negative", "positive")

# -- named entities ----------------------------------------------------------------------------


def label_names(config: BertConfig) -> list[str]:
    """Return the names of a model's labels in the order of its logits."""
    return [config.label_name(number) for number in range(config.num_labels)]


@torch.no_grad()
def entity_counts(
    model: BertForTokenClassification, tokenizer: BertTokenizer, rows: Sequence[TaggedWords]
) -> Floats:
    """Return (N, 3): right, found and wanted spans of the scored kinds in each sentence."""
    said, wanted = TagScheme(label_names(model.config)), TagScheme(TAGS)
    room = model.config.max_position_embeddings
    pieces = tokenizer.encode_ids([" ".join(row.words) for row in rows])
    counts = np.zeros((len(rows), 3))
    for group in _one_input_each([len(ids) for ids in pieces], room, model.device):
        batch = word_batch(tokenizer, [rows[index] for index in group], max_length=room)
        outputs = model.run(
            batch["input_ids"].to(model.device),
            attention_mask=batch["attention_mask"].to(model.device),
            attentions=False,
            hidden_states=False,
        )
        assert outputs.logits is not None
        guesses, labels = outputs.logits.argmax(-1).cpu(), batch["labels"]
        if len(group) == 1:  # a long sentence may be several inputs
            guesses, labels = guesses.view(1, -1), labels.view(1, -1)
        for index, guess, truth in zip(group, guesses, labels, strict=True):
            kept = truth >= 0
            found = _scored(said, guess[kept].tolist())
            true = _scored(wanted, truth[kept].tolist())
            counts[index] = len(found & true), len(found), len(true)
    return counts


def _one_input_each(lengths: Sequence[int], room: int, device: torch.device) -> list[list[int]]:
    """Group sentences of like length; those longer than an input stand alone."""
    short = [index for index, length in enumerate(lengths) if length <= room]
    groups = by_length([lengths[index] for index in short], device)
    alone = [[index] for index, length in enumerate(lengths) if length > room]
    return [[short[place] for place in group] for group in groups] + alone


def _scored(scheme: TagScheme, labels: Sequence[int]) -> set[Stretch]:
    return {stretch for stretch in scheme.stretches(labels) if stretch.kind in SCORED}


def entity_figures(
    model: BertForTokenClassification, tokenizer: BertTokenizer, data: Path
) -> list[Figure]:
    """Measure span F1 of persons, places and organisations, together and for each source."""
    each = {
        f"{name} alone": entity_counts(model, tokenizer, tagged_words(data, [name]))
        for name in ENTITY_FILES
    }
    together = {"ner/test": np.concatenate(list(each.values()))}
    return [
        resampled(names(where), counts, span_f1, cases=int(counts[:, 2].sum()))
        for where, counts in (together | each).items()
    ]


def span_f1(counts: Floats) -> float:
    """Return the F1 of all sentences' spans; 1 where there are none and none was found."""
    right, found, wanted = counts.sum(0)
    return float(2 * right / (found + wanted)) if found + wanted else 1.0


def tags_unfit(config: BertConfig) -> str:
    """Say why a model's labels cannot be scored; "" where they can."""
    kinds = TagScheme(label_names(config)).kinds
    if set(SCORED) & set(kinds):
        return ""
    return f"its labels know none of {', '.join(SCORED)}"


# -- sentiment ---------------------------------------------------------------------------------


@torch.no_grad()
def sentiment_figures(
    model: BertForSequenceClassification, tokenizer: BertTokenizer, data: Path
) -> list[Figure]:
    """Measure accuracy on SST-2's test sentences, as they are and as a person would type them."""
    rows = sentiments(data, "test")
    positive = _positive(model.config)
    found = []
    for where, texts in (
        ("SST-2 test", [row.split.text for row in rows]),
        ("SST-2 test, typed with capitals and punctuation", [row.typed.text for row in rows]),
    ):
        encodings = tokenizer.encode_batch(texts, max_length=model.config.max_position_embeddings)
        right = 0
        for group, inputs in batches(tokenizer, encodings, model.device):
            outputs = model.run(*inputs, attentions=False, hidden_states=False)
            assert outputs.logits is not None
            guesses = (outputs.logits.argmax(-1) == positive).tolist()
            right += sum(
                guess == bool(rows[index].split.label)
                for index, guess in zip(group, guesses, strict=True)
            )
        found.append(counted(sentiment(where), right, len(rows)))
    return found


def _positive(config: BertConfig) -> int:
    """Return the label that means "positive": the one so named, else the second."""
    said = [name.lower() for name in label_names(config)]
    return said.index(_SENTIMENTS[1]) if _SENTIMENTS[1] in said else 1


def sentiment_unfit(config: BertConfig) -> str:
    """Say why a model's classes are no sentiments; "" where they are."""
    said = label_names(config)
    if {name.lower() for name in said} == set(_SENTIMENTS) or said == ["LABEL_0", "LABEL_1"]:
        return ""
    return f"its classes are {', '.join(said[:4])}, not negative and positive"


# -- multiple choice ---------------------------------------------------------------------------


_CHOSEN: Remembered[Choices, Floats] = Remembered()


def choice_scores(
    model: BertForMultipleChoice, tokenizer: BertTokenizer, rows: Sequence[Choices]
) -> list[Floats]:
    """Return the score of every choice of each row, (C,)."""
    return _CHOSEN.answers(model, rows, lambda new: _scores_of_all(model, tokenizer, new))


@torch.no_grad()
def _scores_of_all(
    model: BertForMultipleChoice, tokenizer: BertTokenizer, rows: Sequence[Choices]
) -> list[Floats]:
    """Score the choices of every row, those with as many choices and of like length together."""
    found: list[Floats] = [np.zeros(0)] * len(rows)
    longest = model.config.max_position_embeddings
    for count in sorted({len(row.choices) for row in rows}):
        places = [index for index, row in enumerate(rows) if len(row.choices) == count]
        contexts = tokenizer.encode_ids([rows[index].context for index in places])
        widest = [
            len(context) + max(map(len, tokenizer.encode_ids(rows[index].choices)))
            for index, context in zip(places, contexts, strict=True)
        ]
        for group in by_length(widest, model.device, each=count):
            batch = choice_batch(
                tokenizer, [rows[places[place]] for place in group], max_length=longest
            )
            inputs = {
                name: value.to(model.device) for name, value in batch.items() if name != "labels"
            }
            outputs = model.run(**inputs, attentions=False, hidden_states=False)
            assert outputs.logits is not None
            for place, scores in zip(group, outputs.logits.double().cpu(), strict=True):
                found[places[place]] = scores.numpy()
    return found


def choice_figures(
    model: BertForMultipleChoice, tokenizer: BertTokenizer, data: Path, name: str
) -> list[Figure]:
    """Measure one file of multiple choice beside chance, the mean of one in so many choices."""
    rows = choices(data, [f"{name}_test"])
    scored = zip(rows, choice_scores(model, tokenizer, rows), strict=True)
    right = sum(int(scores.argmax()) == row.label for row, scores in scored)
    chance = mean(np.array([1 / len(row.choices) for row in rows]))
    aim = multiple_choice(name, chance, aimed=name in AIMED_CHOICES)
    return [counted(aim, right, len(rows))]
