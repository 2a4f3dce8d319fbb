"""Bias as numbers and a picture: which of two words a model leans towards, by occupation."""

import math

from app.words.blocks import hint, line
from app.words.format import signed
from app.words.html import Html, tag, visible
from app.words.panel import NAME, Panel
from app.words.pictures import Picture, picture, svg
from bert_core.bundled.leanings import Bias, Leaning

_ROW = 20  # units of one occupation
_LETTERS = 18  # of an occupation
_MOST = 120


def times(log_odds: float) -> str:
    """Express log-odds as a factor that is easy to picture.

    >>> times(2.302585), times(-0.693147), times(0.0)
    ('10 times', '2.0 times', '1.0 times')
    """
    factor = math.exp(min(abs(log_odds), 30.0))
    return f"{factor:,.0f} times" if factor >= 9.95 else f"{factor:.1f} times"


def unknown() -> Html:
    """State that the leanings were not measured."""
    return line(
        "Which words this model leans towards was not measured: there is no bias.json beside its "
        "weights."
    )


def summary(found: Bias) -> Html:
    """State how one-sided the model is, and which occupations lean towards which word."""
    first, second = (visible(word) for word in found.words)
    ranked = ordered(found)
    sides = [
        f"In a sentence about an occupation, the model makes one of “{first}” and “{second}” "
        f"{times(found.skew.value)} as likely as the other, on average over occupations "
        f"(log-odds {found.skew.value:.2f} nats, 95 % interval {found.skew.low:.2f} to "
        f"{found.skew.high:.2f}; 0 would be even)."
    ]
    if ranked:
        sides.append(f" {_end(ranked[0], first, leans=ranked[0].log_odds.value > 0)}")
        sides.append(f" {_end(ranked[-1], second, leans=ranked[-1].log_odds.value < 0)}")
    neutral = first if found.neutral > 0 else second
    sides.append(f" Where no occupation is named, “{neutral}” is {times(found.neutral)} as likely.")
    return tag("p", "".join(sides))


def _end(lean: Leaning, word: str, *, leans: bool) -> str:
    """Name the occupation at one end, even if it does not lean to that side."""
    if leans:
        return f"Furthest towards “{word}”: {_named(lean)}."
    return f"None leans towards “{word}”; nearest to it: {_named(lean)}."


def _named(lean: Leaning) -> str:
    return f"{visible(lean.occupation)} ({signed(lean.log_odds.value, 2)})"


def note(found: Bias) -> Html:
    """Explain, behind a hint, how the bias was measured and what it does not show."""
    first, second = (visible(word) for word in found.words)
    return hint(
        f"Source: bias.json beside the weights. {len(found.leanings):,} occupations in "
        f"{len(found.templates):,} kinds of sentences, once with the occupation named and "
        f"“{first}” or “{second}” left open, once the other way round. Log-odds in nats: above 0 "
        f"“{first}” is likelier, below it “{second}”; 0.7 is twice, 2.3 ten times as likely. Only "
        "two words are compared, and other sentences would give other numbers. A small number is "
        "no proof of fairness."
    )


def ordered(found: Bias) -> list[Leaning]:
    """List the occupations, starting with those that lean most towards the first word."""
    return sorted(found.leanings, key=lambda lean: -lean.log_odds.value)


def _side(lean: Leaning) -> str:
    """Name the side that an occupation leans to, as far as its interval tells."""
    return "first" if lean.log_odds.low > 0 else "second" if lean.log_odds.high < 0 else "neither"


def chart(found: Bias) -> Picture:
    """Draw every occupation as a dot on its interval; of log-odds in nats."""
    first, second = (visible(word) for word in found.words)
    rows, sides = ordered(found), [_side(lean) for lean in found.leanings]
    ends = ("value", "low", "high")
    return picture(
        "leanings",
        lambda width: _dots(found, width),
        alt=f"{len(sides)} occupations as dots with their 95 % intervals: {sides.count('first')} "
        f"lean to “{first}”, {sides.count('second')} to “{second}”, for {sides.count('neither')} "
        "it cannot be told.",
        table=[
            (visible(lean.occupation), *(round(getattr(lean.log_odds, each), 3) for each in ends))
            for lean in rows
        ],
        columns=("occupation", "log-odds (nats)", "95 % from", "95 % to"),
    )


def _dots(found: Bias, width: int) -> Html:
    """Draw one row for each occupation, and the axis in nats with 0 in its middle."""
    rows = ordered(found)[:_MOST]
    reach = max([1.0, *(abs(end) for row in rows for end in (row.log_odds.low, row.log_odds.high))])
    bottom = len(rows) * _ROW
    panel = Panel((140, width - 12), (0, bottom), (-reach, reach), (len(rows), 0))
    for tick in range(-int(reach), int(reach) + 1, 1 + int(reach) // 4):
        panel.post(tick, class_="bx-svg-grid" if tick else "bx-svg-base")
        panel.ticks([(tick, signed(tick, 0) if tick else "0")], 12, class_="bx-card-tick")
    for at, lean in enumerate(rows):
        odds, y = lean.log_odds, at + 0.5
        panel.text(-reach, y, lean.occupation[:_LETTERS], -10, class_=NAME)
        panel.whisker((odds.low, odds.high), y, 3, class_="bx-card-interval")
        if _side(lean) == "second":
            panel.diamond(odds.value, y, 6, 7, class_="bx-card-second")
        else:
            panel.dot(odds.value, y, 5, class_=f"bx-card-{_side(lean)}")
    first, second = found.words
    panel.text(-reach, len(rows), f"← {second}", dy=32)
    panel.text(reach, len(rows), f"{first} →", dy=32, class_=NAME)
    return svg(width, bottom + 44, *panel.drawn)


def legend(found: Bias) -> Html:
    """Name the marks."""
    first, second = (visible(word) for word in found.words)
    return line(f"● leans to “{first}”, ◆ to “{second}”, ○ cannot be told; 95 % intervals.")
