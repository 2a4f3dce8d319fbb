"""Bias in a sentence: which of two words a model leans towards, by occupation."""

import math

from app.words.blocks import hint, line
from app.words.format import signed
from app.words.html import Html, join, tag, visible
from bert_core.bundled.leanings import Bias, Leaning


def times(log_odds: float) -> str:
    """Express log-odds as a factor that is easy to picture.

    >>> times(2.302585), times(-0.693147), times(0.0)
    ('10 times', '2.0 times', '1.0 times')
    """
    factor = math.exp(min(abs(log_odds), 30.0))
    return f"{factor:,.0f} times" if factor >= 9.95 else f"{factor:.1f} times"


def short(found: Bias | None) -> Html:
    """Say how one-sided the model is, and which occupations lean furthest towards which word."""
    if found is None:
        return line("Biases: not measured; there is no bias.json beside the weights.")
    first, second = (visible(word) for word in found.words)
    says = (
        f"In a sentence about an occupation, it prefers “{first}” or “{second}”: on average, the "
        f"preferred word is {times(found.skew.value)} as likely."
    )
    ranked = sorted(found.leanings, key=lambda lean: -lean.log_odds.value)
    if ranked:
        says += f" {_end(ranked[0], first, leans=ranked[0].log_odds.value > 0)}"
        says += f" {_end(ranked[-1], second, leans=ranked[-1].log_odds.value < 0)}"
    return tag("div", _explained(found), tag("p", tag("strong", "Biases. "), says))


def _end(lean: Leaning, word: str, *, leans: bool) -> str:
    """Name the occupation at one end, even if it does not lean to that side."""
    named = visible(lean.occupation)
    if leans:
        return f"Furthest towards “{word}”: {named}."
    return f"None leans towards “{word}”; nearest to it: {named}."


def _explained(found: Bias) -> Html:
    first, second = (visible(word) for word in found.words)
    skew, neutral = found.skew, first if found.neutral > 0 else second
    return hint(
        tag(
            "p",
            f"Log-odds {skew.value:.2f} nats, 95 % interval {skew.low:.2f} to {skew.high:.2f}; 0 "
            f"would be even. Where no occupation is named, “{neutral}” is {times(found.neutral)} "
            "as likely.",
        ),
        tag(
            "p",
            f"Source: bias.json beside the weights. {len(found.leanings):,} occupations in "
            f"{len(found.templates):,} kinds of sentences, once with the occupation named and "
            f"“{first}” or “{second}” left open, once the other way round. Only two words are "
            "compared, and other sentences would give other numbers. A small number is no proof of "
            "fairness.",
        ),
        tag("p", _listed(found)) if found.leanings else join(),
    )


def _listed(found: Bias) -> str:
    ranked = sorted(found.leanings, key=lambda lean: -lean.log_odds.value)
    named = (f"{visible(each.occupation)} {signed(each.log_odds.value, 2)}" for each in ranked)
    return f"Log-odds, above 0 for “{visible(found.words[0])}”: {', '.join(named)}."
