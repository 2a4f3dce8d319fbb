"""The whole recipe in one call: both stages, then the bundle with its figures and model card.

Each result has its own folder in the work folder and is not made again if it exists: `pretrain/`
and `tasks/` (state, log, curve), `pretrained/` (what the second stage starts from) and `bundle/`.
`recipe.json` records the settings. A run that was killed resumes when it is started again.
"""

import json
import shutil
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bert_core.errors import CheckpointError, InputError
from bert_core.finetuning import Budget
from bert_core.finetuning.state import load_state
from training.export import export
from training.finish import finish
from training.joint import task_lesson
from training.plan import Plan
from training.pretrain import pretraining_lesson
from training.stage import STATE, Lesson, StageSettings, prepare, seconds_a_step, train
from training.start import start_model
from training.task_model import start_task_model

RECIPE = "recipe.json"
PRETRAIN, TASKS, PRETRAINED, BUNDLE = "pretrain", "tasks", "pretrained", "bundle"
MEASURED_STEPS = 8  # both untimed and timed; enough to include a step of each kind
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class RecipeSettings:
    """Settings of a run of the recipe.

    Attributes:
        data: the data folder.
        work: the work folder.
        init: folder or name of the model to start from.
        plan: how to run it, see `training.plan`.
        minutes: computing time for both stages together; None uses the budgets of the plan.
        seed: added to every seed; 0 gives the recipe's own seeds.
        save_minutes: minutes between saved states.
        pause_file: while it exists, the training waits.
    """

    data: Path
    work: Path
    init: str
    plan: Plan
    minutes: float | None = None
    seed: int = 0
    save_minutes: float = 5.0
    pause_file: Path | None = None

    def stage(self, name: str, budget: Budget) -> StageSettings:
        """Return the settings of one stage."""
        plan = self.plan
        trainer = plan.trainer(plan.pretrain if name == PRETRAIN else plan.tasks)
        return StageSettings(
            data=self.data,
            work=self.work / name,
            init=self.init if name == PRETRAIN else str(self.work / PRETRAINED),
            trainer=replace(trainer, budget=budget),
            device=plan.device,
            save_minutes=self.save_minutes,
            pause_file=self.pause_file,
            seed=self.seed,
            cache=self.work,
            builders=plan.builders,
            pad_to=plan.pad_to,
        )


def run_recipe(
    settings: RecipeSettings, say: Say = print, stop: threading.Event | None = None
) -> Path | None:
    """Run or resume the recipe.

    Args:
        settings: settings of the run; a resumed run needs the same ones.
        say: called with lines of progress text.
        stop: when set, ends the current stage after its step and saves its state.

    Returns:
        The bundle folder; None if `stop` was set first.

    Raises:
        InputError: the work folder belongs to a run with other settings.
    """
    bundle = settings.work / BUNDLE
    asked = _asked(settings)
    budgets = _known_budgets(settings.work / RECIPE, asked)
    if bundle.is_dir():
        say(f"{bundle} is finished. Remove it to make it again, or give another --work.")
        return bundle
    settings.work.mkdir(parents=True, exist_ok=True)
    lessons = _Lessons(settings, say)
    if budgets is None:
        budgets = _budgets(settings, lessons, say)
        _write(settings.work / RECIPE, {**asked, "budgets": _plain(budgets)})
    _announce(settings, budgets, say)
    for name in (PRETRAIN, TASKS):
        if not _run_stage(settings, name, budgets[name], lessons, say, stop):
            say("stopped; the same command goes on from here")
            return None
    if not bundle.is_dir():
        beside = _fresh(bundle)
        export(settings.work / TASKS, beside, to_be_finished=True)
        finish(beside, settings.data, settings.plan.device, say=say)
        beside.rename(bundle)
    say(f"the bundle is in {bundle}")
    return bundle


def _run_stage(
    settings: RecipeSettings,
    name: str,
    budget: Budget,
    lessons: "_Lessons",
    say: Say,
    stop: threading.Event | None,
) -> bool:
    """Run the rest of a stage and return whether it is finished."""
    stage = settings.stage(name, budget)
    if progress(stage.work, budget) < 1.0:
        say(f"{name}: begins" if not (stage.work / STATE).is_file() else f"{name}: goes on")
        prepare(stage)
        if not train(stage, lessons.of(name, stage), say, stop).done:
            return False
    lessons.forget(name)
    pretrained = settings.work / PRETRAINED
    if name == PRETRAIN and not pretrained.is_dir():
        beside = _fresh(pretrained)
        export(stage.work, beside)
        beside.rename(pretrained)
    return True


class _Lessons:
    """The lessons of both stages, each read only once."""

    def __init__(self, settings: RecipeSettings, say: Say) -> None:
        self.settings, self.say = settings, say
        self._read: dict[str, Lesson] = {}

    def of(self, name: str, stage: StageSettings) -> Lesson:
        """Return the lesson of a stage, starting from the model named in its settings."""
        if name not in self._read:
            plan = self.settings.plan
            if name == PRETRAIN:
                self._read[name] = pretraining_lesson(stage, plan.mixture, self.say)
            else:
                self._read[name] = task_lesson(stage, plan.joint, self.say)
        if name == PRETRAIN:
            return self._read[name]
        return replace(
            self._read[name], start=lambda: start_task_model(start_model(stage.init), stage.init)
        )

    def forget(self, name: str) -> None:
        """Free the memory of a finished stage."""
        self._read.pop(name, None)


# -- how long it takes -------------------------------------------------------------------------


def progress(work: Path, budget: Budget) -> float:
    """Return how much of a stage is done, 0 to 1."""
    if not (work / STATE).is_file():
        return 0.0
    record = load_state(work / STATE)["record"]
    return budget.progress(int(record["step"]), float(record["seconds"]))


def _budgets(settings: RecipeSettings, lessons: _Lessons, say: Say) -> dict[str, Budget]:
    """Return the budget of each stage, in steps if batches are built in advance.

    Step time is measured on this machine: it converts minutes into steps, and gives an estimate
    of how long the steps of the plan will take.
    """
    plan = (
        settings.plan if settings.minutes is None else settings.plan.with_minutes(settings.minutes)
    )
    wanted = {PRETRAIN: plan.pretrain.budget, TASKS: plan.tasks.budget}
    if all(budget.steps is None for budget in wanted.values()) and not plan.builders:
        return wanted
    found = {}
    for name, budget in wanted.items():
        stage = replace(settings.stage(name, budget), init=settings.init)
        prepare(stage)
        seconds = seconds_a_step(
            stage, lessons.of(name, stage), warm=MEASURED_STEPS, timed=MEASURED_STEPS
        )
        steps = budget.steps or max(1, round(60 * (budget.minutes or 0) / seconds))
        found[name] = Budget(steps=steps) if plan.builders else budget
        say(
            f"{name}: {seconds:.2f} s a step, measured over {MEASURED_STEPS} steps on a copy; "
            f"{steps:,} steps take {steps * seconds / 60:.0f} minutes"
        )
    return found


def _announce(settings: RecipeSettings, budgets: dict[str, Budget], say: Say) -> None:
    """Report what is left to do."""
    total = 0.0
    for name, budget in budgets.items():
        left = 1.0 - progress(settings.work / name, budget)
        if budget.minutes is not None:
            total += left * budget.minutes
            say(f"{name}: {left * budget.minutes:.0f} minutes of computing to go, by its budget")
        else:
            say(f"{name}: {round(left * (budget.steps or 0)):,} steps to go")
    if total:
        say(f"together: {total / 60:.1f} hours, without pauses")
    say("Not in these: reading the texts at the start, temperatures and measurements at the end.")


# -- recorded settings ------------------------------------------------------------------------


def _asked(settings: RecipeSettings) -> dict[str, Any]:
    return {
        "machine": settings.plan.device,
        "init": settings.init,
        "minutes": settings.minutes,
        "seed": settings.seed,
    }


def _known_budgets(path: Path, asked: dict[str, Any]) -> dict[str, Budget] | None:
    """Read the budgets of an earlier run; None if there was none.

    Raises:
        InputError: that run had other settings.
        CheckpointError: the file is damaged.
    """
    if not path.is_file():
        return None
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        budgets = {name: Budget(**known["budgets"][name]) for name in (PRETRAIN, TASKS)}
        other = [
            f"--{name} {known[name]} (now {asked[name]})"
            for name in asked
            if known[name] != asked[name]
        ]
    except (ValueError, TypeError, KeyError) as error:
        raise CheckpointError(
            f"{path} cannot be read ({error!r}). Give another --work to start again."
        ) from error
    if other:
        raise InputError(
            f"The training in {path.parent} was started with {', '.join(other)}. Go on with the "
            "same, or give another --work."
        )
    return budgets


def _plain(budgets: dict[str, Budget]) -> dict[str, Any]:
    return {name: asdict(budget) for name, budget in budgets.items()}


def _write(path: Path, values: dict[str, Any]) -> None:
    beside = path.with_name(path.name + ".part")
    beside.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    beside.replace(path)


def _fresh(folder: Path) -> Path:
    """Return a free path next to `folder`, to write to and rename to `folder` when complete."""
    beside = folder.with_name(folder.name + ".part")
    shutil.rmtree(beside, ignore_errors=True)
    return beside
