"""Measure any model on everything the recipe has evaluation files for: twelve sets.

Whatever cannot be measured, because a head was never trained, its labels mean something else or a
file is missing, is skipped and reported.
"""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch

from bert_core.bundled.figures import Figure
from bert_core.bundled.leanings import Bias
from bert_core.config import BertConfig
from bert_core.errors import InputError, MissingFileError
from bert_core.model.heads import (
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.text.tokenizer import BertTokenizer
from training import evaluation_tasks as tasks
from training import evaluation_words as words
from training.bias import bias_figures, bias_unfit, measure_bias
from training.calibration import trained
from training.rows import is_there
from training.unseen import KEPT_BACK

Say = Callable[[str], None]
_WORDS, _SENTENCES = "cls.predictions", "cls.seq_relationship"


@dataclass(frozen=True, slots=True)
class Measured:
    """The results of measuring a model."""

    figures: Annotated[tuple[Figure, ...], "all figures, in table order"]
    bias: Annotated[Bias | None, "about occupations; None if the model cannot fill gaps"]
    missing: Annotated[tuple[str, ...], "what was not measured, with reasons"]


@dataclass(frozen=True, slots=True)
class Part:
    """What is measured together: its head and files, and why it may not fit a model."""

    name: str
    cls: type[BertPreTrainedModel]
    measure: Callable[[Any, BertTokenizer, Path], list[Figure]]
    files: tuple[str, ...] = ()
    head: str = ""  # the parameters that must have been trained; default: all
    unfit: Callable[[BertConfig], str] = lambda config: ""


def _too_many_pieces(config: BertConfig) -> str:
    """Return why the held-out sentences cannot be encoded; "" if they can."""
    most = np.iinfo(np.uint16).max
    return f"its vocabulary has more than {most:,} entries" if config.vocab_size > most else ""


PARTS = (  # those of one class together: it is loaded once
    Part("short sentences", BertForPreTraining, words.short_sentences,
         tuple(f"text/{name}.txt" for name in KEPT_BACK), _WORDS, _too_many_pieces),
    Part("masked words", BertForPreTraining, words.masked_words, (words.RUNNING_TEXT,), _WORDS),
    Part("everyday gaps", BertForPreTraining, words.everyday_gaps, (), _WORDS),
    Part("next sentence", BertForPreTraining, words.next_sentences, (words.PAIRS,), _SENTENCES),
    Part("question answering", BertForQuestionAnswering, tasks.question_figures,
         (f"qa/{tasks.XQUAD}.jsonl",)),
    Part("named entities", BertForTokenClassification, tasks.entity_figures,
         tuple(f"ner/by-source/{name}.conll" for name in tasks.ENTITY_FILES),
         unfit=tasks.tags_unfit),
    Part("sentiment", BertForSequenceClassification, tasks.sentiment_figures,
         ("sst2/test.tsv",), unfit=tasks.sentiment_unfit),
    Part("own sentiments", BertForSequenceClassification, tasks.own_sentiment_figures,
         ("sentiment/train.tsv",), unfit=tasks.sentiment_unfit),
    Part("multiple choice", BertForMultipleChoice, tasks.choice_figures,
         tuple(f"mc/{name}_test.jsonl" for name in tasks.CHOICE_FILES)),
)  # fmt: skip


def measure(
    name_or_folder: str | Path, data: Path, device: str = "cpu", say: Say = lambda line: None
) -> Measured:
    """Measure every task that the model was trained for and the data folder has files for."""
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("There is no CUDA device here. Leave --device out, or give cpu.")
    files = [file for part in PARTS for file in part.files]
    if not any(is_there(data / file) for file in files):
        raise MissingFileError(
            f"There are no evaluation files in {data}; expected at least one of "
            f"{', '.join(files)}, plain or with .xz."
        )
    tokenizer = BertTokenizer.from_pretrained(name_or_folder)
    figures, missing = list[Figure](), list[str]()
    model: BertPreTrainedModel | None = None
    for part in PARTS:
        began = time.monotonic()
        if not isinstance(model, part.cls):
            model = None
            gc.collect()  # one model at a time is held in memory
            # A head of a different shape does a different task: treat it as not trained.
            model = part.cls.from_pretrained(name_or_folder, ignore_mismatched_sizes=True)
            model.to(device)
        if reason := unmeasurable(part, model, data):
            missing.append(f"{part.name}: {reason}")
            say(missing[-1])
            continue
        measured = part.measure(model, tokenizer, data)
        figures += measured
        shown = ", ".join(f"{figure.task} {100 * figure.share:.1f} %" for figure in measured)
        say(f"{part.name}: {shown}; {time.monotonic() - began:.0f} s")
    figures.sort(key=lambda figure: figure.lower_is_better)  # accuracies first, then errors
    bias, reason = _bias(name_or_folder, tokenizer, device)
    if bias is None:
        missing.append(f"bias: {reason}")
        say(missing[-1])
    return Measured((*figures, *(bias_figures(bias) if bias else ())), bias, tuple(missing))


def unmeasurable(part: Part, model: BertPreTrainedModel, data: Path) -> str:
    """Return why a part cannot be measured, or "" if it can."""
    if not trained(model, part.head):
        return f"the model has no trained head for it ({part.cls.__name__})"
    if reason := part.unfit(model.config):
        return reason
    absent = [file for file in part.files if not is_there(data / file)]
    return f"the data folder has no {' nor '.join(absent)}" if absent else ""


def _bias(
    name_or_folder: str | Path, tokenizer: BertTokenizer, device: str
) -> tuple[Bias | None, str]:
    """Return the bias, or the reason why it cannot be measured."""
    model = BertForPreTraining.from_pretrained(name_or_folder)
    reason = bias_unfit(tokenizer) if trained(model, _WORDS) else "the model fills no gaps"
    return (None, reason) if reason else (measure_bias(model.to(device), tokenizer), "")
