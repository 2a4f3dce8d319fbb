"""Measure any model on everything the recipe has evaluation files for.

Whatever cannot be measured, because a head was never trained, its labels mean something else or a
file is missing, is skipped and reported.
"""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bert_core.bundled.figures import Figure
from bert_core.bundled.leanings import Bias
from bert_core.checkpoints.sources.resolve import resolve
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
from training.aims import trained_on_cuda
from training.bias import bias_figures, bias_unfit, measure_bias
from training.calibration import HEADS, Head, calibration_figures, trained
from training.own_evaluation import (
    all_inputs,
    filled_inputs,
    made_facts,
    neighbour_inputs,
    own_names,
    own_questions,
    own_sentiment,
)
from training.pretraining_evaluation import (
    RUNNING_TEXT,
    everyday_gaps,
    masked_words,
    next_sentences,
)
from training.question_evaluation import question_figures
from training.record import RECORD, read_record
from training.rows import is_there
from training.short_evaluation import famous_lines, relations, unseen_words
from training.task_evaluation import (
    CHOICE_FILES,
    ENTITY_FILES,
    choice_figures,
    entity_figures,
    sentiment_figures,
    sentiment_unfit,
    tags_unfit,
)
from training.unseen import KEPT_BACK

Say = Callable[[str], None]
_WORDS, _SENTENCES = "cls.predictions", "cls.seq_relationship"


@dataclass(frozen=True, slots=True)
class Measured:
    """The results of measuring a model.

    Attributes:
        figures: all figures, in table order.
        bias: bias about occupations; None if the model cannot fill gaps.
        missing: what was not measured, with reasons.
    """

    figures: tuple[Figure, ...]
    bias: Bias | None
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """One task: its head, file and measurement, and why it may not fit a model."""

    name: str
    cls: type[BertPreTrainedModel]
    measure: Callable[[Any, BertTokenizer, Path], list[Figure]]
    files: tuple[str, ...] = ()
    head: str = ""  # the parameters that must have been trained; default: all
    unfit: Callable[[BertConfig], str] = lambda config: ""
    task: bool = True  # else it goes with one, and what keeps the one from it keeps the other


def _too_many_pieces(config: BertConfig) -> str:
    """Return why the held-out sentences cannot be encoded; "" if they can."""
    most = np.iinfo(np.uint16).max
    return f"its vocabulary has more than {most:,} entries" if config.vocab_size > most else ""


TASKS = (
    Part(
        "famous lines",
        BertForPreTraining,
        lambda model, tokenizer, data: famous_lines(model, tokenizer),
        head=_WORDS,
    ),
    Part(
        "unseen short sentences",
        BertForPreTraining,
        unseen_words,
        tuple(f"text/{name}.txt" for name in KEPT_BACK),
        _WORDS,
        unfit=_too_many_pieces,
    ),
    Part(
        "unseen facts",
        BertForPreTraining,
        relations,
        ("relations/relations.jsonl",),
        _WORDS,
    ),
    Part("masked words", BertForPreTraining, masked_words, (RUNNING_TEXT,), _WORDS),
    Part(
        "everyday gaps",
        BertForPreTraining,
        lambda model, tokenizer, data: [everyday_gaps(model, tokenizer)],
        head=_WORDS,
    ),
    Part("everyday facts", BertForPreTraining, made_facts, head=_WORDS),
    Part("own inputs with gaps", BertForPreTraining, filled_inputs, head=_WORDS),
    Part(
        "next sentence", BertForPreTraining, next_sentences, ("nsp/eval_pairs.jsonl",), _SENTENCES
    ),
    Part("own sentence pairs", BertForPreTraining, neighbour_inputs, head=_SENTENCES),
    Part(
        "question answering",
        BertForQuestionAnswering,
        question_figures,
        ("qa/eval_xquad_en.jsonl",),
    ),
    Part("own questions", BertForQuestionAnswering, own_questions),
    Part(
        "named entities",
        BertForTokenClassification,
        entity_figures,
        tuple(f"ner/by-source/{name}.conll" for name in ENTITY_FILES),
        unfit=tags_unfit,
    ),
    Part("own names", BertForTokenClassification, own_names, unfit=tags_unfit),
    Part(
        "sentiment",
        BertForSequenceClassification,
        sentiment_figures,
        ("sst2/test.tsv",),
        unfit=sentiment_unfit,
    ),
    Part(
        "own sentiments",
        BertForSequenceClassification,
        own_sentiment,
        ("sentiment/train.tsv",),
        unfit=sentiment_unfit,
    ),
    *(
        Part(
            f"multiple choice, {name}",
            BertForMultipleChoice,
            partial(choice_figures, name=name),
            (f"mc/{name}_test.jsonl",),
        )
        for name in CHOICE_FILES
    ),
)


def _calibrated(head: Head) -> Part:
    """Return the part that measures how well calibrated a head's probabilities are."""
    tasks = [part for part in TASKS if (part.cls, part.head) == (head.cls, head.part)]
    return replace(
        tasks[0],
        name=f"calibration of {head.name}",
        measure=partial(calibration_figures, head=head),
        files=head.files or tuple(file for part in tasks for file in part.files),
        task=False,
    )


_PARTS = tuple(  # those of one class together: it is loaded once
    part
    for cls in dict.fromkeys(task.cls for task in TASKS)
    for part in (*TASKS, *map(_calibrated, HEADS))
    if part.cls is cls
)


def measure(
    name_or_folder: str | Path, data: Path, device: str = "cpu", say: Say = lambda line: None
) -> Measured:
    """Measure every task that the model was trained for and the data folder has files for.

    Args:
        name_or_folder: name of a bundled model, or a folder with weights and vocabulary.
        data: the data folder.
        device: "cpu" or "cuda".
        say: called with a line on each measurement and how long it took.

    Raises:
        MissingFileError: the data folder has no evaluation files.
        InputError: the device does not exist.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("There is no CUDA device here. Leave --device out, or give cpu.")
    files = [file for task in TASKS for file in task.files]
    if not any(is_there(data / file) for file in files):
        raise MissingFileError(
            f"There are no evaluation files in {data}; expected at least one of "
            f"{', '.join(files)}, plain or with .xz."
        )
    tokenizer = BertTokenizer.from_pretrained(name_or_folder)
    figures: list[Figure] = []
    missing: list[str] = []
    for part, model in _with_models(name_or_folder, device):
        began = time.monotonic()
        if reason := unmeasurable(part, model, data):
            if part.task or not any(line.endswith(reason) for line in missing):
                missing.append(f"{part.name}: {reason}")
                say(missing[-1])
            continue
        measured = part.measure(model, tokenizer, data)
        figures += measured
        told = ", ".join(f"{figure.task} {100 * figure.share:.1f} %" for figure in measured)
        say(f"{part.name}: {told}; {time.monotonic() - began:.0f} s")
    figures += all_inputs(figures)
    figures.sort(key=lambda figure: figure.lower_is_better)  # accuracies first, then errors
    bias, reason = _bias(name_or_folder, tokenizer, device)
    if bias is not None:
        figures += bias_figures(bias)
    else:
        missing.append(f"bias: {reason}")
        say(missing[-1])
    return Measured(tuple(_with_goals(name_or_folder, figures)), bias, tuple(missing))


def _with_models(
    name_or_folder: str | Path, device: str
) -> Iterator[tuple[Part, BertPreTrainedModel]]:
    """Yield every part with its model, keeping only one model in memory at a time."""
    model: BertPreTrainedModel | None = None
    for part in _PARTS:
        if not isinstance(model, part.cls):
            model = None
            gc.collect()
            # A head of a different shape does a different task: treat it as not trained.
            model = part.cls.from_pretrained(name_or_folder, ignore_mismatched_sizes=True)
            model.to(device)
        yield part, model


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


def _with_goals(name_or_folder: str | Path, figures: list[Figure]) -> Sequence[Figure]:
    """Raise the goals if this is the recipe's own model and was trained on a GPU."""
    record = Path(resolve(name_or_folder)) / RECORD
    stages = read_record(record) if record.is_file() else []
    on_cuda = any(stage.settings.get("device") == "cuda" for stage in stages)
    return trained_on_cuda(figures) if on_cuda else figures
