"""Compute everything that rests on the bundled weights: `python -m tools.derive` or `make derive`.

    python -m training export --work WORK --target bert_core/bundled/explorer-mini-uncased
    python -m tools.derive --data DATA           all steps, in order
    python -m tools.derive quotes pictures       these alone
    python -m tools.derive pictures --only qa    the picture of one page
    python -m tools.derive --list                the steps, and what each writes

Steps marked with "data" read the evaluation data. Each step runs in a process of its own, with two
threads, because sums depend on their number; the same weights on the same machine give the same
files. What was written for which weights is recorded in `tools/derived.toml`. What only a person
can put right, such as a sentence of a document, is named, and the exit status is then 3.

What a step needs is imported when it runs: `--help` and `--list` do not wait for PyTorch.

`--stamp` computes nothing: it records that the files of the steps named are right for the present
weights, after a change of their wording alone.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from app.settings import BUNDLED_MODEL, ROOT
from bert_core.bundled import bundled_folder
from tools.derived import stamp

BUNDLE = bundled_folder(BUNDLED_MODEL)
RECORDED = ROOT / "build" / "recorded"
_BUNDLE = BUNDLE.relative_to(ROOT).as_posix()
_THREADS = 2
_PERSON = 3  # exit status: all is computed, but a person has to put something right


@dataclass(frozen=True, slots=True)
class Step:
    """One step.

    Attributes:
        name: its name on the command line.
        says: what it computes.
        run: computes it, given the evaluation data; returns what a person has to put right.
        makes: patterns of the files it writes, recorded in the table of derived files.
        data: whether it needs the evaluation data.
    """

    name: str
    says: str
    run: Callable[[Path | None], Sequence[str]]
    makes: tuple[str, ...] = ()
    data: bool = False

    def files(self) -> list[str]:
        """Return the files it writes that are there, from the root of the repository."""
        found = (path for pattern in self.makes for path in ROOT.glob(pattern))
        return sorted(path.relative_to(ROOT).as_posix() for path in found)


def _temperatures(data: Path | None) -> Sequence[str]:
    assert data is not None
    from training.calibration import calibrate

    calibrate(BUNDLE, data, say=_say)
    return ()


def _learned(data: Path | None) -> Sequence[str]:
    from training.learned import describe_training
    from training.record import RECORD, read_record

    describe_training(BUNDLE, read_record(BUNDLE / RECORD))
    return ()


def _fitted(data: Path | None) -> Sequence[str]:
    from bert_core.analysis.fitting import write_fitted

    write_fitted(BUNDLE)
    return ()


def _verification(data: Path | None) -> Sequence[str]:
    from bert_core.verification import write_verification

    write_verification(BUNDLE)
    return ()


def _heads(data: Path | None) -> Sequence[str]:
    from bert_core.analysis.statistics_file import write_head_atlas, write_head_statistics

    write_head_statistics(BUNDLE)
    write_head_atlas(BUNDLE)
    return ()


def _figures(data: Path | None) -> Sequence[str]:
    assert data is not None
    from training.evaluation import measure
    from training.export import describe_bundle

    describe_bundle(BUNDLE, measure(BUNDLE, data, say=_say))
    return ()


def _card(data: Path | None) -> Sequence[str]:
    from bert_core.bundled.figures import read_figures
    from bert_core.bundled.leanings import read_bias
    from training.evaluation import Measured
    from training.export import describe_bundle

    describe_bundle(BUNDLE, Measured(read_figures(BUNDLE), read_bias(BUNDLE), ()))
    return ()


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


def _api(data: Path | None) -> Sequence[str]:
    from app.faces import terminal
    from tools.documents import tables

    for page, table in tables():
        page.write_text(with_table(page.read_text(encoding="utf-8"), table), encoding="utf-8")
    said = json.dumps(terminal.listed(), ensure_ascii=False, indent=1)
    terminal.LISTED.write_text(f"{said}\n", encoding="utf-8")
    return ()


def _finetune(data: Path | None) -> Sequence[str]:
    from tools import finetune

    finetune.main()
    return ()


def _examples(data: Path | None) -> Sequence[str]:
    from app.engine.models import Engine
    from tools import example_heads

    example_heads.choose_again(Engine(BUNDLED_MODEL))
    return ()


def _lessons(data: Path | None) -> Sequence[str]:
    from app.engine.models import Engine
    from tools import lessons

    return lessons.measure(Engine(BUNDLED_MODEL), _say)


def _quotes(data: Path | None) -> Sequence[str]:
    from app.engine.models import Engine
    from tools import quotes
    from tools.observations import QUOTES

    return quotes.fill(Engine(BUNDLED_MODEL), QUOTES)


def _pictures(data: Path | None) -> Sequence[str]:
    from tools import screenshots

    screenshots.main()
    return ()


def _recorded(data: Path | None) -> Sequence[str]:
    from app.engine.models import Engine
    from app.faces.recorded.writing import record

    shutil.rmtree(RECORDED, ignore_errors=True)
    record(Engine(BUNDLED_MODEL), RECORDED, datetime.now(UTC).date().isoformat(), _say)
    return ()


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
    Step("lessons", "counts what lessons claim, and chooses their texts", _lessons,
         ("assets/lessons/figures.json",)),
    Step("quotes", "writes what documents quote", _quotes, ("tools/quotes.json",)),
    Step("api", "writes what documents and the command line say of tasks and settings", _api),
    Step("pictures", "takes the pictures of the documents (needs Chromium)", _pictures,
         ("docs/pictures/*.webp",)),
    Step("recorded", "writes the recorded site into build/recorded", _recorded),
)  # fmt: skip
"""In the order in which they need each other."""
_NAMES = tuple(step.name for step in STEPS)


def derived_files() -> dict[str, str]:
    """Return every derived file with the step that writes it."""
    return {name: step.name for step in STEPS for name in step.files()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if unknown := set(options.steps) - set(_NAMES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; the steps are {', '.join(_NAMES)}")
    if options.list:
        _say("\n".join(_listed(step) for step in STEPS))
        return 0
    steps = [step for step in STEPS if not options.steps or step.name in options.steps]
    if options.stamp:
        for step in steps:
            stamp(step.name, step.files())
        return 0
    if options.only:
        if options.steps != ["pictures"]:
            parser.error("--only takes the slug of a page, or home, and belongs to: pictures")
        return _one(_of_one_page(steps[0], options.only), None, others_stay=True)
    if lacking := [step.name for step in steps if step.data and options.data is None]:
        parser.error(
            f"{', '.join(lacking)}: the evaluation data is needed. Give its folder with --data, or "
            "name other steps."
        )
    return _one(steps[0], options.data) if len(steps) == 1 else _each(steps, options.data)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.derive",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("steps", nargs="*", metavar="STEP", help=", ".join(_NAMES))
    parser.add_argument("--data", type=Path, help="folder of the evaluation data")
    parser.add_argument("--list", action="store_true", help="list the steps and their files")
    parser.add_argument("--only", metavar="SLUG", help="pictures: that of one page, or of home")
    parser.add_argument("--stamp", action="store_true", help="only record the steps' files")
    return parser


def _listed(step: Step) -> str:
    needs = " (data)" if step.data else ""
    return f"{step.name:<13} {step.says}{needs}" + "".join(f"\n    {n}" for n in step.files())


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


def _of_one_page(step: Step, slug: str) -> Step:
    """Return the step that takes one picture."""

    def run(data: Path | None) -> Sequence[str]:
        from tools import screenshots

        screenshots.main(slug)
        return ()

    return replace(step, run=run, makes=(f"docs/pictures/{slug}.webp",))


def _one(step: Step, data: Path | None, *, others_stay: bool = False) -> int:
    """Run a step here, record its files, and say how long it took."""
    _say(f"{step.name}: {step.says}")
    import torch

    torch.set_num_threads(_THREADS)
    began = time.monotonic()
    left = step.run(data)
    stamp(step.name, step.files(), others_stay=others_stay)
    for line in left:
        _say(f"  for a person: {line}")
    _say(f"{step.name}: {time.monotonic() - began:.0f} s")
    return _PERSON if left else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
