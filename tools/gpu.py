"""Try everything on a card: tests, benchmark, training. For a machine without a network, too.

On a machine with a card, `make dev` and the data folder of the training (docs/training-data.md):

    make gpu DATA=FOLDER

On a lent machine that has a PyTorch for CUDA, `transformers` and pytest, but no network and no room
for everything in one transfer, two calls do it. Here, before them:

    python -m tools.gpu pack DATA build/card

1. The repository without `bert_core/bundled/*/model.safetensors`, with `build/card`:

       python3 -m tools.gpu unpack build/card ~/card

   checks the digests, moves the data out of the repository, and encodes the texts.

2. The repository with the weights, without `build/card`, soon after:

       set -o pipefail; python3 -m tools.gpu day --data ~/card/data --work ~/card/work \\
           --out $OUT --seconds 570 2>&1 | tee $OUT/log.txt

   (a) runs the tests marked `gpu`, while the training's data are prepared; (b) compares the forward
   pass with `transformers`; (c) trains with what time is left, and writes the bundle to `--out` in
   pieces of 15 MB with their digests; (d) measures it. What was written counts if time runs out.

Here, after them:

    python -m tools.gpu join FOLDER BUNDLE

checks the pieces and makes the bundle of them. `day --rehearse` tries call 2 on a processor, with
steps a thousandth as large.
"""

import argparse
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bert_core.errors import InputError

if TYPE_CHECKING:
    from training.plan import Plan

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("text", "nsp", "qa", "ner", "sst2", "sentiment", "mc")
MANIFEST = "manifest.json"
PIECE = 15 * 10**6  # bytes
_MEMORY = 22  # GiB: what a card of 24 GB has at least
_AFTERWARDS = 75.0  # seconds kept for writing the bundle and measuring it
_AT_LEAST = 30.0  # seconds of training
_SHARE = 0.16  # of all the time: as much as the tests may take, and the benchmark
_GPU_TESTS = ("tests/bert_core/test_devices.py",)
_say = partial(print, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status: 0, 1 if a part failed, 2 if something is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.gpu",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    moves = {"pack": pack, "unpack": unpack, "join": join}
    for name in moves:
        command = commands.add_parser(name)
        command.add_argument("source", type=Path)
        command.add_argument("target", type=Path)
    command = commands.add_parser("day")
    command.add_argument("--data", type=Path, help="data folder of the training")
    command.add_argument("--work", type=Path, default=ROOT / "build" / "gpu")
    command.add_argument("--out", type=Path, help="for the pieces and figures; default: in --work")
    command.add_argument("--seconds", type=float, default=780, help="for everything; default: 780")
    command.add_argument("--rehearse", action="store_true", help="on a processor, in small")
    options = parser.parse_args(arguments)
    try:
        if move := moves.get(options.command):
            move(options.source, options.target)
            return 0
        check(options.data, options.rehearse)
        out = options.out or options.work / "out"
        return day(options.data, options.work, out, options.seconds, options.rehearse)
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2


def check(data: Path | None, rehearse: bool = False) -> None:
    """Refuse a machine without a card, unless it is a rehearsal, and data that are not all there.

    Raises:
        InputError: what is missing, and what to do.
    """
    import torch

    needs = "make gpu needs a CUDA device with 24 GB of memory; "
    if not rehearse and not torch.cuda.is_available():
        raise InputError(
            f"{needs}PyTorch {torch.__version__} sees none here. On a machine with one, install a "
            "PyTorch for CUDA (see pytorch.org) and run it again."
        )
    card = None if rehearse else torch.cuda.get_device_properties(0)
    if card and card.total_memory < _MEMORY * 2**30:
        raise InputError(f"{needs}{card.name} has {card.total_memory / 2**30:.0f}.")
    if data is None:
        raise InputError("make gpu needs the data folder of the training: make gpu DATA=FOLDER.")
    if absent := [name for name in FOLDERS if not (data / name).is_dir()]:
        raise InputError(
            f"{data} has no folder {', '.join(absent)}; docs/training-data.md says what is in them."
        )


# -- what travels --------------------------------------------------------------------------------


def pack(data: Path, folder: Path) -> None:
    """Write the data folder to `folder`, in pieces."""
    check(data, rehearse=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _say(f"{split(data, folder, FOLDERS) / 2**20:.1f} MiB in {folder}")


def unpack(folder: Path, target: Path) -> None:
    """Move what `pack` wrote to `target/data`, and encode its texts in `target/work`."""
    from bert_core.text.tokenizer import BertTokenizer
    from training.corpus import load_corpus

    began = time.monotonic()
    shutil.rmtree(target / "data", ignore_errors=True)
    join(folder, target / "data")
    shutil.rmtree(folder)
    tokenizer = BertTokenizer.from_pretrained("explorer-mini-uncased")
    texts = load_corpus(target / "data", target / "work", tokenizer, os.cpu_count() or 1)
    tokens = sum(len(text.ids) for text in texts)
    _say(f"{tokens:,} tokens encoded; {time.monotonic() - began:.0f} s")


def split(folder: Path, out: Path, names: Sequence[str] = (".",)) -> int:
    """Write a folder to `out` as one archive in pieces, with their digests; return its size."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name in names:
            tar.add(folder / name, arcname=name)
    data, digests = archive.getvalue(), dict[str, str]()
    for number, start in enumerate(range(0, len(data), PIECE)):
        piece, name = data[start : start + PIECE], f"piece-{number}.bin"
        (out / name).write_bytes(piece)
        digests[name] = hashlib.sha256(piece).hexdigest()
    (out / MANIFEST).write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8")
    return len(data)


def join(folder: Path, target: Path) -> None:
    """Check the pieces of `split` and unpack them to a new folder.

    Raises:
        InputError: one is missing, or is not as it was.
    """
    try:
        digests = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        pieces = {name: (folder / name).read_bytes() for name in digests}
        names = [
            n for n, piece in pieces.items() if hashlib.sha256(piece).hexdigest() != digests[n]
        ]
    except FileNotFoundError as error:
        names = [Path(error.filename).name]
    if names:
        raise InputError(f"{folder} did not arrive whole: {', '.join(names)}")
    target.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(b"".join(pieces.values()))) as tar:
        tar.extractall(target, filter="data")
    _say(f"unpacked to {target}")


# -- the day -------------------------------------------------------------------------------------


def day(data: Path, work: Path, out: Path, seconds: float, rehearse: bool = False) -> int:
    """Run the parts; each is run even if one before it failed."""
    from training.recipe import RecipeSettings, prepare, run_recipe

    began = time.monotonic()
    for folder in (work, out):
        folder.mkdir(parents=True, exist_ok=True)
    plan = _plan(rehearse)
    settings = RecipeSettings(data, work, plan.init, plan, save_minutes=2.0)
    small = ["--processor"] if rehearse else []
    with ThreadPoolExecutor(1) as pool:
        lessons = pool.submit(prepare, settings, _say)
        tests = ["pytest", "-m", "gpu", "-q", "-n", "4", *_GPU_TESTS]
        fine = _run("tests on CUDA", tests, _SHARE * seconds)
        lessons.exception()  # waits: the benchmark has the machine to itself
        fine &= _run("benchmark", ["benchmarks.cuda", *small], _SHARE * seconds)
    left = seconds - (time.monotonic() - began) - _AFTERWARDS
    _say(f"training: {left:.0f} s are left")
    settings = replace(settings, minutes=max(_AT_LEAST, left) / 60)
    bundle = run_recipe(settings, _say, lessons=lessons.result(), finished=False)
    assert bundle is not None  # nothing stops it
    split(bundle, out)
    _say(f"training: in order, {time.monotonic() - began:.0f} s since the start")
    device = "cpu" if rehearse else "cuda"
    measure = ["--model", str(bundle), "--data", str(data), "--device", device, "--json"]
    left = seconds - (time.monotonic() - began)
    fine &= _run("figures", ["training", "evaluate", *measure], left, out / "figures.json")
    return int(not fine)


def _plan(rehearse: bool) -> "Plan":
    from training.plan import PLANS

    plan = PLANS["cuda"]
    if not rehearse:
        return plan
    stages = {
        name: replace(stage, sizes=stage.sizes.times(0.001)) for name, stage in plan.stages.items()
    }
    return replace(plan, device="cpu", bfloat16=False, stages=stages)  # slow on most processors


def _run(part: str, command: Sequence[str], limit: float, out: Path | None = None) -> bool:
    """Run a part for at most so many seconds; say how it went and return whether it is in order."""
    _say(f"\n$ python -m {' '.join(command)}")
    began = time.monotonic()
    line, most = [sys.executable, "-m", *command], max(1.0, limit)
    with (out or Path(os.devnull)).open("wb") as stream:
        try:
            subprocess.run(line, cwd=ROOT, check=True, timeout=most, stdout=stream if out else None)
            failure = ""
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            failure = str(error)
    _say(f"{part}: {failure or 'in order'}, {time.monotonic() - began:.0f} s")
    return not failure


if __name__ == "__main__":
    raise SystemExit(main())
