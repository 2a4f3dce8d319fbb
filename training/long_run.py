"""Run one long pretraining on a single schedule, resumable at any moment.

States are saved to two files in turn, so that a kill, a full disk or a damaged file costs minutes,
never the whole training; a resumed run continues from the newest readable state. A copy of the
weights is kept at every quarter of the run, and the model is measured at every eighth, for the
curve in `way.jsonl`.
"""

import copy
import json
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from bert_core.errors import CheckpointError
from bert_core.finetuning import Trainer
from bert_core.model.heads import BertForPreTraining
from bert_core.text.tokenizer import BertTokenizer
from training.corpus import load_corpus
from training.long_mixture import LongMixture, LongSettings, long_part_loss
from training.relations import Relations, kept_back_gaps
from training.stage import (
    LOG,
    STATE,
    Lesson,
    StageSettings,
    closing_builders,
    describe,
    make_trainer,
    prepare,
    wait_while_paused,
    write_settings,
)
from training.start import start_model
from training.unseen import evaluation_lines, kept_back, without_known
from training.way import Checks, measure_way

STATES = ("state-a.pt", "state-b.pt")
WAY = "way.jsonl"
COPIES = 4  # of the weights, at equal intervals
MEASURED = 8  # default number of measurements during the run
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class LongLesson:
    """The training data, and the data for measuring during the run."""

    lesson: Lesson
    tokenizer: BertTokenizer
    checks: Checks


@dataclass(frozen=True, slots=True)
class _Talk:
    """Callbacks and controls: progress output, the stop signal, number of measurements."""

    say: Say
    stop: threading.Event | None
    measured: int


def run_long(
    settings: StageSettings,
    mixture: LongSettings | None = None,
    say: Say = print,
    stop: threading.Event | None = None,
    measured: int = MEASURED,
) -> Trainer:
    """Run or resume the long pretraining until its steps are done or `stop` is set.

    Args:
        settings: how it runs; its budget must be in steps.
        mixture: sizes of one step.
        say: called with lines of progress.
        stop: when set, the run saves its state and ends after the current step.
        measured: number of measurements during the run.
    """
    prepare(settings)
    torch.set_flush_denormal(True)
    long = long_lesson(settings, mixture or LongSettings(), say)
    trainer = make_trainer(settings, long.lesson, settings.work / LOG)
    resumed = resume_newest(trainer, settings.work)
    if resumed is not None:
        say(f"resumed {resumed.name} after step {trainer.steps_done}")
    elif (settings.work / LOG).is_file():
        (settings.work / LOG).unlink()  # left by a run killed before its first save
    write_settings(settings, trainer, long.lesson)
    with closing_builders(trainer):
        _run(settings, trainer, long, _Talk(say, stop, measured))
    return trainer


def long_lesson(settings: StageSettings, mixture: LongSettings, say: Say = print) -> LongLesson:
    """Read the texts, remove what the model is measured on, and prepare the training data.

    Args:
        settings: how the stage runs.
        mixture: sizes of one step.
        say: called with a line of progress.
    """
    mixture = replace(mixture, seed=mixture.seed + settings.seed)
    tokenizer = BertTokenizer.from_pretrained(settings.init)
    began = time.monotonic()
    texts = load_corpus(settings.data, settings.cache or settings.work, tokenizer)
    before = sum(len(text.sentences) - 1 for text in texts)
    kept = kept_back(texts)
    lines = evaluation_lines(tokenizer)
    texts = without_known(texts, [each for some in kept.values() for each in some], lines)
    after = sum(len(text.sentences) - 1 for text in texts)
    tokens = sum(len(text.ids) for text in texts)
    say(
        f"{tokens:,} tokens of text, {before - after:,} of {before:,} sentences left out because "
        f"they are measured on or near to it, {time.monotonic() - began:.0f} s"
    )
    relations = Relations(settings.data, tokenizer, texts, lines)
    lesson = Lesson(
        lambda: start_model(settings.init),
        LongMixture(texts, tokenizer.vocab, relations, mixture),
        long_part_loss,
        mixture.seed,
        tokenizer.pad_token_id,
        asdict(mixture),
        {"text_tokens": tokens},
    )
    return LongLesson(lesson, tokenizer, Checks(kept, kept_back_gaps(settings.data), settings.data))


def _run(
    settings: StageSettings,
    trainer: Trainer,
    long: LongLesson,
    talk: _Talk,
) -> None:
    say, stop = talk.say, talk.stop
    saved = time.monotonic()
    if not trainer.steps_done:
        _look(settings, trainer, long, say)
    while not trainer.done and not (stop is not None and stop.is_set()):
        wait_while_paused(settings.pause_file, say, stop)
        before = trainer.progress
        report = trainer.step()
        if report.step % 25 == 1 or trainer.done:
            say(describe(report))
        measured = passed(before, trainer.progress, talk.measured)
        copied = passed(before, trainer.progress, COPIES)
        if measured or copied or time.monotonic() - saved > 60 * settings.save_minutes:
            save_in_turn(trainer, settings.work)
            saved = time.monotonic()
        if copied:
            keep_weights(trainer, long.tokenizer, settings.work / f"quarter-{copied}")
        if measured:
            _look(settings, trainer, long, say)
    save_in_turn(trainer, settings.work)
    if trainer.done:
        trainer.save(settings.work / STATE)  # where `export` looks


def passed(before: float, after: float, parts: int) -> int:
    """Return which of `parts` equal parts ended between two shares of the run; 0 for none.

    >>> passed(0.2, 0.25, 4), passed(0.25, 0.3, 4), passed(0.99, 1.0, 4)
    (1, 0, 4)
    """
    ended = int(after * parts + 1e-9)
    return ended if ended > int(before * parts + 1e-9) else 0


def save_in_turn(trainer: Trainer, work: Path) -> Path:
    """Overwrite the older of the two saved states and return its path."""
    oldest = min((work / name for name in STATES), key=_age)
    trainer.save(oldest)
    return oldest


def resume_newest(trainer: Trainer, work: Path) -> Path | None:
    """Resume from the newest readable state and return its path; None if there is no state.

    Raises:
        CheckpointError: there are states, but none can be read.
    """
    there = [work / name for name in STATES if (work / name).is_file()]
    failure: CheckpointError | None = None
    for path in sorted(there, key=_age, reverse=True):
        try:
            trainer.resume(path)
        except CheckpointError as error:
            failure = error
        else:
            return path
    if failure is not None:
        raise failure
    return None


def _age(path: Path) -> float:
    return path.stat().st_mtime if path.is_file() else 0.0


def keep_weights(trainer: Trainer, tokenizer: BertTokenizer, folder: Path) -> None:
    """Write the weights in half precision; at the end of the run, the mean of the last ones."""
    model = copy.deepcopy(trainer.model)
    with torch.no_grad():
        for name, value in model.named_parameters():
            value.copy_(trainer.average.weights.get(name, value))
    model.half().save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _look(settings: StageSettings, trainer: Trainer, long: LongLesson, say: Say) -> None:
    """Measure the current model and append a line to the curve."""
    began = time.monotonic()
    assert isinstance(trainer.model, BertForPreTraining)
    threads = torch.get_num_threads()
    torch.set_num_threads(max(1, settings.trainer.workers))
    trainer.model.eval()
    try:
        found = measure_way(trainer.model, long.tokenizer, long.checks)
    finally:
        trainer.model.train()
        torch.set_num_threads(threads)
    line = {"step": trainer.steps_done, "progress": trainer.progress, **found}
    with (settings.work / WAY).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")
    say(f"measured in {time.monotonic() - began:.0f} s: {json.dumps(found)}")
