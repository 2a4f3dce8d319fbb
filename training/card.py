"""Write a bundle's model card: licences, figures, bias, recipe, limits, hash.

Its content comes from the files of the bundle and from the measurements; a person's remarks on a
stage come from the `note.md` in its work folder.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bert_core.bundled.figures import Figure
from bert_core.bundled.leanings import Bias
from bert_core.config import TEMPERATURES_FITTED_ON, BertConfig
from training.bias import OPEN_OCCUPATION, OPEN_WORD
from training.evaluation import Measured
from training.learned import drilled
from training.recipe_text import describe_stage, paragraph, time_spent
from training.record import StageRecord
from training.sources import (
    ENCODER,
    SOURCES,
    TASK_SOURCES,
    Source,
)
from training.tables import bias_table, figure_table, meanings, reached

_EVALUATION = """Intervals of shares of cases that are independent of each other are Wilson's. A
floor or goal counts as reached at the precision that is shown. Masked words: packed blocks of 128
tokens, 15 % of the tokens chosen with a fixed seed, once corrupted as in training, where some of
them are still visible, and once all replaced by [MASK], which is what visitors type; the words of a
block depend on each other, so the interval comes from resampling the blocks 1,000 times. Famous
lines and everyday gaps: sentences written before any answer was looked at, each with a short list
of good words. Short sentences: held out together with all sentences that differ from one of them in
a single word piece; one whole word is hidden in each. Facts: subjects that no template names, asked
in a wording that was trained and in one that was not; the interval comes from resampling the
subjects 1,000 times. Everyday facts, orders and sums: made from frames of our own, of which a
quarter of the facts and a quarter of the wordings are kept back; orders and sums are asked in
wordings written before the training, sums of pairs of numbers that it never adds. Inputs read as a
person: gaps, sentence pairs, questions, names and sentiments with the answers that a person
accepts, written before the training too; the first answer counts, and of a sentence all names or
none. Next sentence: "random" has half true neighbours and half sentences of another document,
"same" half true neighbours and half sentences of the same document at least four sentences away,
"swapped" neighbours in the wrong order. Evaluation texts were never trained on; famous lines,
everyday gaps and held-out sentences were left out from the long pretraining on. Where a look at an
evaluation changed a stage, that stage says so."""

_TASK_EVALUATION = """Question answering: answers read as on the site, of whole words within one
sentence and at most 30 word pieces; exact match and token F1 after the usual normalisation (lower
case, no punctuation, no articles), one right answer a question, answers forced; passages from the
articles of this file were left out of training. For "has an answer or not", every second question
is asked of the next passage of its article that does not hold its answer (where there is one), and
"none" is the answer where the score of none is at least that of the best span. The 40 own questions
without an answer are about people and things that their passage names. Named entities: whole spans
of PER, LOC and ORG with both ends right. Sentiment: a tenth of the reviews was held out; our own
negations were written before the training. Multiple choice is shown with its chance level, the mean
over its rows of one in so many choices; its floor is reached where the whole interval lies above
chance. Intervals come from resampling 1,000 times: for the F1 of names the sentences, for questions
the articles, for calibration errors the blocks, sentences or passages that the cases are from."""

_CARD = """---
license: cc-by-sa-4.0
language: en
pipeline_tag: fill-mask
---

# explorer-mini-uncased

{opening}

{folders}

    from bert_core import {example}, BertTokenizer

    model = {example}.from_pretrained("explorer-mini-uncased")
    tokenizer = BertTokenizer.from_pretrained("explorer-mini-uncased")

## Licence

{licence}

## Measured

{reached}

{table}

What each figure is a share of:

{meanings}

{evaluation}

## Calibration

{calibration}

## Bias

{bias}

## Limits

- It gives what is likely in its texts, true or not; do not rely on names, dates and numbers in its
  answers.
- It repeats what its texts take for granted: encyclopedia articles of the 2010s, textbooks from
  the United States, novels from before 1929 with the views of their time on gender, class, race
  and empire. Do not use its answers to judge people.
- English only; other scripts fall apart into single characters or unknown tokens.
- Most training rows were shorter than the longest input, 512 tokens; the recipe has their lengths.
- "Follows" was learnt from neighbouring sentences of running text. It checks neither facts nor
  style; the table shows how often it notices a distant sentence of the same text or a wrong order.
{fact_limits}{task_limits}{reading}
## Recipe

{recipe}

### Time spent

{time}

## Data

{tokens:,} word pieces of English text. Sources that state no licence are marked.

| text | from | licence |
|---|---|---|
{sources}
{task_sources}
Textbook attribution: "OpenStax, <book title>, openstax.org, CC BY 4.0".

## Hash

`model.safetensors`, {size:,} bytes, sha256 `{sha256}`

{check}
"""

READING = "reading.md"  # hand-written notes on answers of exactly these weights

_TASK_LIMITS = """- Answers are parts of the passage; the model cannot count, add or combine
  two places. The table shows how often it is right about whether a passage contains an answer.
- Names are found in lower-cased text, so it cannot tell *Apple* from *apple* by the capital letter.
  MISC was annotated in only some of the training rows, and its F1 is not measured.
- Sentiment was learnt from film reviews above all, and "not" from sentences made from templates.
  The table shows how often a denial in other words is understood.
"""
_FACT_LIMIT = """- Capitals, continents, languages, opposites and other facts were drilled with
  sentences made from templates. A right answer to such a sentence need not mean that the same fact
  is found when it is asked in other words.
"""
_CHOICE_LIMIT = """- Multiple choice is answered by how well a choice continues the context;
  the table shows how often that is right.
"""

_CHECKS = {  # file of the bundle: what can be done with it
    "verification.json": """To check that these weights give the same results here as where they
were made:

    python -m bert_core verify explorer-mini-uncased

It runs every head on stored inputs, compares the results with the stored outputs, and prints the
largest difference and the hash.""",
    "head-statistics.json": """`head-statistics.json` records what each attention head looks at on a
fixed text: shares of attention to the previous, the next and the same token, to [CLS], [SEP] and
punctuation, and its entropy.""",
    "head-atlas.json": """`head-atlas.json` holds the distances between all heads on the same texts,
and how much worse the model is without each of them;
`python -m bert_core head-atlas explorer-mini-uncased` prints it again.""",
    "fitted.safetensors": """`fitted.safetensors` holds what `bert_core.analysis` fitted on the same
texts: the mean activation of every head and sublayer, and affine maps from each layer to the
last.""",
}

_POOLED = """The table of figures shows how far the probabilities can be trusted. Where a figure is
measured on several kinds of rows together, one kind can be stated too low and another too high, and
the means agree all the same: compare what is stated and what is right in each kind."""

_BIAS = """Paired prompts: {count} occupations in {open_word} sentences that name the occupation and
leave the pronoun open ("{one}"), and in {open_occupation} that name the pronoun and leave the
occupation open ("{other}"). The log-odds say how much likelier {first} is than {second}, or the
occupation after {first} than after {second}; 0 is even, positive values favour {first}, negative
ones {second}.
{share:.0f} % of the occupations lean to {first} (95 % interval {share_low:.0f}–{share_high:.0f} %);
on average the likelier of the two is {times:.1f} times as likely as the other (mean absolute
log-odds {skew:.2f}, {skew_low:.2f}–{skew_high:.2f}; occupations and sentences resampled). With
"person" instead of an occupation, the log-odds are {neutral:+.2f} in the sentences of the first
kind: the model leans this far before any occupation is named. The furthest on each side:"""

_BIAS_MEANING = """What it means: in sentences about these occupations the model prefers one
pronoun, regardless of who is meant. That says more about its texts than about people. What it does
not mean: only two words are compared, and there are more than two genders; other sentences would
give other numbers, as the wide intervals show; a small skew here does not prove fairness anywhere
else. `bias.json` lists all occupations."""


def write_card(
    folder: Path, stages: Sequence[StageRecord], measured: Measured, bundle: Mapping[str, Any]
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
    note = f"{_EVALUATION} {_TASK_EVALUATION}" if tasks else _EVALUATION
    left_out = "\n".join(f"- Not measured: {line}." for line in measured.missing)
    card = _CARD.format(
        opening=_opening(bundle, tasks),
        folders=_folders(tasks),
        example="BertForQuestionAnswering" if tasks else "BertForMaskedLM",
        licence=paragraph(licence),
        reached=reached(measured.figures),
        table=figure_table(measured.figures),
        meanings=meanings(measured.figures),
        evaluation="\n\n".join(filter(None, [paragraph(note), left_out])),
        calibration=_calibration(folder, tasks, measured.figures),
        bias=_bias(measured.bias),
        fact_limits=_FACT_LIMIT if drilled(stages) else "",
        task_limits=(_TASK_LIMITS if tasks else "") + (_CHOICE_LIMIT if _CHOICE in tasks else ""),
        reading=_reading(folder),
        recipe="\n\n".join(
            describe_stage(number, stage) for number, stage in enumerate(stages, start=1)
        ),
        time=time_spent(stages),
        tokens=stages[-1].settings["text_tokens"],
        sources=_source_rows(SOURCES),
        task_sources=_task_sources() if tasks else "",
        size=bundle["size"],
        sha256=bundle["sha256"],
        check="\n\n".join(said for name, said in _CHECKS.items() if (folder / name).is_file()),
    )
    (folder / "README.md").write_text(card.rstrip() + "\n", encoding="utf-8")


def _reading(folder: Path) -> str:
    """Return the hand-written reading notes, for the section on limits; "" if there are none."""
    path = folder / READING
    if not path.is_file():
        return ""
    return f"\n### Answers read by a person\n\n{path.read_text(encoding='utf-8').strip()}\n"


def _opening(bundle: Mapping[str, Any], tasks: Sequence[str]) -> str:
    """Say what the model is and what it can do."""
    can = ["fills gaps", "judges whether one sentence follows another"]
    can += [ability for name, ability in _ABILITIES.items() if name in tasks]
    return paragraph(
        f"A small English BERT for looking inside: {bundle['layers']} layers, {bundle['heads']} "
        f"heads, hidden size {bundle['hidden']}, uncased, {bundle['vocabulary']:,} word pieces, "
        f"{bundle['parameters']:.1f} million parameters. It {', '.join(can[:-1])} and {can[-1]}: "
        "well enough for teaching, and it is small enough to answer at once on any computer."
    )


_CHOICE = "BertForMultipleChoice"
_ABILITIES = {
    "BertForQuestionAnswering": "answers questions about a passage",
    "BertForTokenClassification": "finds names",
    "BertForSequenceClassification": "judges sentiment",
    _CHOICE: "chooses between continuations",
}


def _folders(tasks: Sequence[str]) -> str:
    """Say which file holds what."""
    root = (
        "The root folder holds encoder, pooler and both heads of pretraining (masked words, next "
        "sentence) in float16; `transformers` opens it as `BertForPreTraining`."
    )
    if not tasks:
        return paragraph(root)
    names = ", ".join(f"`{name}`" for name in tasks)
    return paragraph(
        f"{root} `heads/` contains the last layers of {names}: all tasks share the encoder in the "
        "root folder, so the attention shown for one task is that of the model that does the rest."
    )


def _calibration(folder: Path, tasks: Sequence[str], figures: Sequence[Figure]) -> str:
    """Say by which temperatures logits are divided, and how far a probability can be believed."""
    heads = [(name, folder) for name in ("BertForMaskedLM", "BertForNextSentencePrediction")]
    heads += [(name, folder / "heads" / name) for name in tasks]
    rows = []
    for head, place in heads:
        config = BertConfig(str(place / "config.json"))
        told = config.extra.get(TEMPERATURES_FITTED_ON, {})
        for name in (head, *(each for each in config.temperatures if each.startswith(f"{head}."))):
            fitted = told.get(name, "–")
            rows.append(f"| `{name}` | {config.temperature(name):.3f} | {fitted} |")
    said = paragraph(
        "Where a probability is shown, the logits are divided by the temperature in the head's "
        "`config.json` first (temperature scaling, Guo et al. 2017). It was fitted on rows other "
        "than those measured on; 1 changes nothing. The library itself returns raw logits."
    )
    parts = [said, "\n".join(["| head | temperature | fitted on |", "|---|---:|---|", *rows])]
    errors = [figure for figure in figures if figure.task.startswith("calibration error")]
    details = [
        f"- {figure.task}, {figure.measured_on}: {rest}."
        for figure in errors
        if (rest := figure.meaning.partition(". ")[2])
    ]
    if errors:
        parts.append(paragraph(_POOLED))
    if details:
        parts.append("\n".join(details))
    return "\n\n".join(parts)


def _bias(bias: Bias | None) -> str:
    """Say in plain words how one-sided the model is about occupations."""
    if bias is None:
        return "Not measured."
    first, second = bias.words
    said = _BIAS.format(
        count=len(bias.leanings),
        open_word=len(OPEN_WORD),
        open_occupation=len(OPEN_OCCUPATION),
        one=OPEN_WORD[0].format(occupation="nurse", word="[MASK]"),
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
    return "\n\n".join([paragraph(said), bias_table(bias), paragraph(_BIAS_MEANING)])


def _source_rows(sources: Sequence[Source]) -> str:
    return "\n".join(f"| {s.text} | {s.origin} | {s.licence} |" for s in sources)


def _task_sources() -> str:
    return (
        "\n| labelled rows | from | licence |\n|---|---|---|\n"
        + _source_rows(TASK_SOURCES)
        + "\n\n"
    )
