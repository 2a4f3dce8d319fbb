"""What one fresh process does for a benchmark: loads a model with one of the two libraries.

    python -m benchmarks.fresh fill-mask ours FOLDER      # import, load, answer, once
    python -m benchmarks.fresh memory ours FOLDER         # bytes that loading and reading all takes

Prints one line of JSON. Nothing heavy is imported before it is needed, and of each library only
what its users import for this.
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
    """Answer one sentence; return the guesses, the best first."""
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
    """Return by how many bytes the process grew at most while it loaded and read all weights."""
    loader = loading(side)
    before = _status("VmRSS")
    _FORGET_PEAK.write_text("5", encoding="ascii")
    model = loader(folder)
    for parameter in model.parameters():
        parameter.detach().sum()
    return _status("VmHWM") - before


def loading(side: str) -> Callable[[str], Any]:
    """Return how a library loads a model for pretraining, everything lazy about it brought in."""
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
    """Return a figure the system keeps about this process, in bytes."""
    for line in _STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise SystemExit(f"The system does not say {name} of a process.")


def main() -> None:
    """Do one thing and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fresh", description=__doc__)
    parser.add_argument("what", choices=("fill-mask", "memory"))
    parser.add_argument("side", choices=("ours", "peer"))
    parser.add_argument("folder")
    chosen = parser.parse_args()
    work: dict[str, Callable[[str, str], object]] = {"fill-mask": fill_mask, "memory": memory}
    print(json.dumps(work[chosen.what](chosen.side, chosen.folder)))


if __name__ == "__main__":
    main()
