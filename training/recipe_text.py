"""Describe training stages from their records: the model card's recipe and time spent."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from training.record import StageRecord


def paragraph(text: str) -> str:
    """Wrap a paragraph to the width of the card.

    >>> paragraph("one\\ntwo")
    'one two'
    """
    return textwrap.fill(" ".join(text.split()), width=100)


def describe_stage(number: int, stage: StageRecord) -> str:
    """Describe a stage, with its note and its learning curve."""
    phases = stage.settings["phases"]
    mixture, trainer = phases[-1]["mixture"], phases[-1]["trainer"]
    tasks = mixture.get("tasks")
    firsts = [phase["after_step"] + 1 for phase in phases]
    lasts = [*(first - 1 for first in firsts[1:]), stage.steps]
    lines = [
        f"### Stage {number}: {_KINDS[_kind(mixture)]}",
        "",
        paragraph(_effort(stage)),
        "",
        _optimizer(trainer, mixture),
        *(
            _step(phase["mixture"], first, last)
            for phase, first, last in zip(phases, firsts, lasts, strict=True)
        ),
        *([] if tasks is None else [_task_step(tasks)]),
        _masking(mixture),
        "- Sentences sharing 12 word pieces in a row with evaluation text were dropped.",
        "",
        *([stage.note, ""] if stage.note else []),
        f"![Training loss of stage {number}](curve-{number}.svg)",
    ]
    return "\n".join(lines)


_KINDS = {"tasks": "all tasks together", "long": "long pretraining", "pretrain": "pretraining"}


def _kind(mixture: Mapping[str, Any]) -> str:
    """Return the command that trains on a mixture."""
    return "tasks" if mixture.get("tasks") else "long" if "relations" in mixture else "pretrain"


def time_spent(stages: Sequence[StageRecord]) -> str:
    """Write a table of the time of each stage and the total; "–" where it is unknown."""
    rows = [
        f"| {number} | {stage.steps:,} | {_minutes(stage.seconds)} | {_minutes(stage.clock)} | "
        f"{_device(stage)} |"
        for number, stage in enumerate(stages, start=1)
    ]
    clocks = [stage.clock for stage in stages]
    known = None if None in clocks else sum(clock or 0.0 for clock in clocks)
    whole = (
        f"| all | {sum(stage.steps for stage in stages):,} | "
        f"{_minutes(sum(stage.seconds for stage in stages))} | {_minutes(known)} | |"
    )
    head = "| stage | steps | minutes of computing | minutes by the clock | on |"
    return "\n".join([head, "|---|---:|---:|---:|---|", *rows, whole])


def _minutes(seconds: float | None) -> str:
    """Format a time in minutes, with an extra digit for short times."""
    if seconds is None:
        return "–"
    return f"{seconds / 60:.1f}" if seconds < 600 else f"{seconds / 60:.0f}"


def _device(stage: StageRecord) -> str:
    cuda = stage.settings["device"] == "cuda"
    return "a CUDA device" if cuda else "a processor shared with other work"


def _effort(stage: StageRecord) -> str:
    """Describe how much was computed."""
    phases = stage.settings["phases"]
    ends = [*(phase["after_step"] for phase in phases[1:]), stage.steps]
    spans = [end - phase["after_step"] for phase, end in zip(phases, ends, strict=True)]
    mixtures = [phase["mixture"] for phase in phases]
    sizes = [mixture["blocks"] * mixture["block_length"] for mixture in mixtures]
    seen = sum(span * size for span, size in zip(spans, sizes, strict=True)) / 1e6
    pairs = sum(span * mixture["pairs"] for span, mixture in zip(spans, mixtures, strict=True))
    precision = "bfloat16" if phases[-1]["trainer"]["bfloat16"] else "float32"
    return (
        f"`python -m training {_kind(mixtures[-1])}` in this repository: {stage.steps:,} steps in "
        f"{_minutes(stage.seconds)} minutes of computing on {_device(stage)}, matrix products in "
        f"{precision}; {seen:.1f} million tokens of running text and {pairs:,} sentence pairs."
    )


def _optimizer(trainer: Mapping[str, Any], mixture: Mapping[str, Any]) -> str:
    decay, average = trainer.get("layer_decay", 1.0), trainer.get("average_last", 0.0)
    falls = trainer.get("decay_share", 1.0)
    late = f"level, then over the last {100 * falls:.0f} % " if falls < 1 else ""
    more = f", each layer at {decay:g} times the rate of the one above it" if decay < 1 else ""
    if average:
        more += f", weights averaged over the last {100 * average:.0f} % of the stage"
    muon = trainer.get("optimizer", "adamw") == "muon"
    name = "Muon for the matrices of the layers, AdamW for the rest" if muon else "AdamW"
    return (
        f"- {name}, peak rate {trainer['learning_rate']:.1e} after {trainer['warmup_steps']} "
        f"steps, {late}in a straight line down to 0, weight decay {trainer['weight_decay']}, "
        f"gradients clipped at norm {trainer['max_grad_norm']}, no dropout in the encoder, "
        f"seed {mixture['seed']}{more}."
    )


def _masking(mixture: Mapping[str, Any]) -> str:
    """Describe what is hidden, and in which inputs."""
    if "relations" in mixture:
        return _long_masking(mixture)
    every = mixture.get("masked_pairs_every")
    some = "a part of the pairs" if every is None else f"the pairs of every {_ordinal(every)} step"
    pairs = "all pairs" if every == 1 else some
    return (
        f"- Every {_ordinal(mixture['long_every'])} step joins the blocks four by four. Single "
        f"sentences and {pairs} are masked too, sentences by whole words.\n"
        f"- {_rate(mixture)}; of these 80 % masked, 10 % random, 10 % kept."
    )


def _long_masking(mixture: Mapping[str, Any]) -> str:
    return (
        f"- Of the blocks {100 * mixture['everywhere']:.0f} % have whole words hidden, content "
        "words at every occurrence; the others single pieces, 80 % masked, 10 % random, 10 % kept. "
        f"{_rate(mixture)}. Of the single sentences {100 * mixture['asked']:.0f} % have one or two "
        "words hidden as a visitor would. Every hidden word has the same weight.\n"
        f"- Facts in sentences made from templates: {mixture['relations']} in each step"
        f"{_made_facts(mixture)}.\n"
        "- Short sentences to measure on were held out, with all that differ from one of them in a "
        "single word piece."
    )


def _made_facts(mixture: Mapping[str, Any]) -> str:
    count = mixture.get("made_facts", 0)
    what = "everyday facts, orders, sums, sayings and people at work"
    return f"; {what} in sentences made from frames: {count}" if count else ""


def _rate(mixture: Mapping[str, Any]) -> str:
    return (
        f"Of the tokens in blocks {100 * mixture['rate']:.0f} % are chosen, from "
        f"{100 * mixture['rate_falls']:.0f} % of the training on falling to "
        f"{100 * mixture['last_rate']:.0f} %"
    )


def _step(mixture: Mapping[str, Any], first: int, last: int) -> str:
    """Describe what one step of a phase contained."""
    everyday, bare = mixture.get("everyday", 0.0), mixture.get("without_stop", 0.0)
    kinds = f"{100 * everyday:.0f} % about everyday situations" if everyday else ""
    stops = f"{100 * bare:.0f} % without their full stop" if bare else ""
    more = ", ".join(part for part in (kinds, stops) if part)
    sentences = f"{mixture['sentences']} single sentences{f' ({more})' if more else ''}"
    made = mixture.get("made_pairs", 0.0)
    frames = f" {100 * made:.0f} % of the pairs are made from frames instead." if made else ""
    return (
        f"- Steps {first:,} to {last:,}: {mixture['blocks']} packed blocks of "
        f"{mixture['block_length']} tokens, {sentences}, {mixture['pairs']} sentence pairs. Half "
        f"of the pairs are true neighbours; of the others {100 * mixture['same_document']:.0f} % "
        f"come from the same document, {100 * mixture['swapped']:.0f} % are neighbours in the "
        f"wrong order, the rest come from another document.{frames}"
    )


def _task_step(tasks: Mapping[str, Any]) -> str:
    """Describe what the task stage adds to each step."""
    choices = tasks.get("choices", 0)
    more = f", {choices} rows of multiple choice" if choices else ""
    if gapped := tasks.get("gapped", 0):
        more += f", {gapped} sentences of textbooks with a gap and four terms of their chapter"
    return (
        f"- Beside them in each step: {tasks['questions']} questions "
        f"({100 * tasks['unanswerable']:.0f} % asked about a passage {_unanswered(tasks)}, "
        f"{100 * tasks['short_questions']:.0f} % of one-sentence passages), "
        f"{tasks['tags']} sentences with names of four kinds, {tasks['partial_tags']} in which "
        f"MISC is not annotated (there O may mean MISC), {tasks['sentiment']} film-review "
        f"sentences, half of them as a person would type them{_made_rows(tasks)}{more}. Passages "
        f"in windows of {tasks['max_length']} tokens that share {tasks['stride']}. Dropout 0.1 "
        f"before each classifier.{_text_weight(tasks)}"
    )


def _unanswered(tasks: Mapping[str, Any]) -> str:
    """Describe the passages that do not answer their questions."""
    similar = "on a similar subject without the answer"
    if "made_questions" not in tasks:
        return similar
    return (
        f"without the answer: a third {similar}, a third the question's own without the sentence "
        "that answers it, a third made by rule, which states other properties; "
        f"{100 * tasks['made_questions']:.0f} % asked about such a passage that does answer"
    )


def _made_rows(tasks: Mapping[str, Any]) -> str:
    """Describe the rows that recipes before version 0.3 did not have."""
    if "feelings" not in tasks:
        return ""
    return (
        f", {tasks['phrases']} phrases of film reviews, {tasks['reviews']} sentences about "
        f"products, films and restaurants, {tasks['feelings']} with praise and blame made from "
        f"frames, half of them with a negation or a contrast, {tasks['made_tags']} with names of "
        "many countries made from frames"
    )


def _text_weight(tasks: Mapping[str, Any]) -> str:
    """Say how the losses of the text are weighted, where the record says it."""
    weight = tasks.get("text_weight")
    return f" The losses of the text above have the weight {weight:g}." if weight else ""


def _ordinal(number: int) -> str:
    """Return the ordinal of a number up to about a hundred, as in "every 8th".

    >>> [_ordinal(number) for number in (2, 3, 8, 11, 21)]
    ['2nd', '3rd', '8th', '11th', '21st']
    """
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10)
    return f"{number}{ending or 'th'}"
