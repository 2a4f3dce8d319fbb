"""Say in a phrase what each head of a bundle was trained on, for the pages that show its answers.

What the record of the stages knows comes from there: shares of sentence pairs, facts in templates,
tokens of running text.
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bert_core.bundled.trained_on import write_trained_on
from training.record import StageRecord, phases

WORDS = Path(__file__).with_name("card.toml")


def card_words() -> dict[str, Any]:
    """Return the words of the model card."""
    return tomllib.loads(WORDS.read_text(encoding="utf-8"))


def describe_training(folder: Path, stages: Sequence[StageRecord]) -> None:
    """Write what the heads in a bundle's folder were trained on."""
    heads = {path.name for path in (folder / "heads").glob("*")}
    had = {name for _, mixture in phases(stages) for name in mixture.get("tasks", {})}
    words, said = card_words(), _pretraining(stages)
    for head in (name for name in words["heads"] if name in heads):
        more = [
            text for of, text in words["rows"].items() if of in {f"{head} {row}" for row in had}
        ]
        said[head] = words["heads"][head] + "".join(more)
    write_trained_on(folder, said)


def drilled(stages: Sequence[StageRecord]) -> bool:
    """Return whether some stage had facts in sentences generated from templates."""
    return any(mixture.get("relations") for _, mixture in phases(stages))


def _pretraining(stages: Sequence[StageRecord]) -> dict[str, str]:
    """Describe the training of the encoder, and of the heads for words and for pairs."""
    tokens = sum(steps * each["blocks"] * each["block_length"] for steps, each in phases(stages))
    pairs = stages[-1].last["mixture"]
    same, swapped = (100 * pairs[name] for name in ("same_document", "swapped"))
    facts = ", and facts in sentences generated from templates" if drilled(stages) else ""
    return {
        "BertModel": "the encoder of all-MiniLM-L6-v2, which was made to compare sentences; then "
        f"{tokens / 1e6:.0f} million tokens of running text",
        "BertForMaskedLM": f"encyclopedias, textbooks, novels and short sentences{facts}",
        "BertForNextSentencePrediction": "neighbouring sentences; of the wrong pairs, in the end, "
        f"{same:.0f} % were from one text, {swapped:.0f} % neighbours in reverse, "
        f"{100 - same - swapped:.0f} % from two texts",
    }
