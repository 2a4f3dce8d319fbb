"""The whole recipe in one call: every stage, then the bundle with its figures and model card.

Each result has its own folder in the work folder and is not made again if it exists: one for each
stage by its name (state, log, curve), `after-<stage>` for what the next stage starts from, and
`bundle/`. `recipe.json` records the settings. A run that was killed resumes when it is started
again.
"""

import json
import shutil
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bert_core.errors import CheckpointError, InputError, MissingFileError
from bert_core.finetuning import Budget
from bert_core.finetuning.state import load_state
from training.export import export, finish
from training.lessons import LESSONS
from training.plan import Plan
from training.sources import absent
from training.stage import Lesson, Say, StageSettings, newest_state, train

FOLDERS = ("text", "relations", "qa", "ner", "sentiment", "mc")  # what all stages read
RECIPE, BUNDLE = "recipe.json", "bundle"


@dataclass(frozen=True, slots=True)
class RecipeSettings:
    """Settings of a run of the recipe.

    Attributes:
        data: the data folder.
        work: the work folder.
        init: folder or name of the model to start from.
        plan: how to run it, see `training.plan`.
        minutes: computing time for all stages together; None uses the budgets of the plan.
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

    def stage(self, name: str, budget: Budget, init: str | None = None) -> StageSettings:
        """Return the settings of one stage, which starts where the one before ended."""
        names = list(self.plan.stages)
        place = names.index(name)
        before = str(self.work / f"after-{names[place - 1]}") if place else self.init
        return self.plan.stage(
            name,
            self.data,
            self.work / name,
            init or before,
            budget=budget,
            save_minutes=self.save_minutes,
            pause_file=self.pause_file,
            seed=self.seed,
            cache=self.work,
        )


def run_recipe(
    settings: RecipeSettings,
    say: Say = print,
    stop: threading.Event | None = None,
    *,
    lessons: dict[str, Lesson] | None = None,
    finished: bool = True,
) -> Path | None:
    """Run or resume the recipe.

    Args:
        settings: settings of the run; a resumed run needs the same ones.
        say: called with lines of progress text.
        stop: when set, ends the current stage after its step and saves its state.
        lessons: what `prepare` returned, if it was called before.
        finished: whether to fit temperatures and measure the bundle; `finish` does it later.

    Returns:
        The bundle folder; None if `stop` was set first.

    Raises:
        InputError: the work folder belongs to a run with other settings.
        MissingFileError: the data folder lacks what a stage reads.
    """
    bundle = settings.work / BUNDLE
    names = ("init", "minutes", "seed")
    asked = {"machine": settings.plan.device, **{each: getattr(settings, each) for each in names}}
    budgets = _known_budgets(settings.work / RECIPE, asked, list(settings.plan.stages))
    if bundle.is_dir():
        say(f"{bundle} is finished. Remove it to make it again, or give another --work.")
        return bundle
    if missing := [name for name in FOLDERS if not (settings.data / name).is_dir()]:
        raise MissingFileError(
            f"The data folder {settings.data} has no {', '.join(missing)}; the whole recipe needs "
            f"{', '.join(FOLDERS)}. Check --data, or run single stages."
        )
    if left_out := absent(settings.data):
        say(f"not there, and left out: {', '.join(left_out)}")
    settings.work.mkdir(parents=True, exist_ok=True)
    lessons = {} if lessons is None else lessons
    if budgets is None:
        plan = settings.plan
        if settings.minutes is not None:
            plan = plan.with_minutes(settings.minutes)
        budgets = {name: stage.trainer.budget for name, stage in plan.stages.items()}
        plain = {name: asdict(budget) for name, budget in budgets.items()}
        _write(settings.work / RECIPE, {**asked, "budgets": plain})
    _announce(settings, budgets, say)
    for name, budget in budgets.items():
        stage = settings.stage(name, budget)
        if (done := progress(stage.work, budget)) < 1.0:
            say(f"{name}: {'goes on' if done else 'begins'}")
            if not train(stage, _lesson(settings, stage, lessons, say), say, stop).done:
                say("stopped; the same command goes on from here")
                return None
        lessons.pop(name, None)  # frees the memory
        after = settings.work / f"after-{name}"
        if name != list(budgets)[-1] and not after.is_dir():
            beside = _fresh(after)
            export(stage.work, beside, to_be_finished=True)
            beside.rename(after)
    beside = _fresh(bundle)
    export(stage.work, beside, to_be_finished=True)
    if finished:
        finish(beside, settings.data, settings.plan.device, say=say)
    beside.rename(bundle)
    say(f"the bundle is in {bundle}")
    return bundle


def prepare(settings: RecipeSettings, say: Say = print) -> dict[str, Lesson]:
    """Read and prepare the data of every stage; this needs no card."""
    lessons: dict[str, Lesson] = {}
    for name, stage in settings.plan.stages.items():
        work = settings.stage(name, stage.trainer.budget, settings.init)
        _lesson(settings, work, lessons, say)
    return lessons


def _lesson(
    settings: RecipeSettings, stage: StageSettings, lessons: dict[str, Lesson], say: Say
) -> Lesson:
    """Return the lesson of a stage, read only once; the stage's work folder has its name."""
    name = stage.work.name
    if name not in lessons:
        lessons[name] = LESSONS[name](stage, settings.plan.stages[name].sizes, say)
    return lessons[name]


# -- how long it takes -------------------------------------------------------------------------


def progress(work: Path, budget: Budget) -> float:
    """Return how much of a stage is done, 0 to 1."""
    found = newest_state(work, load_state)
    if found is None:
        return 0.0
    return budget.progress(int(found[1]["step"]), float(found[1]["seconds"]))


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


def _known_budgets(path: Path, asked: dict[str, Any], names: list[str]) -> dict[str, Budget] | None:
    """Read the budgets of an earlier run; None if there was none.

    Raises:
        InputError: that run had other settings.
        CheckpointError: the file is damaged.
    """
    if not path.is_file():
        return None
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        budgets = {name: Budget(**known["budgets"][name]) for name in names}
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


def _write(path: Path, values: dict[str, Any]) -> None:
    beside = path.with_name(path.name + ".part")
    beside.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    beside.replace(path)


def _fresh(folder: Path) -> Path:
    """Return a free path next to `folder`, to write to and rename to `folder` when complete."""
    beside = folder.with_name(folder.name + ".part")
    shutil.rmtree(beside, ignore_errors=True)
    return beside
