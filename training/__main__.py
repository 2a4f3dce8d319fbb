"""The command line: `python -m training all | pretrain | long | tasks | export | evaluate`."""

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from bert_core.errors import BertError
from bert_core.finetuning import Budget, TrainerSettings
from training.blend import Blend
from training.evaluation import Measured, measure
from training.export import export
from training.finish import finish
from training.joint import train_tasks
from training.long_mixture import LongSettings
from training.long_run import run_long
from training.mixture import MixtureSettings
from training.plan import PLANS, choose
from training.pretrain import pretrain
from training.pretraining_evaluation import fills, gap_answers
from training.recipe import RecipeSettings, run_recipe
from training.stage import StageSettings
from training.start import encoder_folder, prefers_bfloat16
from training.tables import figure_table, reached


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
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    stages = parser.add_subparsers(required=True)
    stage = stages.add_parser("all", help="run every stage by itself, up to a measured bundle")
    stage.add_argument("--data", type=Path, required=True, help="data folder")
    stage.add_argument("--work", type=Path, required=True, help="folder for all that is made")
    stage.add_argument("--init", help="folder or name to start from; default: the encoder package")
    stage.add_argument(
        "--machine",
        choices=("auto", "cpu", "cuda"),
        default="auto",
        help="sizes and lengths of the steps, see training/plan.py; default: cuda where it is",
    )
    stage.add_argument(
        "--minutes", type=float, help="computing for both stages; default: what the plan says"
    )
    _add_common_options(stage)
    stage.set_defaults(run=_all)

    stage = stages.add_parser("pretrain", help="train the masked-word and next-sentence heads")
    stage.add_argument("--init", help="folder or name to start from; default: the encoder package")
    _add_stage_options(stage, learning_rate=6e-4)
    stage.set_defaults(run=_pretrain)

    stage = stages.add_parser(
        "long", help="pretrain on one long schedule, measured on the way, with short sentences"
    )
    stage.add_argument(
        "--init", default="explorer-mini-uncased", help="folder or name to start from"
    )
    stage.add_argument("--decay-share", type=float, default=0.25, help="of it the rate falls")
    stage.add_argument("--weight-decay", type=float, default=0.1, help="of matrices")
    stage.add_argument(
        "--rate", type=float, default=0.2, help="share of the pieces hidden in blocks"
    )
    stage.add_argument(
        "--everywhere",
        type=float,
        default=0.5,
        help="share of the blocks whose hidden words are hidden wherever they stand",
    )
    stage.add_argument("--cache", type=Path, help="folder of the encoded texts; default: --work")
    stage.add_argument("--measured", type=int, default=8, help="how often on the way")
    _add_stage_options(stage, learning_rate=5e-4)
    stage.set_defaults(run=_long, average_last=0.1, warmup_steps=200)

    stage = stages.add_parser(
        "tasks", help="train questions, names and sentiment together with pretraining"
    )
    stage.add_argument("--init", required=True, help="folder or name of a pretrained model")
    _add_stage_options(stage, learning_rate=3e-4)
    stage.set_defaults(run=_tasks)

    stage = stages.add_parser("export", help="write a bundle from a saved training")
    stage.add_argument("--work", type=Path, required=True, help="work folder of the training")
    stage.add_argument("--target", type=Path, required=True, help="folder of the bundle")
    stage.add_argument("--data", type=Path, help="measure on this data folder, write the card")
    stage.add_argument("--blend", help="folder or name of a model whose weights are mixed in")
    stage.add_argument("--share", type=float, default=0.3, help="of that model; default: 0.3")
    stage.set_defaults(run=_export)

    stage = stages.add_parser("evaluate", help="print the model card's table for any model")
    stage.add_argument("--model", required=True, help="bundled name or folder")
    stage.add_argument("--data", type=Path, required=True, help="data folder")
    stage.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    stage.add_argument("--json", action="store_true", help="print figures and bias as JSON")
    stage.add_argument("--answers", action="store_true", help="show the words for each gap too")
    stage.set_defaults(run=_evaluate)
    return parser


def _add_stage_options(stage: argparse.ArgumentParser, *, learning_rate: float) -> None:
    stage.add_argument("--data", type=Path, required=True, help="data folder")
    stage.add_argument("--work", type=Path, required=True, help="folder for state, log and curve")
    length = stage.add_mutually_exclusive_group(required=True)
    length.add_argument("--steps", type=int, help="length of the training in steps")
    length.add_argument("--minutes", type=float, help="length of the training in minutes")
    stage.add_argument("--learning-rate", type=float, default=learning_rate)
    stage.add_argument("--warmup-steps", type=int, default=100)
    stage.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    stage.add_argument("--precision", choices=("auto", "float32", "bfloat16"), default="auto")
    stage.add_argument(
        "--workers", type=int, help="threads of the processor; default: all it has, 1 on CUDA"
    )
    stage.add_argument(
        "--layer-decay", type=float, default=1.0, help="rate of a layer beside the one above it"
    )
    stage.add_argument(
        "--average-last", type=float, default=0.0, help="share of the stage to average weights over"
    )
    stage.add_argument(
        "--optimizer",
        choices=("muon", "adamw"),
        default="muon",
        help="muon: Muon for the matrices of the layers, AdamW for the rest",
    )
    _add_common_options(stage)


def _add_common_options(stage: argparse.ArgumentParser) -> None:
    stage.add_argument("--save-minutes", type=float, default=5.0, help="between two saved states")
    stage.add_argument("--pause-file", type=Path, help="the training waits while this file exists")
    stage.add_argument("--seed", type=int, default=0, help="shifts every seed; 0 is the recipe's")


def _all(options: argparse.Namespace) -> None:
    settings = RecipeSettings(
        options.data,
        options.work,
        options.init or str(encoder_folder()),
        PLANS[choose(options.machine)].on_this_machine(),
        minutes=options.minutes,
        seed=options.seed,
        save_minutes=options.save_minutes,
        pause_file=options.pause_file,
    )
    run_recipe(settings, say=_say, stop=_polite_end())


def _pretrain(options: argparse.Namespace) -> None:
    settings = _stage_settings(options, options.init or str(encoder_folder()))
    workers = settings.trainer.workers
    mixture = MixtureSettings(splits=2 * workers if workers > 1 else 1)
    pretrain(settings, mixture, say=_say, stop=_polite_end())


def _long(options: argparse.Namespace) -> None:
    settings = _stage_settings(options, options.init)
    trainer = replace(
        settings.trainer, decay_share=options.decay_share, weight_decay=options.weight_decay
    )
    settings = replace(settings, trainer=trainer, builders=1, cache=options.cache)
    mixture = LongSettings(rate=options.rate, everywhere=options.everywhere)
    run_long(settings, mixture, _say, _polite_end(), options.measured)


def _tasks(options: argparse.Namespace) -> None:
    train_tasks(_stage_settings(options, options.init), say=_say, stop=_polite_end())


def _stage_settings(options: argparse.Namespace, init: str) -> StageSettings:
    trainer = TrainerSettings(
        Budget(steps=options.steps, minutes=options.minutes),
        learning_rate=options.learning_rate,
        warmup_steps=options.warmup_steps,
        bfloat16=options.precision == "bfloat16"
        or (options.precision == "auto" and prefers_bfloat16(options.device)),
        workers=options.workers or (os.cpu_count() or 1 if options.device == "cpu" else 1),
        layer_decay=options.layer_decay,
        average_last=options.average_last,
        optimizer=options.optimizer,
    )
    return StageSettings(
        data=options.data,
        work=options.work,
        init=init,
        trainer=trainer,
        device=options.device,
        save_minutes=options.save_minutes,
        pause_file=options.pause_file,
        seed=options.seed,
    )


def _polite_end() -> threading.Event:
    """Return an event set by SIGTERM or SIGINT, so that a stage saves its state before it ends."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return stop


def _say(line: str) -> None:
    print(line, flush=True)


def _export(options: argparse.Namespace) -> None:
    blend = None if options.blend is None else Blend(options.blend, options.share)
    bundle = export(
        options.work, options.target, blend=blend, to_be_finished=options.data is not None
    )
    print(f"{bundle.size:,} bytes, sha256 {bundle.sha256}")
    if options.data is not None:
        finish(options.target, options.data, say=_whisper)


def _evaluate(options: argparse.Namespace) -> None:
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


def _as_json(measured: Measured) -> str:
    return json.dumps(asdict(measured), indent=1, ensure_ascii=False)


def _whisper(line: str) -> None:
    """Report progress on stderr, to keep stdout for the results."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
