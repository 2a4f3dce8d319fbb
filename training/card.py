"""The model card beside the weights: data and licences, recipe, curve, figures, limits, hash."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from training.evaluation import Measured
from training.record import StageRecord
from training.sources import (
    ENCODER,
    EVALUATION_NOTE,
    SOURCES,
    TASK_EVALUATION_NOTE,
    TASK_SOURCES,
    Source,
)
from training.tables import figure_table

_CARD = """---
license: cc-by-sa-4.0
language: en
pipeline_tag: fill-mask
---

# explorer-mini-uncased

A small English BERT for looking inside: {layers} layers, {heads} heads, hidden size {hidden},
uncased, {vocabulary:,} word pieces, {parameters:.1f} million parameters. {abilities}

The root folder holds encoder, pooler and both heads of pretraining (masked words, next sentence)
in float16; `transformers` opens it as `BertForPreTraining`.{head_folders}

    from bert_core import {example}, BertTokenizer

    model = {example}.from_pretrained("explorer-mini-uncased")
    tokenizer = BertTokenizer.from_pretrained("explorer-mini-uncased")

## Licence

{licence}

## Measured

{table}

{evaluation}

## Recipe

{recipe}

## Data

{tokens:,} word pieces of English text. Where a source states no licence, that is said.

| text | from | licence |
|---|---|---|
{sources}
{task_sources}
Textbook attribution: "OpenStax, <book title>, openstax.org, CC BY 4.0".

## Limits

- It knows little. Names, dates and numbers in its answers are often wrong, and never a source.
- It repeats what its texts take for granted: encyclopedia articles of the 2010s, textbooks from
  the United States, novels from before 1929 with the views of their time on gender, class, race
  and empire. Do not use its answers to judge people.
- English only; other scripts fall apart into single characters or unknown tokens.
- Trained on rows of up to 128 tokens for the most part, some of 506; longest input 512.
- "Follows" is judged from neighbouring sentences of running text. It is no fact checking and no
  judge of style, and sentences about the same subject often count as following.
{task_limits}
## Hash

`model.safetensors`, {size:,} bytes, sha256 `{sha256}`
"""

_TASK_LIMITS = """- Answers are stretches of the passage; the model cannot count, add or combine two
  places. Whether a passage holds an answer at all it judges with many mistakes, see the table.
- Names are found in lower-cased text, so it cannot tell *Apple* from *apple* by the capital. The
  kind MISC was annotated in a part of the rows only and is not measured.
- Sentiment was learnt from film reviews.
"""


def write_card(
    folder: Path,
    stages: Sequence[StageRecord],
    measured: Measured,
    bundle: Mapping[str, Any],
) -> None:
    """Write the model card of a bundle.

    Args:
        folder: the bundle's.
        stages: how the weights came to be, in order.
        measured: what was measured on the exported weights.
        bundle: the config's sizes, "parameters", "size" and "sha256" of the weights.
    """
    tasks = sorted(path.name for path in (folder / "heads").glob("*"))
    licence = f"The weights are under CC BY-SA 4.0: much of the text is Wikipedia's. {ENCODER}"
    note = f"{EVALUATION_NOTE} {TASK_EVALUATION_NOTE}" if tasks else EVALUATION_NOTE
    card = _CARD.format(
        licence=_paragraph(licence),
        evaluation=_paragraph(note),
        table=figure_table(measured.figures),
        recipe="\n\n".join(
            describe_stage(number, stage) for number, stage in enumerate(stages, start=1)
        ),
        tokens=stages[-1].settings["text_tokens"],
        sources=_source_rows(SOURCES),
        task_sources=_task_sources() if tasks else "",
        task_limits=_TASK_LIMITS if tasks else "",
        abilities=_abilities(tasks),
        head_folders=_head_folders(tasks),
        example="BertForQuestionAnswering" if tasks else "BertForMaskedLM",
        **bundle,
    )
    (folder / "README.md").write_text(card, encoding="utf-8")


def _abilities(tasks: Sequence[str]) -> str:
    more = ", answers questions about a passage, finds names and judges sentiment" if tasks else ""
    return _paragraph(
        f"It fills gaps, judges whether one sentence follows another{more}: well enough to teach "
        "with, and small enough to answer at once on any computer."
    )


def _head_folders(tasks: Sequence[str]) -> str:
    if not tasks:
        return ""
    names = ", ".join(f"`{name}`" for name in tasks)
    return "\n" + _paragraph(
        f"Below `heads/` lie the last layers of {names}: all tasks share the one encoder of the "
        "root, so the attention seen on one task is that of the model which answers the others."
    )


def _source_rows(sources: Sequence[Source]) -> str:
    return "\n".join(f"| {s.text} | {s.origin} | {s.licence} |" for s in sources)


def _task_sources() -> str:
    return (
        "\n| labelled rows | from | licence |\n|---|---|---|\n"
        + _source_rows(TASK_SOURCES)
        + "\n\n"
    )


def _paragraph(text: str) -> str:
    """Fill a paragraph to the width of the card.

    >>> _paragraph("one\\ntwo")
    'one two'
    """
    return textwrap.fill(" ".join(text.split()), width=100)


def describe_stage(number: int, stage: StageRecord) -> str:
    """Describe a stage in words, from what it left behind."""
    settings = stage.settings
    phases, trainer = settings["phases"], settings["phases"][-1]["trainer"]
    mixture = phases[-1]["mixture"]
    tasks = mixture.get("tasks")
    ends = [*(phase["after_step"] for phase in phases[1:]), stage.steps]
    spans = [end - phase["after_step"] for phase, end in zip(phases, ends, strict=True)]
    sizes = [phase["mixture"]["blocks"] * phase["mixture"]["block_length"] for phase in phases]
    seen = sum(span * size for span, size in zip(spans, sizes, strict=True)) / 1e6
    pairs = sum(span * phase["mixture"]["pairs"] for span, phase in zip(spans, phases, strict=True))
    precision = "bfloat16" if trainer["bfloat16"] else "float32"
    where = (
        "a CUDA device" if settings["device"] == "cuda" else "a processor shared with other work"
    )
    name = "tasks" if tasks else "pretrain"
    lines = [
        f"### Stage {number}: {'all tasks together' if tasks else 'pretraining'}",
        "",
        _paragraph(
            f"`python -m training {name}` in this repository: {stage.steps:,} steps in "
            f"{stage.seconds / 60:.0f} minutes of computing on {where}, matrix products in "
            f"{precision}; {seen:.1f} million tokens of running text and {pairs:,} sentence "
            "pairs."
        ),
        "",
        f"- AdamW, peak rate {trainer['learning_rate']:.0e} after {trainer['warmup_steps']} "
        f"steps, straight down to 0, weight decay {trainer['weight_decay']}, gradients cut "
        f"at norm {trainer['max_grad_norm']}, no dropout in the encoder, seed {mixture['seed']}.",
        *(
            _step(phase["mixture"], first, end)
            for phase, first, end in zip(
                phases, (phase["after_step"] + 1 for phase in phases), ends, strict=True
            )
        ),
        *([] if tasks is None else [_task_step(tasks)]),
        f"- Every {mixture['long_every']}th step joins the blocks four by four. Single "
        "sentences and a part of the pairs are masked too, sentences by whole words.",
        f"- Of the tokens in blocks {100 * mixture['rate']:.0f} % are chosen, from "
        f"{100 * mixture['rate_falls']:.0f} % of the training on falling to "
        f"{100 * mixture['last_rate']:.0f} %; of these 80 % masked, 10 % random, 10 % kept.",
        "- Sentences sharing 12 word pieces in a row with evaluation text were dropped.",
        "",
        *([stage.note, ""] if stage.note else []),
        f"![Training loss of stage {number}](curve-{number}.svg)",
    ]
    return "\n".join(lines)


def _task_step(tasks: Mapping[str, Any]) -> str:
    """Describe what the task stage adds to each step."""
    return (
        f"- Beside them in each step: {tasks['questions']} questions "
        f"({100 * tasks['unanswerable']:.0f} % asked of a passage about a like subject without the "
        f"answer, {100 * tasks['short_questions']:.0f} % of one-sentence passages), "
        f"{tasks['tags']} sentences with names of four kinds, {tasks['partial_tags']} in which "
        f"MISC is not annotated (there O may mean MISC), {tasks['sentiment']} film-review "
        "sentences, half of them put together as a person types. Passages in windows of "
        f"{tasks['max_length']} tokens that share {tasks['stride']}. Dropout 0.1 before each head."
    )


def _step(mixture: Mapping[str, Any], first: int, last: int) -> str:
    """Describe what one step of a phase held."""
    return (
        f"- Steps {first:,} to {last:,}: {mixture['blocks']} packed blocks of "
        f"{mixture['block_length']} tokens, {mixture['sentences']} single sentences, "
        f"{mixture['pairs']} sentence pairs. Half of the pairs are true neighbours; of the others "
        f"{100 * mixture['same_document']:.0f} % come from the same document, "
        f"{100 * mixture['swapped']:.0f} % are neighbours in the wrong order, the rest come from "
        "another document."
    )
