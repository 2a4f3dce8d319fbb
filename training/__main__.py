"""The command line: `python -m training fetch | all | pretrain | long | tasks | export | evaluate
| precision`.

What a command needs is imported when it runs, so that `--help` does not wait for PyTorch.
"""

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bert_core.errors import BertError, InputError
from training.choices import LONG, PRETRAIN, TASKS, TYPES

if TYPE_CHECKING:
    from training.evaluation import Measured

# Options of a single stage that replace a setting of the plan, by the setting's name.
_TRAINER: dict[str, dict[str, Any]] = {
    "learning_rate": {"type": float, "help": "the highest"},
    "warmup_steps": {"type": int, "help": "until the highest learning rate"},
    "weight_decay": {"type": float, "help": "of matrices"},
    "layer_decay": {"type": float, "help": "rate of a layer beside the one above it"},
    "decay_share": {"type": float, "help": "share of the stage over which the rate falls"},
    "average_last": {"type": float, "help": "share of the stage to average weights over"},
    "optimizer": {
        "choices": ("muon", "adamw"),
        "help": "muon: Muon for the matrices of the layers, AdamW for the rest",
    },
}
_SIZES: dict[str, dict[str, Any]] = {
    "rate": {"type": float, "help": "share of the pieces hidden in blocks"},
    "everywhere": {
        "type": float,
        "help": "share of the blocks whose hidden words are hidden at every occurrence",
    },
}
_RUN = ("save_minutes", "pause_file", "seed")
_PRECISIONS = {"float32": False, "bfloat16": True, "auto": None}


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
    command = commands.add_parser("fetch", help="make a data folder from the public sources")
    command.add_argument("folder", nargs="?", type=Path, help="without it, the sources are listed")
    command.add_argument("names", nargs="*", metavar="FILE", help="only these; default: all")
    command.add_argument(
        "--mirror", default="", metavar="ADDRESS", help="of a copy with the same paths"
    )
    command.set_defaults(run=_fetch)

    command = commands.add_parser("all", help="run every stage by itself, up to a measured bundle")
    command.add_argument("--init", help="folder or name to start from; default: the plan's")
    command.add_argument(
        "--machine",
        choices=("auto", "cpu", "cuda"),
        default="auto",
        help="sizes and lengths of the steps, see training/plan.py; default: cuda where it is",
    )
    command.add_argument(
        "--minutes", type=float, help="computing for all stages; default: what the plan says"
    )
    _add_run_options(command)
    command.set_defaults(run=_all)

    _add_stage(commands, PRETRAIN, "train the masked-word and next-sentence heads")
    _add_stage(
        commands, LONG, "pretrain on one long schedule, measured on the way, with short sentences"
    )
    _add_stage(commands, TASKS, "train questions, names and sentiment together with pretraining")

    command = commands.add_parser("export", help="write a bundle from a saved training")
    command.add_argument("--work", type=Path, required=True, help="work folder of the training")
    command.add_argument("--target", type=Path, required=True, help="folder of the bundle")
    command.add_argument("--data", type=Path, help="measure on this data folder, write the card")
    command.add_argument("--blend", help="folder or name of a model whose weights are mixed in")
    command.add_argument("--share", type=float, default=0.3, help="of that model; default: 0.3")
    command.set_defaults(run=_export)

    command = commands.add_parser("evaluate", help="print the model card's table for any model")
    command.add_argument("--model", required=True, help="bundled name or folder")
    command.add_argument("--data", type=Path, required=True, help="data folder")
    command.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    command.add_argument("--json", action="store_true", help="print figures and bias as JSON")
    command.add_argument("--answers", action="store_true", help="show the words for each gap too")
    command.set_defaults(run=_evaluate)

    command = commands.add_parser("precision", help="what bfloat16 or float16 costs on every task")
    command.add_argument("--model", default="explorer-mini-uncased", help="bundled name or folder")
    command.add_argument("--data", type=Path, required=True, help="data folder")
    command.add_argument("--dtype", choices=TYPES, default=TYPES[0])
    command.add_argument("--rows", type=int, default=300, help="of each file; default: 300")
    command.set_defaults(run=_precision)
    return parser


def _add_stage(commands: Any, name: str, told: str) -> None:
    """Add the command of a single stage; what it is not given is as in the plan."""
    command = commands.add_parser(name, help=told)
    init = "folder or name to start from"
    if name == LONG:
        command.add_argument("--init", default="explorer-mini-uncased", help=init)
    else:
        default = "" if name == TASKS else "; default: encoder package"
        command.add_argument("--init", required=name == TASKS, help=f"{init}{default}")
    if name != PRETRAIN:
        command.add_argument("--measured", type=int, help="how often on the way")
    for option, described in (_TRAINER | _SIZES if name == LONG else _TRAINER).items():
        command.add_argument(f"--{option.replace('_', '-')}", **described)
    length = command.add_mutually_exclusive_group()
    length.add_argument("--steps", type=int, help="length of the training in steps")
    length.add_argument("--minutes", type=float, help="length of the training in minutes")
    command.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="and its plan")
    command.add_argument(
        "--precision", choices=tuple(_PRECISIONS), help="auto: as the processor prefers"
    )
    command.add_argument("--cache", type=Path, help="folder of encoded texts; default: --work")
    _add_run_options(command)
    command.set_defaults(run=_stage, stage=name)


def _add_run_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--data", type=Path, required=True, help="data folder")
    command.add_argument("--work", type=Path, required=True, help="folder for all that is made")
    command.add_argument("--save-minutes", type=float, default=5.0, help="between saved states")
    command.add_argument("--pause-file", type=Path, help="the training waits while it exists")
    command.add_argument("--seed", type=int, default=0, help="shifts every seed; 0: the recipe's")


def _fetch(options: argparse.Namespace) -> None:
    from training.fetching.command import fetch, listing

    if options.folder is None:
        print("\n".join(listing()))
    else:
        fetch(options.folder, options.names, options.mirror.rstrip("/"), _say)


def _all(options: argparse.Namespace) -> None:
    from training.plan import PLANS, choose
    from training.recipe import RecipeSettings, run_recipe
    from training.start import encoder_folder

    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise InputError("torchrun trains single stages: pretrain, long or tasks.")
    plan = PLANS[choose(options.machine)].on_this_machine()
    settings = RecipeSettings(
        options.data,
        options.work,
        options.init or plan.init or str(encoder_folder()),
        plan,
        minutes=options.minutes,
        **_given(options, _RUN),
    )
    run_recipe(settings, say=_say, stop=_polite_end())


def _stage(options: argparse.Namespace) -> None:
    from bert_core.finetuning import Budget
    from training.lessons import run_stage
    from training.plan import PLANS, choose
    from training.start import encoder_folder

    plan = PLANS[choose(options.device)]
    plan = replace(
        plan,
        bfloat16=_PRECISIONS.get(options.precision, plan.bfloat16),
    ).on_this_machine()
    planned = plan.stages[options.stage]
    trainer = replace(planned.trainer, **_given(options, _TRAINER))
    if options.steps is not None or options.minutes is not None:
        trainer = replace(trainer, budget=Budget(options.steps, options.minutes))
    planned = replace(planned, trainer=trainer, **_given(options, ["measured"]))
    settings = replace(plan, stages={**plan.stages, options.stage: planned}).stage(
        options.stage,
        options.data,
        options.work,
        options.init or str(encoder_folder()),
        cache=options.cache,
        **_given(options, _RUN),
    )
    sizes = replace(planned.sizes, **_given(options, _SIZES))
    run_stage(options.stage, settings, sizes, _say, _polite_end())


def _given(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Return the options among these that the command line sets."""
    found = {name: getattr(options, name, None) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def _polite_end() -> threading.Event:
    """Return an event set by SIGTERM or SIGINT, so that a stage saves its state before it ends."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return stop


def _say(line: str) -> None:
    print(line, flush=True)


def _export(options: argparse.Namespace) -> None:
    from training.blend import Blend
    from training.export import export, finish

    blend = None if options.blend is None else Blend(options.blend, options.share)
    bundle = export(
        options.work, options.target, blend=blend, to_be_finished=options.data is not None
    )
    print(f"{bundle.size:,} bytes, sha256 {bundle.sha256}")
    if options.data is not None:
        finish(options.target, options.data, say=_whisper)


def _evaluate(options: argparse.Namespace) -> None:
    from training.evaluation import measure
    from training.pretraining_evaluation import fills, gap_answers
    from training.tables import figure_table, reached

    measured = measure(options.model, options.data, options.device, say=_whisper)
    print(_as_json(measured) if options.json else figure_table(measured.figures))
    if options.json:
        return
    print(f"\n{reached(measured.figures)}")
    for line in measured.missing:
        print(f"Not measured: {line}.")
    if options.answers:
        print()
        for gap, words in gap_answers(options.model):
            mark = "good" if fills(gap, words) else "----"
            print(f"{mark}  {gap.sentence}  {', '.join(words)}")


def _precision(options: argparse.Namespace) -> None:
    from training.precision import difference_table, differences, loss_table, losses

    found = []
    for each in losses(options.model, options.data, options.dtype, options.rows, say=_whisper):
        found.append(each)
        _whisper(f"{each.task}: {each.cases} cases")
    print(loss_table(found, options.dtype))
    print(f"\n{difference_table(differences(options.model, options.data, options.dtype))}")


def _as_json(measured: "Measured") -> str:
    return json.dumps(asdict(measured), indent=1, ensure_ascii=False)


def _whisper(line: str) -> None:
    """Report progress on stderr, to keep stdout for the results."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
