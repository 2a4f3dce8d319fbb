"""The whole recipe in one call: every stage, then the bundle with its figures and model card.

Each result has its own folder in the work folder and is not made again if it exists: one for each
stage by its name (state, log, curve), `after-<stage>` for what the next stage starts from, and
`bundle/`. `recipe.json` records the settings. The same command resumes a run that was killed.
"""

import json
import shutil
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from bert_core.errors import CheckpointError, InputError, MissingFileError
from bert_core.finetuning import Budget
from bert_core.finetuning.state import load_state
from training.export import export, finish
from training.lessons import LESSONS, absent
from training.plan import Plan
from training.stage import STATE, Lesson, Say, StageSettings, train

FOLDERS = ("text", "qa", "ner", "sentiment", "mc")  # what all stages read
RECIPE, BUNDLE = "recipe.json", "bundle"


@dataclass(frozen=True, slots=True)
class RecipeSettings:
    """Settings of a run of the recipe."""

    data: Annotated[Path, "the data folder"]
    work: Annotated[Path, "the work folder"]
    init: Annotated[str, "folder or name of the model to start from"]
    plan: Annotated[Plan, "how to run it, see `training.plan`"]
    minutes: Annotated[float | None, "for all stages together; None: the plan's lengths"] = None
    part: Annotated[float, "of these lengths; a thousandth tries everything"] = 1.0
    seed: Annotated[int, "added to every seed; 0 gives the recipe's own"] = 0
    save_minutes: Annotated[float, "minutes between saved states"] = 5.0

    def budgets(self) -> dict[str, Budget]:
        """Return the length of each stage."""
        return self.plan.budgets(self.minutes, self.part)

    def stage(self, name: str, init: str | None = None) -> StageSettings:
        """Return the settings of one stage, which starts where the one before ended."""
        names = list(self.plan.stages)
        place = names.index(name)
        before = str(self.work / f"after-{names[place - 1]}") if place else self.init
        return self.plan.stage(
            name,
            self.data,
            self.work / name,
            init or before,
            self.budgets()[name],
            save_minutes=self.save_minutes,
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

    A resumed run needs the same settings. `lessons` is what `prepare` returned, if it was called
    before; unless `finished`, temperatures and figures are left to `training.export.finish`.

    Returns:
        The bundle folder; None if `stop` was set first: the stage ends after its step.
    """
    bundle, lessons = settings.work / BUNDLE, lessons or {}
    if bundle.is_dir():
        say(f"{bundle} is finished. Remove it to make it again, or give another --work.")
        return bundle
    _begin(settings, say)
    for name, budget in settings.budgets().items():
        stage = settings.stage(name)
        if (done := progress(stage.work, budget)) < 1.0:
            say(f"{name}: {'goes on' if done else 'begins'}")
            if not train(stage, _lesson(settings, stage, lessons, say), say, stop).done:
                say("stopped; the same command goes on from here")
                return None
        lessons.pop(name, None)  # frees the memory
        after = settings.work / f"after-{name}"
        if not after.is_dir():
            beside = _fresh(after)
            export(stage.work, beside)
            beside.rename(after)
    beside = _fresh(bundle)
    shutil.copytree(after, beside)
    if finished:
        finish(beside, settings.data, settings.plan.device, say=say)
    beside.rename(bundle)
    say(f"the bundle is in {bundle}")
    return bundle


def prepare(settings: RecipeSettings, say: Say = print) -> dict[str, Lesson]:
    """Read and prepare the data of every stage; this needs no card."""
    lessons: dict[str, Lesson] = {}
    for name in settings.plan.stages:
        _lesson(settings, settings.stage(name, settings.init), lessons, say)
    return lessons


def _lesson(
    settings: RecipeSettings, stage: StageSettings, lessons: dict[str, Lesson], say: Say
) -> Lesson:
    """Return the lesson of a stage, read only once; the stage's work folder has its name."""
    name = stage.work.name
    if name not in lessons:
        lessons[name] = LESSONS[name](stage, settings.plan.stages[name].sizes, say)
    return lessons[name]


def progress(work: Path, budget: Budget) -> float:
    """Return how much of a stage is done, 0 to 1."""
    if not (work / STATE).is_file():
        return 0.0
    state = load_state(work / STATE)
    return budget.progress(state["step"], state["seconds"])


def _begin(settings: RecipeSettings, say: Say) -> None:
    """Record the settings, compare them with an earlier run's, and report what is left to do."""
    if missing := [name for name in FOLDERS if not (settings.data / name).is_dir()]:
        raise MissingFileError(
            f"The data folder {settings.data} has no {', '.join(missing)}; the whole recipe needs "
            f"{', '.join(FOLDERS)}. Check --data, or run single stages."
        )
    names = ("init", "minutes", "part", "seed")
    asked = {"machine": settings.plan.device, **{each: getattr(settings, each) for each in names}}
    budgets = {name: asdict(budget) for name, budget in settings.budgets().items()}
    path = settings.work / RECIPE
    settings.work.mkdir(parents=True, exist_ok=True)
    if path.is_file():
        _compare(path, asked)
    else:
        path.write_text(json.dumps({**asked, "budgets": budgets}) + "\n", encoding="utf-8")
    if left_out := absent(settings.data):
        say(f"not there, and left out: {', '.join(left_out)}")
    for name, budget in settings.budgets().items():
        left = 1.0 - progress(settings.work / name, budget)
        whole, unit = (budget.steps, "steps") if budget.steps else (budget.minutes, "minutes")
        say(f"{name}: {left * (whole or 0):,.0f} {unit} to go")
    say("Not in these: reading the texts at the start, temperatures and measurements at the end.")


def _compare(path: Path, asked: dict[str, Any]) -> None:
    """Compare the settings of a run with those recorded before."""
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        other = [f"--{n} {known[n]} (now {now})" for n, now in asked.items() if known[n] != now]
    except (ValueError, TypeError, KeyError) as error:
        raise CheckpointError(
            f"{path} cannot be read ({error!r}). Give another --work to start again."
        ) from error
    if other:
        raise InputError(
            f"The training in {path.parent} was started with {', '.join(other)}. Go on with the "
            "same, or give another --work."
        )


def _fresh(folder: Path) -> Path:
    """Return a free path next to `folder`, to write to and rename to `folder` when complete."""
    beside = folder.with_name(folder.name + ".part")
    shutil.rmtree(beside, ignore_errors=True)
    return beside
