"""Measure a model on everything the recipe has evaluation files for, whatever it brings.

What cannot be measured, because a head was never trained, labels mean something else or a file is
not there, is left out and said.
"""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bert_core.checkpoints.resolve import resolve
from bert_core.config import BertConfig
from bert_core.errors import MissingFileError
from bert_core.figures import Figure
from bert_core.heads import (
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.leanings import Bias
from bert_core.model import BertPreTrainedModel
from bert_core.tokenizer import BertTokenizer
from training.aims import trained_on_cuda
from training.bias import bias_figures, bias_unfit, measure_bias
from training.pretraining_evaluation import everyday_gaps, masked_words, next_sentences
from training.question_evaluation import question_figures
from training.record import RECORD, read_record
from training.task_evaluation import (
    CHOICE_FILES,
    choice_figures,
    entity_figures,
    sentiment_figures,
    sentiment_unfit,
    tags_unfit,
)

Say = Callable[[str], None]
_WORDS, _SENTENCES = "cls.predictions", "cls.seq_relationship"


@dataclass(frozen=True, slots=True)
class Measured:
    """What was found out about a model.

    Attributes:
        figures: all of them, in the order of the table.
        bias: about occupations; None where the model fills no gaps.
        missing: what was not measured, each with its reason.
    """

    figures: tuple[Figure, ...]
    bias: Bias | None
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """One task: which head, which file, how, and why it may not fit a model."""

    name: str
    cls: type[BertPreTrainedModel]
    measure: Callable[[Any, BertTokenizer, Path], list[Figure]]
    file: str = ""
    head: str = ""  # the parameters that must have been trained; default: all
    unfit: Callable[[BertConfig], str] = lambda config: ""


_PARTS = (
    _Part(
        "masked words",
        BertForPreTraining,
        masked_words,
        "text/wikitext2-valid-test.txt",
        _WORDS,
    ),
    _Part(
        "everyday gaps",
        BertForPreTraining,
        lambda model, tokenizer, data: [everyday_gaps(model, tokenizer)],
        head=_WORDS,
    ),
    _Part("next sentence", BertForPreTraining, next_sentences, "nsp/eval_pairs.jsonl", _SENTENCES),
    _Part(
        "question answering", BertForQuestionAnswering, question_figures, "qa/eval_xquad_en.jsonl"
    ),
    _Part(
        "named entities",
        BertForTokenClassification,
        entity_figures,
        "ner/by-source/ewt-test.conll",
        unfit=tags_unfit,
    ),
    _Part(
        "sentiment",
        BertForSequenceClassification,
        sentiment_figures,
        "sst2/test.tsv",
        unfit=sentiment_unfit,
    ),
    *(
        _Part(
            f"multiple choice, {name}",
            BertForMultipleChoice,
            partial(choice_figures, name=name),
            f"mc/{name}_test.jsonl",
        )
        for name in CHOICE_FILES
    ),
)


def measure(
    name_or_folder: str | Path, data: Path, device: str = "cpu", say: Say | None = None
) -> Measured:
    """Measure everything a model was trained for and the data folder has files for.

    Args:
        name_or_folder: a bundled name or a folder with weights and vocabulary.
        data: the data folder.
        device: "cpu" or "cuda".
        say: is told what was measured and how long it took.

    Raises:
        MissingFileError: the data folder has no evaluation file at all.
    """
    if not any(_has(data, part) for part in _PARTS if part.file):
        raise MissingFileError(
            f"There are no evaluation files in {data}; expected at least one of "
            f"{', '.join(part.file for part in _PARTS if part.file)}, plain or with .xz."
        )
    tokenizer = BertTokenizer.from_pretrained(name_or_folder)
    figures: list[Figure] = []
    missing: list[str] = []
    say = say or _silent
    for part, model in _with_models(name_or_folder, device):
        began = time.monotonic()
        if reason := _reason(part, model, data):
            missing.append(f"{part.name}: {reason}")
            say(missing[-1])
            continue
        figures += part.measure(model, tokenizer, data)
        say(f"{part.name}: {time.monotonic() - began:.0f} s")
    bias, reason = _bias(name_or_folder, tokenizer, device)
    if bias is not None:
        figures += bias_figures(bias)
    else:
        missing.append(f"bias: {reason}")
        say(missing[-1])
    return Measured(tuple(_with_goals(name_or_folder, figures)), bias, tuple(missing))


def _silent(line: str) -> None:
    """Say nothing."""


def _with_models(
    name_or_folder: str | Path, device: str
) -> Iterator[tuple[_Part, BertPreTrainedModel]]:
    """Yield every part with its model; one model at a time is held in memory."""
    model: BertPreTrainedModel | None = None
    for part in _PARTS:
        if not isinstance(model, part.cls):
            model = None
            gc.collect()
            # A head of another shape answers another question: it counts as not trained.
            model = part.cls.from_pretrained(name_or_folder, ignore_mismatched_sizes=True)
            model.to(device)
        yield part, model


def _reason(part: _Part, model: BertPreTrainedModel, data: Path) -> str:
    """Say why a part cannot be measured; "" where it can."""
    if not _trained(model, part.head):
        return f"the model has no trained head for it ({part.cls.__name__})"
    if reason := part.unfit(model.config):
        return reason
    return "" if _has(data, part) else f"the data folder has no {part.file}"


def _trained(model: BertPreTrainedModel, head: str) -> bool:
    """Tell whether nothing of a head was left at chance when the model was loaded."""
    report = model.load_report
    return report is None or not any(name.startswith(head) for name in report.missing)


def _has(data: Path, part: _Part) -> bool:
    path = data / part.file
    return not part.file or path.is_file() or path.with_name(f"{path.name}.xz").is_file()


def _bias(
    name_or_folder: str | Path, tokenizer: BertTokenizer, device: str
) -> tuple[Bias | None, str]:
    """Return the bias, or why it cannot be measured."""
    model = BertForPreTraining.from_pretrained(name_or_folder)
    reason = bias_unfit(tokenizer) if _trained(model, _WORDS) else "the model fills no gaps"
    return (None, reason) if reason else (measure_bias(model.to(device), tokenizer), "")


def _with_goals(name_or_folder: str | Path, figures: list[Figure]) -> Sequence[Figure]:
    """Raise the goals of a model of this recipe that was trained on a card."""
    record = Path(resolve(name_or_folder)) / RECORD
    stages = read_record(record) if record.is_file() else []
    on_cuda = any(stage.settings.get("device") == "cuda" for stage in stages)
    return trained_on_cuda(figures) if on_cuda else figures
