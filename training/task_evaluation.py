"""Measure named entities, sentiment and multiple choice; questions have their own module.

Entities are read by `reading.entities`, as on the site, from the first piece of each word. They
are scored as by conlleval: whole spans, with the right kind and both ends right (Tjong Kim Sang
and De Meulder 2003).
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bert_core.bundled.figures import Figure
from bert_core.config import BertConfig
from bert_core.finetuning import TaggedWords
from bert_core.model.heads import (
    BertForMultipleChoice,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.reading.tagging import Stretch, TagScheme
from bert_core.text.tokenizer import BertTokenizer
from training.aims import multiple_choice, names, sentiment
from training.judgements import SCORED, right_share, word_labels
from training.judgements import choices as judged_choices
from training.judgements import texts as judged_texts
from training.rows import TAGS, choices, sentiments, tagged_words
from training.scores import Floats, mean, resampled

ENTITY_FILES = ("ewt-test", "pud")  # together they form ner/test
AIMED_CHOICES = ("nextsentence", "openstax")  # the others are reported without an aim
CHOICE_FILES = (*AIMED_CHOICES, "codah", "copa")
_SENTIMENTS = ("negative", "positive")

# -- named entities ----------------------------------------------------------------------------


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


def sentiment_figures(
    model: BertForSequenceClassification, tokenizer: BertTokenizer, data: Path
) -> list[Figure]:
    """Measure accuracy on SST-2's test sentences, as they are and as a person would type them."""
    rows = sentiments(data, "test")
    return [
        right_share(sentiment(where), judged_texts(model, tokenizer, texts))
        for where, texts in (
            ("SST-2 test", [row.split for row in rows]),
            ("SST-2 test, typed with capitals and punctuation", [row.typed for row in rows]),
        )
    ]


def sentiment_unfit(config: BertConfig) -> str:
    """Return why a model's classes are not sentiments; "" if they are."""
    said = list(TagScheme.of(config).names)
    if {name.lower() for name in said} == set(_SENTIMENTS) or said == ["LABEL_0", "LABEL_1"]:
        return ""
    return f"its classes are {', '.join(said[:4])}, not negative and positive"


# -- multiple choice ---------------------------------------------------------------------------


def choice_figures(
    model: BertForMultipleChoice, tokenizer: BertTokenizer, data: Path, name: str
) -> list[Figure]:
    """Measure one multiple-choice file; chance is the mean over rows of one in so many choices."""
    rows = choices(data, [f"{name}_test"])
    chance = mean(np.array([1 / len(row.choices) for row in rows]))
    aim = multiple_choice(name, chance, aimed=name in AIMED_CHOICES)
    return [right_share(aim, judged_choices(model, tokenizer, rows))]
