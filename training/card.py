"""Write a bundle's model card: licences, figures, bias, recipe, limits, hash.

Its content comes from the files of the bundle and from the measurements; a person's notes on the
answers and figures of exactly these weights come from the file `reading.md` beside them.
"""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bert_core.bundled.figures import Figure
from bert_core.bundled.leanings import Bias, Leaning
from bert_core.config import TEMPERATURES_FITTED_ON, BertConfig
from training.evaluation import Measured
from training.learned import card_words, drilled
from training.record import RECORD, StageRecord, phases
from training.unseen import OPEN_OCCUPATION, OPEN_PRONOUN

READING = "reading.md"  # hand-written notes on exactly these weights
_MOST = 3  # occupations shown on each side
_ERROR = "calibration error, "
_ELSEWHERE = (_ERROR, "bias, ")  # figures that other sections of the card have
DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "training-data.md"


@dataclass(frozen=True, slots=True)
class Source:
    """A group of texts: what it is, its origin, and its licence as stated."""

    text: str
    origin: str
    licence: str


def sources(heading: str) -> list[Source]:
    """Return the rows of the table below a heading of the document."""
    section = DOCUMENT.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    lines = [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]
    return [Source(*row[:3]) for row in rows]


def write_card(
    folder: Path, stages: Sequence[StageRecord], measured: Measured, weights: Mapping[str, Any]
) -> None:
    """Write the card of a bundle; `weights`: "parameters" (in millions), "size" and "sha256"."""
    tasks = sorted(path.name for path in (folder / "heads").glob("*"))
    words = card_words()
    note = words["evaluation"] + (f"\n{words['task_evaluation']}" if tasks else "")
    left_out = "\n".join(f"- Not measured: {line}." for line in measured.missing)
    notes = folder / READING
    listed = [*sources("Texts"), *(sources("Labelled rows") if tasks else [])]
    card = words["card"].format(
        opening=_opening(BertConfig(str(folder / "config.json")), weights, tasks),
        folders=_folders(tasks),
        example="BertForQuestionAnswering" if tasks else "BertForMaskedLM",
        licence=paragraph(words["licence"]),
        reached=reached(measured.figures),
        table=figure_table([f for f in measured.figures if not f.task.startswith(_ELSEWHERE)]),
        evaluation="\n\n".join(filter(None, [paragraph(note), left_out])),
        calibration=_calibration(folder, tasks, measured.figures),
        bias=_bias(measured.bias, words),
        fact_limits=words["fact_limit"] if drilled(stages) else "",
        task_limits=words["task_limits"] if tasks else "",
        reading=f"\n{notes.read_text(encoding='utf-8').strip()}\n" if notes.is_file() else "",
        recipe=_recipe(stages),
        tokens=stages[-1].settings["text_tokens"],
        sources="\n".join(f"| {s.text} | {s.origin} | {s.licence} |" for s in listed),
        size=weights["size"],
        sha256=weights["sha256"],
        check=paragraph(
            " ".join(said for name, said in words["checks"].items() if (folder / name).is_file())
        ),
    )
    (folder / "README.md").write_text(card.rstrip() + "\n", encoding="utf-8")


def paragraph(text: str) -> str:
    """Wrap a paragraph to the width of the card.

    >>> paragraph("one\\ntwo")
    'one two'
    """
    return textwrap.fill(" ".join(text.split()), width=100, break_on_hyphens=False)


_ABILITIES = {
    "BertForQuestionAnswering": "answers questions about a passage",
    "BertForTokenClassification": "finds names",
    "BertForSequenceClassification": "judges sentiment",
    "BertForMultipleChoice": "chooses between continuations",
}


def _opening(config: BertConfig, weights: Mapping[str, Any], tasks: Sequence[str]) -> str:
    """Say what the model is and what it can do."""
    can = ["fills gaps", "judges whether one sentence follows another"]
    can += [ability for name, ability in _ABILITIES.items() if name in tasks]
    return paragraph(
        f"A small English BERT to look into: {config.num_hidden_layers} layers, "
        f"{config.num_attention_heads} heads, hidden size {config.hidden_size}, uncased, "
        f"{config.vocab_size:,} word pieces, {weights['parameters']:.1f} million parameters. It "
        f"{', '.join(can[:-1])} and {can[-1]}, well enough for teaching, and within moments on an "
        "ordinary computer."
    )


def _folders(tasks: Sequence[str]) -> str:
    """Say which file holds what."""
    root = (
        "The root folder has encoder, pooler and both pretraining heads in float16; `transformers` "
        "opens it as `BertForPreTraining`."
    )
    if not tasks:
        return paragraph(root)
    names = ", ".join(f"`{name}`" for name in tasks)
    return paragraph(
        f"{root} `heads/` has the last layers of {names}. All tasks share one encoder."
    )


def figure_table(figures: Sequence[Figure]) -> str:
    """Format figures as the table of the model card.

    >>> print(figure_table([Figure("a task", "a file", 0.9, 0.6, 0.98, 10, "right", chance=0.5)]))
    | task | measured on | cases | result (95 % interval) |
    |---|---|---:|---|
    | a task | a file | 10 | 90.0 % (60.0–98.0), chance 50 % |
    """
    rows = [
        f"| {f.task} | {f.measured_on} | {f.cases:,} | {_share(f)}{_chance(f.chance)} |"
        for f in figures
    ]
    head = "| task | measured on | cases | result (95 % interval) |"
    return "\n".join([head, "|---|---|---:|---|", *rows])


def reached(figures: Sequence[Figure]) -> str:
    """Return a sentence saying how many figures reach their minimum, and how many their goal.

    >>> reached([Figure("a", "b", 0.9, 0.6, 0.98, 10, "right", 0.9, 0.95)])
    '1 of 1 figures reach the minimum set before training, 0 of 1 their goal.'
    """
    floors = [f.reaches_floor for f in figures if f.reaches_floor is not None]
    goals = [f.reaches_goal for f in figures if f.reaches_goal is not None]
    return (
        f"{sum(floors)} of {len(floors)} figures reach the minimum set before training, "
        f"{sum(goals)} of {len(goals)} their goal."
    )


def _chance(share: float | None) -> str:
    return "" if share is None else f", chance {100 * share:.3g} %"


def _share(figure: Figure) -> str:
    share, low, high = (100 * each for each in (figure.share, figure.low, figure.high))
    return f"{share:.1f} % ({low:.1f}–{high:.1f})"


def _calibration(folder: Path, tasks: Sequence[str], figures: Sequence[Figure]) -> str:
    """Say by which temperatures logits are divided, and how far a probability can be believed."""
    heads = [(name, folder) for name in ("BertForMaskedLM", "BertForNextSentencePrediction")]
    heads += [(name, folder / "heads" / name) for name in tasks]
    rows = []
    for head, place in heads:
        config = BertConfig(str(place / "config.json"))
        fitted_on = config.extra.get(TEMPERATURES_FITTED_ON, {})
        for name in (head, *(each for each in config.temperatures if each.startswith(f"{head}."))):
            fitted = fitted_on.get(name, "–")
            rows.append(f"| `{name}` | {config.temperature(name):.3f} | {fitted} |")
    text = paragraph(
        "Probabilities are softmax(logits / temperature), with the temperature of the head's "
        "`config.json` (Guo et al. 2017), fitted on rows other than those measured on. The library "
        "returns undivided logits."
    )
    tables = ["\n".join(["| head | temperature | fitted on |", "|---|---:|---|", *rows])]
    errors = [
        f"| {f.task.removeprefix(_ERROR)} | {f.measured_on} | {_share(f)} | "
        f"{100 * (f.stated or 0):.1f} % | {100 * (f.right or 0):.1f} % |"
        for f in figures
        if f.task.startswith(_ERROR) and f.floor is not None
    ]
    if errors:
        head = "| probability | measured on | error (95 % interval) | stated | right |"
        tables.append("\n".join([head, "|---|---|---|---:|---:|", *errors]))
    return "\n\n".join([text, *tables])


def _bias(bias: Bias | None, words: Mapping[str, str]) -> str:
    """Say in plain words how one-sided the model is about occupations."""
    if bias is None:
        return "Not measured."
    first, second = bias.words
    text = words["bias"].format(
        count=len(bias.leanings),
        open_word=len(OPEN_PRONOUN),
        open_occupation=len(OPEN_OCCUPATION),
        one=OPEN_PRONOUN[0].format(occupation="nurse", word="[MASK]"),
        other=OPEN_OCCUPATION[0].format(occupation="[MASK]", word=first.capitalize()),
        first=f"*{first}*",
        second=f"*{second}*",
        share=100 * bias.share_first.value,
        share_low=100 * bias.share_first.low,
        share_high=100 * bias.share_first.high,
        times=math.exp(bias.skew.value),
        skew=bias.skew.value,
        skew_low=bias.skew.low,
        skew_high=bias.skew.high,
        neutral=bias.neutral,
    )
    ordered = sorted(bias.leanings, key=lambda leaning: leaning.log_odds.value, reverse=True)
    furthest = [*ordered[:_MOST], *ordered[_MOST:][-_MOST:]]
    head = f"| occupation | leans to | times as likely | log-odds {first} : {second} "
    rows = [f"{head}| 95 % interval |", "|---|---|---:|---:|---|"]
    rows += [_bias_row(bias.words, leaning) for leaning in furthest]
    return "\n\n".join([paragraph(text), "\n".join(rows), paragraph(words["bias_meaning"])])


def _bias_row(words: tuple[str, str], leaning: Leaning) -> str:
    odds = leaning.log_odds
    word = words[0] if odds.value >= 0 else words[1]
    return (
        f"| {leaning.occupation} | {word} | {math.exp(abs(odds.value)):.1f} | {odds.value:+.2f} | "
        f"{odds.low:+.2f} to {odds.high:+.2f} |"
    )


def _recipe(stages: Sequence[StageRecord]) -> str:
    """Return a table of the stages, a row each, and where the rest is said."""
    rows = [_stage_row(number, stage) for number, stage in enumerate(stages, start=1)]
    head = "| stage | trained | steps | minutes | million tokens | sentence pairs | optimizer |"
    rest = f"`{RECORD}` has every setting of every stage, `curve-1` and so on the learning curves."
    return "\n".join([head, "|---:|---|---:|---:|---:|---:|---|", *rows]) + f"\n\n{rest}"


def _stage_row(number: int, stage: StageRecord) -> str:
    mixture, trainer = stage.last["mixture"], stage.last["trainer"]
    each = list(phases([stage]))
    tokens = sum(steps * one["blocks"] * one["block_length"] for steps, one in each) / 1e6
    pairs = sum(steps * one["pairs"] for steps, one in each)
    optimizer = "Muon" if trainer.get("optimizer") == "muon" else "AdamW"
    kind = "all tasks" if mixture.get("tasks") else "pretraining"
    return (
        f"| {number} | {kind} | {stage.steps:,} | {stage.seconds / 60:.0f} | {tokens:.1f} | "
        f"{pairs:,} | {optimizer} |"
    )
