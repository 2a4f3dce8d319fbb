"""The part of a benchmark that runs in a fresh process: loading a model with one of two libraries.

    python -m benchmarks.fresh fill-mask ours FOLDER      # import, load and answer once
    python -m benchmarks.fresh memory ours FOLDER         # bytes to load and read all weights

Prints one line of JSON. Imports happen late, and only what users of each library would import.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

SENTENCE = "He wrote a [MASK] to his mother every week."
_GUESSES = 5
_STATUS = Path("/proc/self/status")
_FORGET_PEAK = Path("/proc/self/clear_refs")


def fill_mask(side: str, folder: str) -> list[str]:
    """Return the best guesses for the [MASK] of one sentence, best first."""
    if side == "peer":
        from transformers import pipeline

        answers = pipeline("fill-mask", model=folder, device="cpu")(SENTENCE, top_k=_GUESSES)
        return [answer["token_str"] for answer in answers]
    import torch

    from bert_core import BertForMaskedLM, BertTokenizer

    tokenizer = BertTokenizer.from_pretrained(folder)
    model = BertForMaskedLM.from_pretrained(folder)
    text = tokenizer.encode(SENTENCE)
    place = torch.tensor([[text.tokens.index("[MASK]")]])
    with torch.inference_mode():
        scores = model.scores_at(torch.tensor([text.input_ids]), place)[0, 0]
    best = scores.softmax(-1).topk(_GUESSES)
    return tokenizer.convert_ids_to_tokens(best.indices)


def memory(side: str, folder: str) -> int:
    """Return the peak growth of the process in bytes while it loads and reads all weights."""
    loader = loading(side)
    before = _status("VmRSS")
    _FORGET_PEAK.write_text("5", encoding="ascii")
    model = loader(folder)
    for parameter in model.parameters():
        parameter.detach().sum()
    return _status("VmHWM") - before


def loading(side: str) -> Callable[[str], Any]:
    """Return a library's loader of pretraining models, after importing everything it needs."""
    if side == "peer":
        import transformers
        from transformers.utils import logging

        quiet: Any = logging
        quiet.set_verbosity_error()
        quiet.disable_progress_bar()
        theirs: Any = transformers.BertForPreTraining
        return lambda folder: theirs.from_pretrained(folder).eval()
    from bert_core import BertForPreTraining

    return BertForPreTraining.from_pretrained


def _status(name: str) -> int:
    """Return a figure of this process from /proc, in bytes."""
    for line in _STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise SystemExit(f"{_STATUS} has no {name}.")


def main() -> None:
    """Run one of the functions and print its result."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fresh", description=__doc__)
    parser.add_argument("what", choices=("fill-mask", "memory"))
    parser.add_argument("side", choices=("ours", "peer"))
    parser.add_argument("folder")
    chosen = parser.parse_args()
    work: dict[str, Callable[[str, str], object]] = {"fill-mask": fill_mask, "memory": memory}
    print(json.dumps(work[chosen.what](chosen.side, chosen.folder)))


if __name__ == "__main__":
    main()
