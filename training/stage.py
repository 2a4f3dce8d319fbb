"""How a stage runs: train to the end, save, resume, keep a log and a curve.

A save replaces the state only when it is whole, so that a kill or a full disk costs minutes, never
the whole training.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import torch

from bert_core.finetuning import BatchSource, Loss, NotFiniteError, StepReport
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.text.tokenizer import BertTokenizer
from training import processes
from training.ahead import BuiltAhead
from training.curve import write_curve
from training.trainer import StageTrainer, StageTraining

STATE, LOG, CURVE, SETTINGS = "state.pt", "log.jsonl", "curve.csv", "settings.json"
REFUSED = 5  # steps in a row that are not finite end a stage; fewer are left out
Say = Callable[[str], None]


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
    """Run or resume a stage until its budget is used up or, after a step, `stop` is set."""
    log, stop = settings.work / LOG, stop or threading.Event()
    settings.work.mkdir(parents=True, exist_ok=True)
    batches = BuiltAhead(lesson.batches, settings.trainer.budget, processes=settings.builders)
    trainer = make_trainer(settings, replace(lesson, batches=batches), log)
    say = say if processes.FIRST else silent
    with closing(batches):
        if resumed := (settings.work / STATE).is_file():
            trainer.resume(settings.work / STATE)
            say(f"resumed after step {trainer.steps_done}")
        processes.anywhere(True)  # all have read what the first one now replaces
        if processes.FIRST:
            if not resumed:
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
    saved, refused = time.monotonic(), 0
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
        if processes.FIRST and time.monotonic() - saved > 60 * settings.save_minutes:
            save(trainer, settings.work)
            saved = time.monotonic()
    if processes.FIRST:
        save(trainer, settings.work)


def save(trainer: StageTrainer, work: Path) -> None:
    """Save the state and the learning curve."""
    trainer.save(work / STATE)
    if (work / LOG).is_file():
        write_curve(work / LOG, work / CURVE)


def describe(report: StepReport) -> str:
    """Return a step report as one line of text.

    >>> describe(StepReport(3, 0.5, 4.25, {"next_sentence": 0.5}, 1e-4, 1.0, 90.0))
    'step 3, 50.0 %, 1.5 min, 30.0 s a step, loss 4.250, next_sentence 0.500, rate 1.0e-04'
    """
    parts = "".join(f", {name} {value:.3f}" for name, value in report.parts.items())
    return (
        f"step {report.step}, {100 * report.progress:.1f} %, {report.seconds / 60:.1f} min, "
        f"{report.seconds / report.step:.1f} s a step, loss {report.loss:.3f}{parts}, "
        f"rate {report.learning_rate:.1e}"
    )


def write_settings(settings: StageSettings, trainer: StageTrainer, lesson: Lesson) -> None:
    """Record the recipe for the model card; it may have changed when training was resumed."""
    target, done = settings.work / SETTINGS, trainer.steps_done
    known: dict[str, Any] = {"started": time.time(), "phases": []}  # pauses count, too
    if done and target.is_file():
        known = json.loads(target.read_text(encoding="utf-8"))
    phases = [phase for phase in known["phases"] if phase["after_step"] < done]
    now = json.loads(json.dumps({"mixture": lesson.mixture, "trainer": asdict(trainer.settings)}))
    if not phases or phases[-1]["mixture"] != now["mixture"]:
        phases.append({"after_step": done, **now})
    known |= {"init": settings.init, "device": settings.device, "phases": phases}
    known["text_tokens"] = lesson.text_tokens
    target.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
