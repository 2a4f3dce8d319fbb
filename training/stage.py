"""Code shared by all stages: run a trainer to the end, save, resume, pause, measure, keep a log.

A save keeps the state before it, so that a kill, a full disk or a damaged file costs minutes, never
the whole training; a resumed stage continues from the newest state that can be read.
"""

import copy
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import torch

from bert_core.errors import CheckpointError
from bert_core.finetuning import (
    BatchSource,
    Loss,
    NotFiniteError,
    StepReport,
)
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.text.tokenizer import BertTokenizer
from training import processes
from training.ahead import BuiltAhead
from training.curve import write_curve
from training.start import keep_memory
from training.trainer import StageTrainer, StageTraining

STATE = "state.pt"
BEFORE = "state-before.pt"
# The newest is read; long trainings of version 0.1 saved to the last two in turn.
STATES = (STATE, BEFORE, "state-a.pt", "state-b.pt")
LOG = "log.jsonl"
CURVE = "curve.svg"
WAY = "way.jsonl"  # figures measured during a stage
SETTINGS = "settings.json"
REFUSED = 5  # steps in a row that are not finite end a stage; fewer are left out
COPIES = 2  # of the weights: at the half and at the end of a stage
RATE_AFTER = 20  # steps; the first ten, which may include compiling, are not timed
Say = Callable[[str], None]
T = TypeVar("T")


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
        measured: how often the model is measured on the way, for lessons that can be.
    """

    data: Path
    work: Path
    init: str
    trainer: StageTraining
    device: str = "cpu"
    save_minutes: float = 5.0
    pause_file: Path | None = None
    seed: int = 0
    cache: Path | None = None
    builders: int = 0
    measured: int = 0


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a stage trains, and on which data.

    Attributes:
        start: creates the model with its initial weights, from a folder or name.
        batches: the source of batches.
        loss: maps the model and one part of a step to a loss.
        tokenizer: of the model.
        seed: seed of dropout and of the weights of fresh heads.
        mixture: what one step contains, for the record.
        text_tokens: tokens of running text, for the record.
        measure: figures of the model during the stage, by name; nothing is selected by them.
    """

    start: Callable[[str], BertPreTrainedModel]
    batches: BatchSource
    loss: Callable[[Any, Any], Loss]
    tokenizer: BertTokenizer
    seed: int
    mixture: Mapping[str, Any]
    text_tokens: int
    measure: Callable[[Any], Mapping[str, float]] | None = None


def train(
    settings: StageSettings, lesson: Lesson, say: Say = print, stop: threading.Event | None = None
) -> StageTrainer:
    """Run or resume a stage until its budget is used up or `stop` is set.

    Args:
        settings: settings of the stage.
        lesson: what it trains, and on which data.
        say: called with lines of progress text.
        stop: when set, ends the stage after the current step and saves its state.
    """
    log = settings.work / LOG
    trainer = make_trainer(settings, lesson, log)
    say = say if processes.FIRST else silent
    with closing_builders(trainer):
        resumed = newest_state(settings.work, trainer.resume)
        if resumed is not None:
            say(f"resumed {resumed[0].name} after step {trainer.steps_done}")
        processes.anywhere(True)  # all have read what the first one now replaces
        if processes.FIRST:
            if resumed is None and log.is_file():
                log.unlink()  # left by a run that was killed before its first save
            write_settings(settings, trainer, lesson)
        _run(settings, trainer, lesson, say, stop)
        processes.anywhere(True)  # the first one has saved
    return trainer


def silent(_: str) -> None:
    """Say nothing: the first process speaks for all."""


def make_trainer(settings: StageSettings, lesson: Lesson, log: Path | None = None) -> StageTrainer:
    """Set up the machine and create the trainer of a stage, ready for its first step."""
    if settings.device == "cpu":
        torch.set_flush_denormal(True)
        keep_memory()
    else:
        torch.set_float32_matmul_precision("high")  # for products that are not in bfloat16
    settings.work.mkdir(parents=True, exist_ok=True)
    batches = lesson.batches
    if settings.builders:
        batches = BuiltAhead(batches, settings.trainer.budget, processes=settings.builders)
    torch.manual_seed(lesson.seed)
    trainer = replace(settings.trainer, seed=lesson.seed)
    device = torch.device(settings.device)
    if device.type == "cuda":
        device = torch.device("cuda", processes.CARD)
        torch.cuda.set_device(device)
    model = lesson.start(settings.init).to(device)
    log = log if processes.FIRST else None
    return StageTrainer(model, batches, trainer, loss=lesson.loss, log=log)


@contextmanager
def closing_builders(trainer: StageTrainer) -> Iterator[None]:
    """End the processes that build batches when the block exits, even after an error."""
    try:
        yield
    finally:
        if isinstance(trainer.batches, BuiltAhead):
            trainer.batches.close()


def _run(
    settings: StageSettings,
    trainer: StageTrainer,
    lesson: Lesson,
    say: Say,
    stop: threading.Event | None,
) -> None:
    parts = settings.measured if lesson.measure is not None else 0
    saved, before, refused = time.monotonic(), trainer.progress, 0
    reports: list[StepReport] = []
    if parts and not trainer.steps_done and processes.FIRST:
        _measure(settings, trainer, lesson, say)
    while not trainer.done and not processes.anywhere(stop is not None and stop.is_set()):
        wait_while_paused(settings.pause_file, say, stop)
        try:
            report = trainer.step()
        except NotFiniteError as error:
            refused += 1
            say(f"left out: {error}")
            if refused == REFUSED:
                raise
            trainer.skip()
            continue
        _tell(report, reports, say)
        if not processes.FIRST:
            before, refused = report.progress, 0
            continue
        measured = passed(before, report.progress, parts)
        copied = passed(before, report.progress, COPIES)
        if measured or copied or time.monotonic() - saved > 60 * settings.save_minutes:
            save(trainer, settings.work)
            saved = time.monotonic()
        if copied:
            _keep_weights(trainer, lesson.tokenizer, settings.work / f"half-{copied}")
        if measured:
            _measure(settings, trainer, lesson, say)
        before, refused = report.progress, 0
    if processes.FIRST:
        save(trainer, settings.work)


def _tell(report: StepReport, first: list[StepReport], say: Say) -> None:
    """Say how a step went, and after the first ones how long a step takes."""
    if report.step % 25 == 1 or report.progress >= 1.0:
        say(describe(report))
    if len(first) < RATE_AFTER:
        first.append(report)
        if len(first) == RATE_AFTER:
            say(describe_rate(first))


def passed(before: float, after: float, parts: int) -> int:
    """Return which of `parts` equal parts ended between two shares of a stage; 0 for none.

    >>> passed(0.2, 0.25, 4), passed(0.25, 0.3, 4), passed(0.99, 1.0, 4)
    (1, 0, 4)
    """
    ended = int(after * parts + 1e-9)
    return ended if ended > int(before * parts + 1e-9) else 0


def _measure(settings: StageSettings, trainer: StageTrainer, lesson: Lesson, say: Say) -> None:
    """Measure the current model and append a line to the curve."""
    assert lesson.measure is not None
    began = time.monotonic()
    trainer.model.eval()
    try:
        found = lesson.measure(trainer.model)
    finally:
        trainer.model.train()
    line = {"step": trainer.steps_done, "progress": trainer.progress, **found}
    with (settings.work / WAY).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")
    say(f"measured in {time.monotonic() - began:.0f} s: {json.dumps(found)}")


# -- states ------------------------------------------------------------------------------------


def save(trainer: StageTrainer, work: Path) -> None:
    """Save the state, keeping the one before it, and the learning curve."""
    if (work / STATE).is_file():
        (work / STATE).replace(work / BEFORE)
    trainer.save(work / STATE)
    if (work / LOG).is_file():
        write_curve(work / LOG, work / CURVE)


def newest_state(work: Path, read: Callable[[Path], T]) -> tuple[Path, T] | None:
    """Return the newest saved state that can be read, and what `read` returns for it.

    Returns:
        None if there is no state.

    Raises:
        CheckpointError: there are states, but none can be read.
    """
    there = [work / name for name in STATES if (work / name).is_file()]
    failure: CheckpointError | None = None
    for path in sorted(there, key=lambda path: path.stat().st_mtime_ns, reverse=True):
        try:
            return path, read(path)
        except CheckpointError as error:
            failure = failure or error
    if failure is not None:
        raise failure
    return None


def _keep_weights(trainer: StageTrainer, tokenizer: BertTokenizer, folder: Path) -> None:
    """Write the weights in half precision; at the end of the stage, the mean of the last ones."""
    model = copy.deepcopy(trainer.model)
    with torch.no_grad():
        for name, value in model.named_parameters():
            value.copy_(trainer.average.weights.get(name, value))
    model.half().save_pretrained(folder)
    tokenizer.save_pretrained(folder)


# -- pauses, log and record --------------------------------------------------------------------


def wait_while_paused(
    pause_file: Path | None, say: Say, stop: threading.Event | None = None
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


def describe_rate(reports: Sequence[StepReport]) -> str:
    """Return the rate of the second half of these steps as one line of text.

    Tokens are counted only by stages that log them.
    """
    late = reports[len(reports) // 2 :]
    seconds = (late[-1].seconds - reports[-len(late) - 1].seconds) / len(late)
    tokens = sum(report.parts.get("tokens", 0.0) for report in late) / len(late)
    counted = f", {tokens / seconds:,.0f} tokens a second" if tokens else ""
    return f"{seconds:.3f} s a step after {len(reports)} steps{counted}"


def write_settings(settings: StageSettings, trainer: StageTrainer, lesson: Lesson) -> None:
    """Record the recipe for the model card; it may have changed when training was resumed."""
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
    if not phases or not _alike(phases[-1]["mixture"], lesson.mixture):
        phases.append(phase)
    record = {"init": settings.init, "device": settings.device, "started": started}
    record |= {"text_tokens": lesson.text_tokens, "phases": phases}
    target.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def _alike(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return whether two mixtures show the model the same, however steps are split into parts.

    Settings that only one of two versions of the recipe records do not count.
    """
    return all(old[name] == new[name] for name in (old.keys() & new.keys()) - {"splits"})
