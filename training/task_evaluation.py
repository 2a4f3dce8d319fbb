"""Measure named entities, sentiment and multiple choice; questions have their own module.

Entities are read by `reading.entities`, as on the site, from the first piece of each word. They
are scored as by conlleval: whole spans, with the right kind and both ends right (Tjong Kim Sang
and De Meulder 2003).
"""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from bert_core.bundled.figures import Figure
from bert_core.config import BertConfig
from bert_core.finetuning import Choices, TaggedWords, choice_batch
from bert_core.model.heads import (
    BertForMultipleChoice,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.reading.entities import TaggedText, read_texts
from bert_core.reading.running import Runner, batches, by_length
from bert_core.reading.tagging import Stretch, TagScheme
from bert_core.text.tokenizer import BertTokenizer
from training.aims import multiple_choice, names, sentiment
from training.rows import TAGS, choices, sentiments, tagged_words
from training.scores import Floats, Ints, Remembered, counted, mean, resampled

ENTITY_FILES = ("ewt-test", "pud")  # together they form ner/test
SCORED = ("PER", "LOC", "ORG")
AIMED_CHOICES = ("nextsentence", "openstax")  # the others are reported without an aim
CHOICE_FILES = (*AIMED_CHOICES, "codah", "copa")
_SENTIMENTS = ("negative", "positive")

# -- named entities ----------------------------------------------------------------------------


_LABELLED: Remembered[TaggedWords, tuple[Floats, Ints]] = Remembered()


def word_labels(
    model: BertForTokenClassification, tokenizer: BertTokenizer, rows: Sequence[TaggedWords]
) -> list[tuple[Floats, Ints]]:
    """Predict labels for the tagged words of each row, as the site does.

    Words without pieces, and words that are not to be learnt, are left out.

    Returns:
        For each row, the probabilities (W, C) of the first piece of its words and their tags (W,).
    """

    def read(new: Sequence[TaggedWords]) -> list[tuple[Floats, Ints]]:
        texts = [" ".join(row.words) for row in new]
        labelled = read_texts(Runner.of(model, tokenizer), texts)
        return [_first_pieces(*each) for each in zip(new, labelled, strict=True)]

    return _LABELLED.answers(model, rows, read)


def _first_pieces(row: TaggedWords, labelled: TaggedText) -> tuple[Floats, Ints]:
    ends = itertools.accumulate(len(word) + 1 for word in row.words)  # one space after each
    places = [(end - 1 - len(word), end - 1) for word, end in zip(row.words, ends, strict=True)]
    pieces, tags = labelled.first_pieces(places), np.array(row.tags, dtype=np.int64)
    kept = (pieces >= 0) & (tags >= 0)
    return labelled.probabilities[pieces[kept]], tags[kept]


def entity_counts(
    model: BertForTokenClassification, tokenizer: BertTokenizer, rows: Sequence[TaggedWords]
) -> Floats:
    """Return (N, 3): right, found and expected spans of the scored kinds in each sentence."""
    said, wanted = TagScheme.of(model.config), TagScheme(TAGS)
    counts = np.zeros((len(rows), 3))
    for index, (probabilities, tags) in enumerate(word_labels(model, tokenizer, rows)):
        found = _scored(said, probabilities.argmax(axis=1).tolist())
        true = _scored(wanted, tags.tolist())
        counts[index] = len(found & true), len(found), len(true)
    return counts


def _scored(scheme: TagScheme, labels: Sequence[int]) -> set[Stretch]:
    return {stretch for stretch in scheme.stretches(labels) if stretch.kind in SCORED}


def entity_figures(
    model: BertForTokenClassification, tokenizer: BertTokenizer, data: Path
) -> list[Figure]:
    """Measure span F1 of persons, places and organisations, overall and for each source."""
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
    """Return the F1 of the spans of all sentences; 1 if there are none and none was found."""
    right, found, wanted = counts.sum(0)
    return float(2 * right / (found + wanted)) if found + wanted else 1.0


def tags_unfit(config: BertConfig) -> str:
    """Return why a model's labels cannot be scored; "" if they can."""
    kinds = TagScheme.of(config).kinds
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
    """Return the index of the label "positive", or the second if none has that name."""
    said = [name.lower() for name in TagScheme.of(config).names]
    return said.index(_SENTIMENTS[1]) if _SENTIMENTS[1] in said else 1


def sentiment_unfit(config: BertConfig) -> str:
    """Return why a model's classes are not sentiments; "" if they are."""
    said = list(TagScheme.of(config).names)
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
    """Score the choices of every row, batching rows of equal number and similar length."""
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
    """Measure one multiple-choice file; chance is the mean over rows of one in so many choices."""
    rows = choices(data, [f"{name}_test"])
    scored = zip(rows, choice_scores(model, tokenizer, rows), strict=True)
    right = sum(int(scores.argmax()) == row.label for row, scores in scored)
    chance = mean(np.array([1 / len(row.choices) for row in rows]))
    aim = multiple_choice(name, chance, aimed=name in AIMED_CHOICES)
    return [counted(aim, right, len(rows))]
