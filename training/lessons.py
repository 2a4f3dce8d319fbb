"""What each stage trains and on which data: the pretraining, the tasks."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from bert_core.finetuning import Trainer
from bert_core.text.tokenizer import BertTokenizer
from training import processes, rows
from training.blocks import TEXTS, TextSettings
from training.corpus import EVERYDAY, EncodedText, load_corpus
from training.mixture import TextMixture, part_loss
from training.plan import PRETRAIN, TASKS
from training.stage import Lesson, Say, StageSettings, silent, train
from training.start import start_model
from training.task_model import TaskModel, start_task_model, task_loss
from training.tasks import TaskMixture, TaskRows, TaskSettings
from training.unseen import evaluation_sentences, kept_back, without_near


def run_stage(
    name: str,
    settings: StageSettings,
    sizes: Any,
    say: Say = print,
    stop: threading.Event | None = None,
) -> Trainer:
    """Run or resume the stage of this name, see `training.stage.train`."""
    processes.join()
    say = say if processes.FIRST else silent
    if left_out := absent(settings.data):
        say(f"not there, and left out: {', '.join(left_out)}")
    with processes.first_before_others():  # it writes the encoded texts
        lesson = LESSONS[name](settings, sizes, say)
    trainer = train(settings, lesson, say, stop)
    processes.leave()
    return trainer


def pretraining_lesson(settings: StageSettings, sizes: TextSettings, say: Say = print) -> Lesson:
    """Read the texts, without what the model is measured on."""
    began = time.monotonic()
    sizes = replace(sizes, seed=sizes.seed + settings.seed)
    tokenizer = BertTokenizer.from_pretrained(settings.init)
    texts = load_corpus(settings.data, settings.cache or settings.work, tokenizer)
    own, before = evaluation_sentences(tokenizer), _sentences(texts)
    texts = without_near(texts, [*kept_back(texts), *own])
    count = sum(len(text.ids) for text in texts)
    say(
        f"{count:,} tokens of text, {before - _sentences(texts):,} of {before:,} sentences left "
        f"out because they are measured on or near to it, {time.monotonic() - began:.0f} s"
    )
    mixture = TextMixture(texts, tokenizer.vocab, sizes)
    return Lesson(
        start=lambda init: start_model(init, texts),
        batches=mixture,
        loss=part_loss,
        tokenizer=tokenizer,
        seed=sizes.seed,
        mixture=asdict(sizes),
        text_tokens=count,
    )


def task_lesson(settings: StageSettings, sizes: TaskSettings, say: Say = print) -> Lesson:
    """Read labelled rows and prepare all tasks together with the pretraining's mixture."""
    text = pretraining_lesson(settings, sizes.pretraining, say)
    began = time.monotonic()
    sizes = replace(sizes, seed=sizes.seed + settings.seed)
    drawn = TaskRows.read(settings.data, sizes.seed)
    say(f"{drawn}; {time.monotonic() - began:.0f} s")

    def start(init: str) -> TaskModel:
        return start_task_model(start_model(init), init)

    tasks = asdict(sizes)
    tasks.pop("pretraining")
    return replace(
        text,
        start=start,
        batches=TaskMixture(drawn, text.tokenizer, sizes, text.batches),
        loss=task_loss,
        seed=sizes.seed,
        mixture={**text.mixture, "tasks": tasks},
    )


LESSONS: Mapping[str, Callable[[StageSettings, Any, Say], Lesson]] = {
    PRETRAIN: pretraining_lesson,
    TASKS: task_lesson,
}


def absent(data: Path) -> list[str]:
    """Return the files that a data folder lacks and that are left out, or not measured, then."""
    texts = (f"text/{name}.txt" for name in TEXTS if name != EVERYDAY)
    return [name for name in (*texts, *sorted(rows.OPTIONAL)) if not rows.is_there(data / name)]


def _sentences(texts: Sequence[EncodedText]) -> int:
    return sum(len(text.sentences) - 1 for text in texts)
