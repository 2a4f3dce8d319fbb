"""The model card beside the weights: data and licences, recipe, curve, figures, limits, hash."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from training.evaluation import Figure, table
from training.sources import ENCODER, EVALUATION_NOTE, SOURCES

_CARD = """---
license: cc-by-sa-4.0
language: en
pipeline_tag: fill-mask
---

# explorer-mini-uncased

A small English BERT for looking inside: {layers} layers, {heads} heads, hidden size {hidden},
uncased, {vocabulary:,} word pieces, {parameters:.1f} million parameters. It fills gaps and judges
whether one sentence follows another, well enough to teach with and small enough to answer at once
on any computer.

The root folder holds encoder, pooler and both heads of pretraining (masked words, next sentence)
in float16; `transformers` opens it as `BertForPreTraining`.

    from bert_core import BertForMaskedLM, BertTokenizer

    model = BertForMaskedLM.from_pretrained("explorer-mini-uncased")
    tokenizer = BertTokenizer.from_pretrained("explorer-mini-uncased")

## Licence

{licence}

## Measured

{table}

{evaluation}

## Recipe

{recipe}

{note}

![Training loss](curve.svg)

## Data

{tokens:,} word pieces of English text. Where a source states no licence, that is said.

| text | from | licence |
|---|---|---|
{sources}

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

## Hash

`model.safetensors`, {size:,} bytes, sha256 `{sha256}`
"""


def write_card(
    target: Path,
    settings: Mapping[str, Any],
    last: Mapping[str, Any],
    figures: Sequence[Figure],
    bundle: Mapping[str, Any],
) -> None:
    """Write the model card.

    Args:
        target: the file.
        settings: of the training, as its work folder keeps them.
        last: the last line of its log.
        figures: what was measured on the exported weights.
        bundle: the config's sizes, "parameters", "size" and "sha256" of the weights, and a
            "note" on how the training went, in Markdown.
    """
    licence = f"The weights are under CC BY-SA 4.0: much of the text is Wikipedia's. {ENCODER}"
    card = _CARD.format(
        licence=_paragraph(licence),
        evaluation=_paragraph(f"Intervals are Wilson's. {EVALUATION_NOTE}"),
        table=table(figures),
        recipe=recipe(settings, last),
        tokens=settings["text_tokens"],
        sources="\n".join(f"| {s.text} | {s.origin} | {s.licence} |" for s in SOURCES),
        **bundle,
    )
    target.write_text(card, encoding="utf-8")


def _paragraph(text: str) -> str:
    """Fill a paragraph to the width of the card.

    >>> _paragraph("one\\ntwo")
    'one two'
    """
    return textwrap.fill(" ".join(text.split()), width=100)


def recipe(settings: Mapping[str, Any], last: Mapping[str, Any]) -> str:
    """Describe a training in words, from its settings and the last line of its log."""
    phases, trainer = settings["phases"], settings["phases"][-1]["trainer"]
    mixture = phases[-1]["mixture"]
    ends = [*(phase["after_step"] for phase in phases[1:]), last["step"]]
    spans = [end - phase["after_step"] for phase, end in zip(phases, ends, strict=True)]
    sizes = [phase["mixture"]["blocks"] * phase["mixture"]["block_length"] for phase in phases]
    seen = sum(span * size for span, size in zip(spans, sizes, strict=True)) / 1e6
    pairs = sum(span * phase["mixture"]["pairs"] for span, phase in zip(spans, phases, strict=True))
    precision = "bfloat16" if trainer["bfloat16"] else "float32"
    where = (
        "a CUDA device" if settings["device"] == "cuda" else "a processor shared with other work"
    )
    return "\n".join(
        [
            _paragraph(
                f"`python -m training pretrain` in this repository: {last['step']:,} steps in "
                f"{last['seconds'] / 60:.0f} minutes of computing on {where}, matrix products in "
                f"{precision}; {seen:.1f} million tokens of running text and {pairs:,} sentence "
                "pairs."
            ),
            "",
            f"- AdamW, peak rate {trainer['learning_rate']:.0e} after {trainer['warmup_steps']} "
            f"steps, straight down to 0, weight decay {trainer['weight_decay']}, gradients cut "
            f"at norm {trainer['max_grad_norm']}, no dropout, seed {mixture['seed']}.",
            *(
                _step(phase["mixture"], first, end)
                for phase, first, end in zip(
                    phases, (phase["after_step"] + 1 for phase in phases), ends, strict=True
                )
            ),
            f"- Every {mixture['long_every']}th step joins the blocks four by four. Single "
            "sentences and a part of the pairs are masked too, sentences by whole words.",
            f"- Of the tokens in blocks {100 * mixture['rate']:.0f} % are chosen, from "
            f"{100 * mixture['rate_falls']:.0f} % of the training on falling to "
            f"{100 * mixture['last_rate']:.0f} %; of these 80 % masked, 10 % random, 10 % kept.",
            "- Sentences sharing 12 word pieces in a row with evaluation text were dropped.",
        ]
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
