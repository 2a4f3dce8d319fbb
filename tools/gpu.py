"""Everything that is tried on the day a card is there: `make gpu DATA=FOLDER`.

1. The tests that need a CUDA device.
2. The forward pass beside `transformers`.
3. The whole recipe of the bundled model, each stage at a hundredth of its length, up to a bundle.

It needs a CUDA device with 24 GB of memory, a PyTorch for CUDA, what `make dev` installs, and the
data folder that CONTRIBUTING.md describes. Without one of them it says so, and tries nothing. Each
part is run even if one before it failed; the exit status is 0 if all of them are in order.
"""

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_MEMORY = 22  # GiB: what a card of 24 GB has at least
_FOLDERS = ("text", "relations", "nsp", "qa", "ner", "sst2", "sentiment", "names", "mc")
SHARE = 0.01
"""Of the length of each stage."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Try everything; return the exit status: 0, 1 if a part failed, 2 if something is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.gpu",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, help="data folder of the training")
    parser.add_argument("--work", type=Path, default=_ROOT / "build" / "gpu", help="is emptied")
    options = parser.parse_args(arguments)
    if missing := lacking(options.data):
        sys.stderr.write(f"{missing}\n")
        return 2
    shutil.rmtree(options.work, ignore_errors=True)
    took = {name: _run(command) for name, command in parts(options.data, options.work).items()}
    _say("\n".join(f"{name}: {said}" for name, (_, said) in took.items()))
    return int(not all(fine for fine, _ in took.values()))


def lacking(data: Path | None) -> str:
    """Say what is missing here, and what to do; "" if nothing is."""
    import torch

    if not torch.cuda.is_available():
        return (
            f"make gpu needs a CUDA device with 24 GB of memory; PyTorch {torch.__version__} sees "
            "none here. On a machine with one, install a PyTorch for CUDA (see pytorch.org) and "
            "run it again."
        )
    card = torch.cuda.get_device_properties(0)
    memory = card.total_memory / 2**30
    if memory < _MEMORY:
        return f"make gpu needs a CUDA device with 24 GB of memory; {card.name} has {memory:.0f}."
    if data is None:
        return "make gpu needs the data folder of the training: make gpu DATA=FOLDER."
    if absent := [name for name in _FOLDERS if not (data / name).is_dir()]:
        return f"{data} has no folder {', '.join(absent)}; CONTRIBUTING.md says what is in them."
    return ""


def parts(data: Path, work: Path) -> dict[str, list[str]]:
    """Return the command of each part by its name."""
    training = ["training", "all", "--machine", "cuda", "--share", str(SHARE)]
    return {
        "tests on CUDA": ["pytest", "-m", "gpu", "-q", "tests"],
        "benchmark beside transformers": ["benchmarks.cuda"],
        "training plan at a hundredth": [*training, "--data", str(data), "--work", str(work)],
    }


def _run(command: Sequence[str]) -> tuple[bool, str]:
    """Run a part; return whether it is in order, and what to say of it."""
    _say(f"\n$ python -m {' '.join(command)}")
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-m", *command], cwd=_ROOT, check=False)
    fine = done.returncode == 0
    said = "in order" if fine else f"FAILED with status {done.returncode}"
    return fine, f"{said}, {time.monotonic() - began:.0f} s"


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
