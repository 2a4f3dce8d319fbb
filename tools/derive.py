"""Compute everything that rests on the bundled weights: `python -m tools.derive` or `make derive`.

    python -m training export --work WORK --target bert_core/bundled/explorer-mini-uncased
    python -m tools.derive --data DATA           all steps, in order
    python -m tools.derive quotes pictures       these alone
    python -m tools.derive pictures --only qa    the picture of one page
    python -m tools.derive --list                the steps, and what each writes

Steps marked with "data" read the evaluation data. Each step runs in a process of its own, with two
threads; the same weights on the same machine give the same files. `tools/derived.json` records of
which weights they are. What only a person can put right is printed; the exit status is then 3.
"""

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from app.settings import BUNDLED_MODEL, ROOT
from bert_core.bundled import bundled_folder

if TYPE_CHECKING:
    from app.engine.models import Engine

BUNDLE = bundled_folder(BUNDLED_MODEL)
RECORDED = ROOT / "build" / "recorded"
TABLE = ROOT / "tools" / "derived.json"
_BUNDLE = BUNDLE.relative_to(ROOT).as_posix()
_THREADS = 2  # sums depend on their number
_PERSON = 3  # exit status: all is computed, but a person has to put something right

# Each step imports what it needs, so that `--help` and `--list` do not wait for PyTorch.


def _engine() -> "Engine":
    from app.engine.models import Engine

    return Engine(BUNDLED_MODEL)


def _temperatures(data: Any) -> None:
    from training.calibration import calibrate

    calibrate(BUNDLE, data, say=_say)


def _learned(_: Any) -> None:
    from training.learned import describe_training
    from training.record import RECORD, read_record

    describe_training(BUNDLE, read_record(BUNDLE / RECORD))


def _fitted(_: Any) -> None:
    from bert_core.analysis.fitting import write_fitted

    write_fitted(BUNDLE)


def _verification(_: Any) -> None:
    from bert_core.verification import write_verification

    write_verification(BUNDLE)


def _heads(_: Any) -> None:
    from bert_core.analysis.statistics_file import write_head_atlas, write_head_statistics

    write_head_statistics(BUNDLE)
    write_head_atlas(BUNDLE)


def _figures(data: Any) -> None:
    from training.evaluation import measure
    from training.export import describe_bundle

    describe_bundle(BUNDLE, measure(BUNDLE, data, say=_say))


def _card(_: Any) -> None:
    from bert_core.bundled.figures import read_figures
    from bert_core.bundled.leanings import read_bias
    from training.evaluation import Measured
    from training.export import describe_bundle

    describe_bundle(BUNDLE, Measured(read_figures(BUNDLE), read_bias(BUNDLE), ()))


def _finetune(_: Any) -> None:
    from app.features.lab.task_finetune import STEPS, tune
    from app.features.lab.task_finetune_recorded import write
    from app.features.lab.task_finetune_rows import READY, ready

    engine = _engine()
    for kind in READY.values():
        result = tune(engine, ready(kind), kind, STEPS[1]).result
        _say(write(result, engine.provenance.fingerprint).name)


def _examples(_: Any) -> None:
    from tools.example_heads import FILE, choose_heads, with_heads

    text = FILE.read_text(encoding="utf-8")
    FILE.write_text(with_heads(text, choose_heads(_engine(), text)), encoding="utf-8")


def _lessons(_: Any) -> Sequence[str]:
    from app.lessons.measured import FIGURES, stored
    from app.lessons.measuring import measure

    found = measure(_engine(), _say)
    FIGURES.write_text(found.written(), encoding="utf-8")
    stored.cache_clear()
    wrong = [name for name, each in found.claims.items() if not each.holds]
    wrong += [name for name, each in found.steps.items() if not each.holds]
    return [f"assets/lessons: {name} does not hold" for name in wrong]


def _quotes(_: Any) -> Sequence[str]:
    from tools import quotes
    from tools.observations import QUOTES

    return quotes.fill(_engine(), QUOTES)


def _api(_: Any) -> None:
    from app.faces import terminal
    from tools.documents import tables

    for page, table in tables():
        page.write_text(with_table(page.read_text(encoding="utf-8"), table), encoding="utf-8")
    listed = json.dumps(terminal.listed(), ensure_ascii=False, indent=1)
    terminal.LISTED.write_text(f"{listed}\n", encoding="utf-8")


def _pictures(only: Any) -> None:
    from tools import screenshots

    screenshots.main(only or "")


def _recorded(_: Any) -> None:
    from app.faces.recorded.writing import record

    shutil.rmtree(RECORDED, ignore_errors=True)
    record(_engine(), RECORDED, datetime.now(UTC).date().isoformat(), _say)


@dataclass(frozen=True, slots=True)
class Step:
    """One step."""

    name: Annotated[str, "its name on the command line"]
    says: Annotated[str, "what it computes"]
    run: Annotated[
        Callable[[Any], Sequence[str] | None],
        "computes it from the evaluation data (or the page to picture); returns what is left to do",
    ]
    makes: Annotated[tuple[str, ...], "patterns of its files, as the table records them"] = ()
    data: Annotated[bool, "whether it needs the evaluation data"] = False

    def files(self) -> list[str]:
        """Return the files it writes that are there, from the root of the repository."""
        found = (path for pattern in self.makes for path in ROOT.glob(pattern))
        return sorted(path.relative_to(ROOT).as_posix() for path in found)


STEPS = (
    Step("temperatures", "fits the temperature of every head", _temperatures,
         (f"{_BUNDLE}/config.json", f"{_BUNDLE}/heads/*/config.json"), data=True),
    Step("learned", "says what each head was trained on", _learned,
         (f"{_BUNDLE}/trained_on.json",)),
    Step("fitted", "fits the affine lens, and takes the means that replace what is switched off",
         _fitted, (f"{_BUNDLE}/fitted.safetensors",)),
    Step("verification", "computes the reference values of every head", _verification,
         (f"{_BUNDLE}/verification.*",)),
    Step("heads", "measures where each head looks, and what is lost without it", _heads,
         (f"{_BUNDLE}/head-*.json",)),
    Step("figures", "measures all tasks and the bias", _figures,
         (f"{_BUNDLE}/figures.json", f"{_BUNDLE}/bias.json"), data=True),
    Step("card", "writes the model card, with what was read by hand", _card,
         (f"{_BUNDLE}/README.md",)),
    Step("finetune", "records the fine-tunings of the lab", _finetune,
         ("app/features/lab/finetune_*.json",)),
    Step("examples", "chooses the heads that the attention examples open", _examples),
    Step("lessons", "counts what lessons claim, and looks at each of their steps", _lessons,
         ("assets/lessons/figures.json",)),
    Step("quotes", "writes what documents quote", _quotes),
    Step("api", "writes what documents and the command line say of tasks and settings", _api),
    Step("pictures", "takes the pictures of the documents (needs Chromium)", _pictures,
         ("docs/pictures/*.webp",)),
    Step("recorded", "writes the recorded site into build/recorded", _recorded),
)  # fmt: skip
"""In the order in which they need each other."""


def derived_files() -> dict[str, str]:
    """Return every derived file with the step that writes it."""
    return {name: step.name for step in STEPS for name in step.files()}


def weights_here() -> str:
    """Return the fingerprint of the bundled weights."""
    from app.engine.models.papers import fingerprint

    return fingerprint(BUNDLE)


# -- the table: each derived file with its step, its weights and its SHA-256 ---------------------


def read_table(path: Path = TABLE) -> dict[str, dict[str, str]]:
    """Read the table: file, from the root of the repository -> `step`, `weights`, `sha256`."""
    rows: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    return rows


def stamp(step: str, files: Iterable[str], table: Path = TABLE, *, others: bool = False) -> None:
    """Record that files are those of the bundled weights; forget the step's `others` or not."""
    rows = {k: v for k, v in read_table(table).items() if others or v["step"] != step}
    weights, root = weights_here(), table.parents[1]
    for name in files:
        rows[name] = {"step": step, "weights": weights, "sha256": _digest(root / name)}
    table.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def stale(
    weights: str, table: Mapping[str, Mapping[str, str]], expected: Mapping[str, str], root: Path
) -> list[str]:
    """Say of every file that does not belong to the weights what is wrong, and what to do.

    `table` is what is recorded, `expected` has the step of every derived file that there is.
    """
    found = []
    for name in sorted({*expected, *table}):
        row = table.get(name, {})
        if name not in expected:
            wrong = "is in the table, but no longer there"
        elif not row:
            wrong = "is derived from the weights, but not in the table"
        elif row["weights"] != weights:
            wrong = f"was computed from other weights ({row['weights']}) than these ({weights})"
        elif row["sha256"] != _digest(root / name):
            wrong = "was changed after it had been computed"
        else:
            continue
        step = expected.get(name) or row["step"]
        found.append(f"{name} {wrong}. Run `python -m tools.derive {step}`.")
    return found


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# -- the command ---------------------------------------------------------------------------------


def with_table(text: str, table: str) -> str:
    """Return a Markdown text with this table in place of the one that has the same head.

    Raises:
        ValueError: there is no such table, or several.
    """
    head = re.escape(table.partition("\n")[0])
    text, count = re.subn(rf"^{head}\n(?:\|.*\n)+", lambda _: f"{table}\n", text, flags=re.M)
    if count != 1:
        raise ValueError(f"{count} tables with the head {head}; expected one")
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    names = [step.name for step in STEPS]
    parser = argparse.ArgumentParser(
        prog="python -m tools.derive",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("steps", nargs="*", metavar="STEP", help=", ".join(names))
    parser.add_argument("--data", type=Path, help="folder of the evaluation data")
    parser.add_argument("--list", action="store_true", help="list the steps and their files")
    parser.add_argument("--only", metavar="SLUG", help="pictures: that of one page, or of home")
    given = parser.parse_args(arguments)
    if unknown := set(given.steps) - set(names):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; the steps are {', '.join(names)}")
    if given.only and given.steps != ["pictures"]:
        parser.error("--only takes the slug of a page, or home, and belongs to: pictures")
    steps = [step for step in STEPS if not given.steps or step.name in given.steps]
    if given.list:
        for step in steps:
            needs = " (data)" if step.data else ""
            _say("\n    ".join([f"{step.name:<13} {step.says}{needs}", *step.files()]))
        return 0
    if lacking := [step.name for step in steps if step.data and given.data is None]:
        parser.error(f"{', '.join(lacking)}: give the folder of the evaluation data: --data")
    return _one(steps[0], given.data, given.only) if len(steps) == 1 else _each(steps, given.data)


def _each(steps: Sequence[Step], data: Path | None) -> int:
    """Run several steps, each in a process of its own; end at the first that fails."""
    left = 0
    for step in steps:
        given = ["--data", str(data)] if step.data else []
        command = [sys.executable, "-m", "tools.derive", step.name, *given]
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
        if status not in (0, _PERSON):
            _say(f"{step.name} failed; the steps after it were not run.")
            return status
        left = max(left, status)
    return left


def _one(step: Step, data: Path | None, only: str | None) -> int:
    """Run a step here, record its files, and say how long it took."""
    _say(f"{step.name}: {step.says}")
    import torch

    torch.set_num_threads(_THREADS)
    began = time.monotonic()
    left = step.run(data if step.data else only) or ()
    files = [f"docs/pictures/{only}.webp"] if only else step.files()
    stamp(step.name, files, others=bool(only))
    for line in left:
        _say(f"  for a person: {line}")
    _say(f"{step.name}: {time.monotonic() - began:.0f} s")
    return _PERSON if left else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
