"""Causes measured on the bundled model: the tables of `docs/causes.md`.

    python -m tools.derive causes --data DATA

writes them, and from the first table what the page "Why?" says of these weights. DATA contains
`text/wikitext2-valid-test.txt.xz`, which is not used for training. Numbers are means over cases
with 95 % intervals (1.96 standard errors). Takes a few minutes on an idle core.
"""

import argparse
import lzma
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bert_core import BertForMaskedLM, BertTokenizer
from bert_core.analysis import (
    METHODS,
    Heads,
    Target,
    attribute,
    head_effects,
    layer_effects,
    lens,
    run,
)
from bert_core.analysis.faithfulness import measure_orders
from bert_core.analysis.masking import OPERATORS
from bert_core.text.encoding import Encoding

Floats = NDArray[np.float64]
_NAME = "explorer-mini-uncased"
_FILE = "text/wikitext2-valid-test.txt.xz"
_WORDS = range(12, 26)  # of a sentence
_SURE = 0.3  # least probability of the first guess that is explained
_SEED = 0
_METHODS: dict[str, dict[str, Any]] = {
    **{method: {"method": method} for method in METHODS},
    "integrated_gradients, zero": {"baseline": "zero"},
    "integrated_gradients, [PAD]": {"baseline": "[PAD]"},
    "attention, last layer": {"method": "attention", "layers": "last"},
}


@dataclass(frozen=True, slots=True)
class _Case:
    """A sentence with one hidden piece."""

    encoding: Encoding
    position: int
    true: int


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.workbench", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--texts", type=int, default=40, help="sentences of the first table")
    parser.add_argument("--masks", type=int, default=200, help="masks of the other tables")
    parser.add_argument("--to", type=Path, default=Path("docs/causes.md"))
    options = parser.parse_args(arguments)
    model = BertForMaskedLM.from_pretrained(_NAME)
    tokenizer = BertTokenizer.from_pretrained(_NAME)
    cases = _cases(tokenizer, options.data / _FILE)
    some = [next(cases) for _ in range(options.masks)]
    methods = _methods_table(model, tokenizer, cases, options.texts)
    parts = [
        _INTRODUCTION,
        methods,
        _lens_table(model, some),
        _parts_table(model, some),
    ]
    options.to.write_text("\n".join(parts), encoding="utf-8")
    print(f"wrote {options.to}")


def _cases(tokenizer: BertTokenizer, path: Path) -> Iterator[_Case]:
    """Yield sentences in random order, each with one random whole word hidden."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        sentences = [each for line in file for each in re.split(r"(?<=[a-z]\.) ", line.strip())]
    sentences = [each for each in sentences if len(each.split()) in _WORDS and each[-1:] == "."]
    chance = random.Random(_SEED)
    chance.shuffle(sentences)
    for sentence in sentences:
        words = sentence.split()
        at = chance.randrange(len(words))
        hidden = tokenizer.encode(words[at])
        if len(hidden) != 3 or not words[at].isalpha():
            continue
        encoding = tokenizer.encode(" ".join([*words[:at], "[MASK]", *words[at + 1 :]]))
        yield _Case(encoding, encoding.tokens.index("[MASK]"), hidden.input_ids[1])


# -- faithfulness ----------------------------------------------------------------------------------


def _methods_table(
    model: BertForMaskedLM, tokenizer: BertTokenizer, cases: Iterator[_Case], count: int
) -> str:
    """Compare the methods on sentences whose first guess is sure enough."""
    found: dict[str, list[list[float]]] = {name: [] for name in (*_METHODS, "random order")}
    gaps: dict[str, list[float]] = {}
    lengths: list[int] = []
    while len(lengths) < count:
        case = next(cases)
        logits = run(model, case.encoding, attentions=False).logits
        assert logits is not None
        probability, guess = logits[0, case.position].softmax(-1).max(-1)
        if probability < _SURE:
            continue
        target = Target.token(case.position, int(guess))
        scores = {
            name: attribute(model, case.encoding, target, **o) for name, o in _METHODS.items()
        }
        for name, each in scores.items():
            if each.steps and each.gap is not None:
                gaps.setdefault(name, []).append(each.gap)
        orders = [each.order for each in scores.values()]
        rows: dict[str, list[float]] = {name: [] for name in found}
        for operator in OPERATORS:
            measured = measure_orders(model, case.encoding, target, orders, operator, None)
            for name, one in zip(_METHODS, measured, strict=True):
                rows[name] += [one.comprehensiveness, one.sufficiency]
            chance = measured[0].random
            rows["random order"] += [
                float(chance.comprehensiveness.mean),
                float(chance.sufficiency.mean),
            ]
        for name, values in rows.items():
            found[name].append(values)
        lengths.append(len(case.encoding))
        print(f"{len(lengths)} of {count} sentences", flush=True)
    ranked = sorted(found.items(), key=lambda item: -np.mean([row[0] for row in item[1]]))
    lines = [
        "## Which method finds the tokens an answer depends on",
        "",
        f"{count} sentences (T on average {np.mean(lengths):.0f}), one word hidden, the model's "
        f"own first guess explained (p at least {_SURE}). Comprehensiveness: higher is better; "
        "sufficiency: lower is better. Tokens are hidden by [MASK], or by the attention mask.",
        "",
        "| method | comp., [MASK] | suff., [MASK] | comp., attention | suff., attention |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {' | '.join(_interval(column) for column in np.array(rows).T)} |"
            for name, rows in ranked
        ),
        "",
        "Median completeness gap: "
        + "; ".join(f"{name} {100 * np.median(each):.2f} %" for name, each in gaps.items())
        + ".",
        "",
    ]
    return "\n".join(lines)


# -- lens ------------------------------------------------------------------------------------------


def _lens_table(model: BertForMaskedLM, cases: Sequence[_Case]) -> str:
    """Compare what both lenses say in each layer with the truth and the last layer."""
    tables = []
    for kind in ("raw", "affine"):
        rows = []
        for case in cases:
            scores = lens(model, case.encoding, case.position, kind=kind)[:, 0].log_softmax(-1)
            best, last = scores.argmax(-1), scores[-1]
            divergence = (last.exp() * (last - scores)).sum(-1)
            rows.append(torch.stack([best == case.true, best == best[-1], divergence]).numpy())
        tables.append(np.array(rows))  # (N, 3, L + 1)
    lines = [
        "## What the lens says in each layer",
        "",
        f"{len(cases)} sentences, one word hidden in each. Right: the first guess is the hidden "
        "word; same: it is that of the last layer; KL: divergence of the last layer from it, nats.",
        "",
        "| vectors | raw: right | same | KL | affine: right | same | KL |",
        "|---|---|---|---|---|---|---|",
    ]
    for layer in range(tables[0].shape[2]):
        cells = [_interval(table[:, what, layer]) for table in tables for what in range(3)]
        where = f"after layer {layer - 1}" if layer else "input"  # layers count from 0
        lines.append(f"| {where} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


# -- heads and sublayers ---------------------------------------------------------------------------


def _parts_table(model: BertForMaskedLM, cases: Sequence[_Case]) -> str:
    """Measure how the loss grows without each head and each sublayer."""
    effects: dict[str, list[Floats]] = {"zero": [], "mean": [], "gradient": []}
    layers: dict[str, list[Floats]] = {"zero": [], "mean": []}
    for number, case in enumerate(cases):
        target = Target.token(case.position, case.true)
        for mode in layers:
            effects[mode].append(-head_effects(model, case.encoding, target, mode))
            layers[mode].append(-layer_effects(model, case.encoding, target, mode))
        effects["gradient"].append(_gradient_importance(model, case, target))
        if number % 50 == 49:
            print(f"{number + 1} of {len(cases)} masks", flush=True)
    means = {name: np.mean(each, axis=0) for name, each in effects.items()}
    heads = model.config.num_attention_heads
    largest = np.argsort(-means["mean"].ravel())[:5]
    zero, mean = (np.array(effects[mode]) for mode in ("zero", "mean"))
    lines = [
        "## What is lost without a head or a sublayer",
        "",
        f"{len(cases)} hidden words; growth of the loss (nats), each head or sublayer switched off "
        "alone. Layers and heads count from 0.",
        "",
        f"- Median over {means['zero'].size} heads: {np.median(means['zero']):+.4f} (zero), "
        f"{np.median(means['mean']):+.4f} (mean). Without {(means['zero'] < 0).sum()} (zero) or "
        f"{(means['mean'] < 0).sum()} (mean) of them the loss falls.",
        f"- Rank correlation of zero and mean: {_spearman(means['zero'], means['mean']):.2f}; of "
        f"the gradient's importance (Michel et al. 2019) with zero "
        f"{_spearman(means['gradient'], means['zero']):.2f}, with mean "
        f"{_spearman(means['gradient'], means['mean']):.2f}.",
        "",
        "| head | zero | mean |",
        "|---|---|---|",
    ]
    for place in largest:
        layer, head = divmod(int(place), heads)
        cells = f"{_interval(zero[:, layer, head])} | {_interval(mean[:, layer, head])}"
        lines.append(f"| L{layer}H{head} | {cells} |")
    lines += [
        "",
        "| layer | attention, zero | attention, mean | feed-forward, zero | feed-forward, mean |",
        "|---|---|---|---|---|",
    ]
    whole = {mode: np.array(each) for mode, each in layers.items()}
    for layer in range(model.config.num_hidden_layers):
        cells = " | ".join(
            _interval(whole[mode][:, layer, part]) for part in (0, 1) for mode in ("zero", "mean")
        )
        lines.append(f"| {layer} | {cells} |")
    return "\n".join([*lines, ""])


def _gradient_importance(model: BertForMaskedLM, case: _Case, target: Target) -> Floats:
    """Return |d target / d scale| of every head, (L, H) (Michel et al. 2019, section 4.1)."""
    shape = (model.config.num_hidden_layers, model.config.num_attention_heads)
    scales = torch.ones(shape, requires_grad=True)
    changes = [
        Heads(layer, head, scale=scales[layer, head])  # type: ignore[arg-type]
        for layer, head in np.ndindex(shape)
    ]
    found = run(model, case.encoding, interventions=changes, attentions=False, logits=False)
    value = target.read(model, found.last_hidden_state)[0]
    (gradient,) = torch.autograd.grad(value, scales)
    importance: Floats = gradient.abs().double().numpy()
    return importance


def _spearman(one: Floats, other: Floats) -> float:
    ranks = [each.ravel().argsort().argsort() for each in (one, other)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _interval(values: Floats) -> str:
    """Format a mean with its 95 % interval.

    >>> _interval(np.array([0.0, 1.0, 0.0, 1.0]))
    '.50 ± .57'
    """
    values = np.asarray(values, dtype=np.float64)
    error = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
    return re.sub(r"\b0\.", ".", f"{values.mean():.2f} ± {error:.2f}")


_INTRODUCTION = f"""# Causes, measured

Written by `python -m tools.derive causes` on the weights of `{_NAME}`, with sentences of
WikiText-2 that it was not trained on. Each number is a mean over cases with its 95 % interval;
neighbours whose intervals overlap are ties. One model and one kind of text: others differ.
"""


if __name__ == "__main__":
    main()
