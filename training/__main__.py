"""The command line: `python -m training all | pretrain | tasks | export | evaluate`.

What a command needs is imported when it runs, so that `--help` does not wait for PyTorch.
"""

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bert_core.errors import BertError, InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except BertError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m training", description=(__doc__ or "").partition("\n\n")[0]
    )
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("all", help="run every stage by itself, up to a measured bundle")
    _add_run_options(command)
    command.add_argument("--minutes", type=float, help="for all stages; default: the plan's steps")
    command.add_argument(
        "--part", type=float, default=1.0, help="of this length; 0.001 tries everything"
    )
    command.set_defaults(run=_all)

    for name, text in {
        "pretrain": "train the encoder and both pretraining heads on text",
        "tasks": "train questions, names, sentiment and choices together with text",
    }.items():
        command = commands.add_parser(name, help=f"{text}; torchrun runs it in several processes")
        _add_run_options(command)
        length = command.add_mutually_exclusive_group()
        length.add_argument("--steps", type=int, help="length of the training in steps")
        length.add_argument("--minutes", type=float, help="length of the training in minutes")
        command.set_defaults(run=_stage, stage=name)

    command = commands.add_parser("export", help="write a bundle from a saved training")
    command.add_argument("--work", type=Path, required=True, help="work folder of the training")
    command.add_argument("--target", type=Path, required=True, help="folder of the bundle")
    command.add_argument("--data", type=Path, help="measure on this data folder, write the card")
    command.set_defaults(run=_export)

    command = commands.add_parser("evaluate", help="print the model card's table for any model")
    command.add_argument("--model", required=True, help="bundled name or folder")
    command.add_argument("--data", type=Path, required=True, help="data folder")
    command.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    command.add_argument("--json", action="store_true", help="print figures and bias as JSON")
    command.set_defaults(run=_evaluate)
    return parser


def _add_run_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--data", type=Path, required=True, help="data folder")
    command.add_argument("--work", type=Path, required=True, help="folder for all that is made")
    command.add_argument("--init", help="folder or name to start from; default: the plan's")
    command.add_argument(
        "--machine",
        choices=("auto", "cpu", "cuda"),
        default="auto",
        help="sizes and lengths of the steps, see training/plan.py; default: cuda where it is",
    )
    command.add_argument("--save-minutes", type=float, default=5.0, help="between saved states")
    command.add_argument("--seed", type=int, default=0, help="shifts every seed; 0: the recipe's")


def _all(options: argparse.Namespace) -> None:
    from training.plan import PLANS, choose
    from training.recipe import RecipeSettings, run_recipe

    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise InputError("torchrun trains single stages: pretrain or tasks.")
    plan = PLANS[choose(options.machine)]
    names = ("minutes", "part", "seed", "save_minutes")
    more = {name: getattr(options, name) for name in names}
    settings = RecipeSettings(options.data, options.work, _init(options, plan), plan, **more)
    run_recipe(settings, say=_say, stop=_polite_end())


def _stage(options: argparse.Namespace) -> None:
    from bert_core.finetuning import Budget
    from training.lessons import run_stage
    from training.plan import PLANS, choose

    plan = PLANS[choose(options.machine)]
    planned = plan.stages[options.stage]
    budget = planned.trainer.budget
    if options.steps is not None or options.minutes is not None:
        budget = Budget(options.steps, options.minutes)
    settings = plan.stage(
        options.stage,
        options.data,
        options.work,
        _init(options, plan),
        budget,
        save_minutes=options.save_minutes,
        seed=options.seed,
    )
    run_stage(options.stage, settings, planned.sizes, _say, _polite_end())


def _init(options: argparse.Namespace, plan: Any) -> str:
    from training.start import encoder_folder

    return options.init or plan.init or str(encoder_folder())


def _polite_end() -> threading.Event:
    """Return an event set by SIGTERM or SIGINT, so that a stage saves its state before it ends."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return stop


def _export(options: argparse.Namespace) -> None:
    from training.export import export, finish

    bundle = export(options.work, options.target)
    print(f"{bundle.size:,} bytes, sha256 {bundle.sha256}")
    finish(options.target, options.data, say=_whisper)


def _evaluate(options: argparse.Namespace) -> None:
    from training.card import figure_table, reached
    from training.evaluation import measure

    measured = measure(options.model, options.data, options.device, say=_whisper)
    if options.json:
        print(json.dumps(asdict(measured), indent=1, ensure_ascii=False))
        return
    print(f"{figure_table(measured.figures)}\n\n{reached(measured.figures)}")
    for line in measured.missing:
        print(f"Not measured: {line}.")


def _say(line: str) -> None:
    print(line, flush=True)


def _whisper(line: str) -> None:
    """Report progress on stderr, to keep stdout for the results."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
