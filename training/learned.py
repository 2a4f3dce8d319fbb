"""Say in a phrase what each head of a bundle was trained on, for the pages that show its answers.

What the record of the stages knows comes from there: shares of sentence pairs, facts in templates,
tokens of running text.
"""

from collections.abc import Sequence
from pathlib import Path

from bert_core.bundled.trained_on import write_trained_on
from training.record import StageRecord, phases

_TASKS = {
    "BertForQuestionAnswering": "questions about paragraphs of Wikipedia (SQuAD 1.1, QAMR), some "
    "of them about a paragraph that does not answer",
    "BertForTokenClassification": "sentences of the web, news and encyclopedias with their names "
    "marked",
    "BertForSequenceClassification": "sentences of film reviews (SST-2)",
    "BertForMultipleChoice": "which of four sentences comes next, review questions of textbooks, "
    "and everyday situations (CODAH, Balanced COPA)",
}
_MADE = {  # head, and what the record calls such rows: what they add
    ("BertForTokenClassification", "made_tags"): ", and names of many countries in sentences made "
    "from frames",
    ("BertForSequenceClassification", "reviews"): ", of reviews of products and restaurants",
    ("BertForSequenceClassification", "feelings"): ", and made from frames, half of them with a "
    "negation or a contrast",
}


def describe_training(folder: Path, stages: Sequence[StageRecord]) -> None:
    """Write what the heads in a bundle's folder were trained on."""
    heads = {path.name for path in (folder / "heads").glob("*")}
    said = {name: phrase + _made(name, stages) for name, phrase in _TASKS.items() if name in heads}
    write_trained_on(folder, _pretraining(stages) | said)


def _made(head: str, stages: Sequence[StageRecord]) -> str:
    """Say which rows made from frames some stage had for a head."""
    had = {name for _, mixture in phases(stages) for name in mixture.get("tasks", {})}
    return "".join(says for (of, rows), says in _MADE.items() if of == head and rows in had)


def drilled(stages: Sequence[StageRecord]) -> bool:
    """Return whether some stage had facts in sentences made from templates."""
    return any(mixture.get("relations") for _, mixture in phases(stages))


def _pretraining(stages: Sequence[StageRecord]) -> dict[str, str]:
    """Describe the training of the encoder, and of the heads for words and for pairs."""
    tokens = sum(steps * each["blocks"] * each["block_length"] for steps, each in phases(stages))
    pairs = stages[-1].last["mixture"]
    same, swapped = (100 * pairs[name] for name in ("same_document", "swapped"))
    facts = ", and facts in sentences made from templates" if drilled(stages) else ""
    return {
        "BertModel": "the encoder of all-MiniLM-L6-v2, which was made to compare sentences; then "
        f"{tokens / 1e6:.0f} million tokens of running text",
        "BertForMaskedLM": f"encyclopedias, textbooks, novels and short sentences{facts}",
        "BertForNextSentencePrediction": "neighbouring sentences; of the wrong pairs, in the end, "
        f"{same:.0f} % were from one text, {swapped:.0f} % neighbours in reverse, "
        f"{100 - same - swapped:.0f} % from two texts",
    }
