"""How a stage runs: train to the end, save, resume, keep a log and a curve.

A save keeps the state before it, so that a kill, a full disk or a damaged file costs minutes, never
the whole training; a resumed stage continues from the newest state that can be read.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import torch

from bert_core.errors import CheckpointError
from bert_core.finetuning import BatchSource, Loss, NotFiniteError, StepReport
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.text.tokenizer import BertTokenizer
from training import processes
from training.ahead import BuiltAhead
from training.curve import write_curve
from training.trainer import StageTrainer, StageTraining

STATES = ("state.pt", "state-before.pt")  # the newest that can be read counts
LOG, CURVE, SETTINGS = "log.jsonl", "curve.svg", "settings.json"
REFUSED = 5  # steps in a row that are not finite end a stage; fewer are left out
RATE_AFTER = 20  # steps; the first ten are not timed
Say = Callable[[str], None]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StageSettings:
    """Settings of a stage."""

    data: Annotated[Path, "the data folder"]
    work: Annotated[Path, "folder of state, log, curve and settings"]
    init: Annotated[str, "folder or name of the model to start from"]
    trainer: Annotated[StageTraining, "length and optimizer; its seed is that of the lesson"]
    device: Annotated[str, "cpu or cuda"] = "cpu"
    save_minutes: Annotated[float, "minutes between saved states"] = 5.0
    seed: Annotated[int, "added to every seed; 0 gives the recipe's own"] = 0
    cache: Annotated[Path | None, "folder of the encoded text; None: the work folder"] = None
    builders: Annotated[int, "processes that build batches in advance"] = 0


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a stage trains, and on which data."""

    start: Annotated[Callable[[str], BertPreTrainedModel], "makes the model of a folder or name"]
    batches: Annotated[BatchSource, "the source of batches"]
    loss: Annotated[Callable[[Any, Any], Loss], "of the model and one part of a step"]
    tokenizer: Annotated[BertTokenizer, "of the model"]
    seed: Annotated[int, "of dropout and of the weights of fresh heads"]
    mixture: Annotated[Mapping[str, Any], "what one step contains, for the record"]
    text_tokens: Annotated[int, "tokens of running text, for the record"]


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
    log, stop = settings.work / LOG, stop or threading.Event()
    settings.work.mkdir(parents=True, exist_ok=True)
    batches = BuiltAhead(lesson.batches, settings.trainer.budget, processes=settings.builders)
    trainer = make_trainer(settings, replace(lesson, batches=batches), log)
    say = say if processes.FIRST else silent
    with closing(batches):
        resumed = newest_state(settings.work, trainer.resume)
        if resumed is not None:
            say(f"resumed {resumed[0].name} after step {trainer.steps_done}")
        processes.anywhere(True)  # all have read what the first one now replaces
        if processes.FIRST:
            if resumed is None:
                log.unlink(missing_ok=True)  # of a run that was killed before its first save
            write_settings(settings, trainer, lesson)
        _run(settings, trainer, say, stop)
        processes.anywhere(True)  # the first one has saved
    return trainer


def silent(_: str) -> None:
    """Say nothing: the first process speaks for all."""


def make_trainer(settings: StageSettings, lesson: Lesson, log: Path | None = None) -> StageTrainer:
    """Set up the machine and create the trainer of a stage, ready for its first step."""
    device = torch.device(settings.device)
    if device.type == "cpu":
        torch.set_flush_denormal(True)
    else:
        torch.set_float32_matmul_precision("high")  # for products that are not in bfloat16
        device = torch.device("cuda", processes.CARD)
        torch.cuda.set_device(device)
    torch.manual_seed(lesson.seed)
    trainer = replace(settings.trainer, seed=lesson.seed)
    model = lesson.start(settings.init).to(device)
    log = log if processes.FIRST else None
    return StageTrainer(model, lesson.batches, trainer, loss=lesson.loss, log=log)


def _run(settings: StageSettings, trainer: StageTrainer, say: Say, stop: threading.Event) -> None:
    saved, refused, first = time.monotonic(), 0, list[StepReport]()
    while not trainer.done and not processes.anywhere(stop.is_set()):
        try:
            report = trainer.step()
        except NotFiniteError as error:
            refused += 1
            say(f"left out: {error}")
            if refused == REFUSED:
                raise
            trainer.skip()
            continue
        refused = 0
        if report.step % 25 == 1 or trainer.done:
            say(describe(report))
        if len(first) < RATE_AFTER:
            first.append(report)
            if len(first) == RATE_AFTER:
                say(describe_rate(first))
        if processes.FIRST and time.monotonic() - saved > 60 * settings.save_minutes:
            save(trainer, settings.work)
            saved = time.monotonic()
    if processes.FIRST:
        save(trainer, settings.work)


# -- states ------------------------------------------------------------------------------------


def save(trainer: StageTrainer, work: Path) -> None:
    """Save the state, keeping the one before it, and the learning curve."""
    state, before = (work / name for name in STATES)
    if state.is_file():
        state.replace(before)
    trainer.save(state)
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


# -- log and record ----------------------------------------------------------------------------


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
    """Return the rate of the second half of these steps as one line of text."""
    late = reports[len(reports) // 2 :]
    seconds = (late[-1].seconds - reports[-len(late) - 1].seconds) / len(late)
    tokens = sum(report.parts.get("tokens", 0.0) for report in late) / len(late)
    rate = f"{tokens / seconds:,.0f} tokens a second"
    return f"{seconds:.3f} s a step after {len(reports)} steps, {rate}"


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
    if not phases or phases[-1]["mixture"] != json.loads(json.dumps(phase["mixture"])):
        phases.append(phase)
    record = {"init": settings.init, "device": settings.device, "started": started}
    record |= {"text_tokens": lesson.text_tokens, "phases": phases}
    target.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
