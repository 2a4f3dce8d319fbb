"""Code shared by all stages: run a trainer to the end, save, resume, pause, keep a log."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from bert_core.finetuning import (
    BatchSource,
    Budget,
    BuiltAhead,
    Loss,
    StepReport,
    Trainer,
    TrainerSettings,
)
from bert_core.model.bert import BertPreTrainedModel
from training.curve import write_curve
from training.padding import Padded
from training.start import keep_memory

STATE = "state.pt"
LOG = "log.jsonl"
CURVE = "curve.svg"
SETTINGS = "settings.json"


@dataclass(frozen=True, slots=True)
class StageSettings:
    """Settings of a stage.

    Attributes:
        data: the data folder.
        work: the work folder, for encoded text, state, log, curve and settings.
        init: folder or name of the model to start from.
        trainer: length and optimizer settings; its seed is replaced by that of the lesson.
        device: "cpu" or "cuda".
        save_minutes: minutes between saved states.
        pause_file: while it exists, training waits; the wait does not use up the budget.
        seed: added to every seed of the stage; 0 gives the recipe's own seeds.
        cache: folder for the encoded text, which stages may share; None uses the work folder.
        builders: processes that build batches in advance; 0 builds each batch when needed.
        pad_to: rows are padded to a multiple of this many tokens.
    """

    data: Path
    work: Path
    init: str
    trainer: TrainerSettings
    device: str = "cpu"
    save_minutes: float = 5.0
    pause_file: Path | None = None
    seed: int = 0
    cache: Path | None = None
    builders: int = 0
    pad_to: int = 1


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a stage trains, and on which data.

    Attributes:
        start: creates the model with its initial weights.
        batches: the source of batches.
        loss: maps the model and one part of a step to a loss.
        seed: seed of dropout and of the weights of fresh heads.
        pad_id: id of [PAD].
        mixture: what one step contains, for the record.
        facts: anything else to record.
    """

    start: Callable[[], BertPreTrainedModel]
    batches: BatchSource
    loss: Callable[[Any, Any], Loss]
    seed: int
    pad_id: int
    mixture: Mapping[str, Any]
    facts: Mapping[str, Any]


def prepare(settings: StageSettings) -> None:
    """Create the work folder and set up the machine for training."""
    if settings.device == "cpu":
        torch.set_num_threads(1)
        keep_memory()
    else:
        torch.set_float32_matmul_precision("high")  # for products that are not in bfloat16
    settings.work.mkdir(parents=True, exist_ok=True)


def train(
    settings: StageSettings,
    lesson: Lesson,
    say: Callable[[str], None] = print,
    stop: threading.Event | None = None,
) -> Trainer:
    """Run or resume a stage until its budget is used up or `stop` is set.

    Args:
        settings: settings of the stage.
        lesson: what it trains, and on which data.
        say: called with lines of progress text.
        stop: when set, ends the stage after the current step and saves its state.
    """
    log = settings.work / LOG
    trainer = make_trainer(settings, lesson, log)
    if (settings.work / STATE).is_file():
        trainer.resume(settings.work / STATE)
        say(f"resumed after step {trainer.steps_done}")
    elif log.is_file():
        log.unlink()  # left by a run that was killed before its first save
    write_settings(settings, trainer, lesson)
    with closing_builders(trainer):
        return run_stage(settings, trainer, say, stop)


def make_trainer(settings: StageSettings, lesson: Lesson, log: Path | None = None) -> Trainer:
    """Create the trainer of a stage, ready for its first step.

    Args:
        settings: settings of the stage.
        lesson: what it trains, and on which data.
        log: file that gets one line per step.
    """
    batches = lesson.batches
    if settings.pad_to > 1:
        batches = Padded(batches, settings.pad_to, lesson.pad_id)
    if settings.builders:
        batches = BuiltAhead(batches, settings.trainer.budget, processes=settings.builders)
    torch.manual_seed(lesson.seed)
    model = lesson.start().to(settings.device)
    trainer = replace(settings.trainer, seed=lesson.seed)
    return Trainer(model, batches, trainer, loss=lesson.loss, log=log)


@contextmanager
def closing_builders(trainer: Trainer) -> Iterator[None]:
    """End the processes that build batches when the block exits, even after an error."""
    try:
        yield
    finally:
        if isinstance(trainer.batches, BuiltAhead):
            trainer.batches.close()


def seconds_a_step(settings: StageSettings, lesson: Lesson, *, warm: int, timed: int) -> float:
    """Time the steps of a stage on a separate model, without touching its state or log.

    Args:
        settings: settings of the stage.
        lesson: what it trains, and on which data.
        warm: untimed first steps, which include compiling and allocating memory.
        timed: number of timed steps.
    """
    short = replace(settings.trainer, budget=Budget(steps=warm + timed), average_last=0.0)
    trainer = make_trainer(replace(settings, trainer=short), lesson)
    with closing_builders(trainer):
        for _ in range(warm):
            trainer.step()
        before = trainer.seconds
        for _ in range(timed):
            trainer.step()
    return (trainer.seconds - before) / timed


def run_stage(
    settings: StageSettings,
    trainer: Trainer,
    say: Callable[[str], None] = print,
    stop: threading.Event | None = None,
) -> Trainer:
    """Train until the budget is used up or `stop` is set.

    Args:
        settings: settings of the stage.
        trainer: the trainer, ready for its next step.
        say: called with lines of progress text.
        stop: when set, ends the stage after the current step and saves its state.
    """
    saved = time.monotonic()
    while not trainer.done and not (stop is not None and stop.is_set()):
        wait_while_paused(settings.pause_file, say, stop)
        report = trainer.step()
        if report.step % 25 == 1 or trainer.done:
            say(describe(report))
        if time.monotonic() - saved > 60 * settings.save_minutes:
            save(trainer, settings.work)
            saved = time.monotonic()
    save(trainer, settings.work)
    return trainer


def save(trainer: Trainer, work: Path) -> None:
    """Save the state and the learning curve."""
    trainer.save(work / STATE)
    if (work / LOG).is_file():
        write_curve(work / LOG, work / CURVE)


def wait_while_paused(
    pause_file: Path | None,
    say: Callable[[str], None],
    stop: threading.Event | None = None,
) -> None:
    """Wait while the pause file exists and `stop` is not set."""
    if pause_file is None or not pause_file.exists():
        return
    say("paused")
    while pause_file.exists() and not (stop is not None and stop.is_set()):
        time.sleep(0.5)
    say("goes on")


def describe(report: StepReport) -> str:
    """Return a step report as one line of text.

    >>> describe(StepReport(3, 0.5, 4.25, {"next_sentence": 0.5}, 1e-4, 1.0, 90.0))
    'step 3, 50.0 %, 1.5 min, loss 4.250, next_sentence 0.500, rate 1.0e-04'
    """
    parts = "".join(f", {name} {value:.3f}" for name, value in report.parts.items())
    return (
        f"step {report.step}, {100 * report.progress:.1f} %, {report.seconds / 60:.1f} min, "
        f"loss {report.loss:.3f}{parts}, rate {report.learning_rate:.1e}"
    )


def write_settings(settings: StageSettings, trainer: Trainer, lesson: Lesson) -> None:
    """Record the recipe for the model card; it may have changed when training was resumed.

    Args:
        settings: settings of the stage.
        trainer: supplies its settings and progress.
        lesson: supplies what one step contains.
    """
    target = settings.work / SETTINGS
    phase = {
        "after_step": trainer.steps_done,
        "mixture": dict(lesson.mixture),
        "trainer": asdict(trainer.settings),
    }
    phases, started = [], time.time()  # the time before a stage is resumed counts too
    if trainer.steps_done and target.is_file():
        known = json.loads(target.read_text(encoding="utf-8"))
        phases = [old for old in known["phases"] if old["after_step"] < trainer.steps_done]
        started = known.get("started")
    if not phases or _seen(phases[-1]) != _seen(phase):
        phases.append(phase)
    record = {"init": settings.init, "device": settings.device, "started": started}
    record |= {**lesson.facts, "phases": phases}
    target.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def _seen(phase: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a phase showed the model, without how steps were split into parts."""
    return {name: value for name, value in phase["mixture"].items() if name != "splits"}
