"""Two sentences beside each other: scores and first guesses in one table, then every piece."""

from collections.abc import Sequence
from itertools import zip_longest

import pandas as pd

from app.features.fill_mask.result import Candidate
from app.features.fill_mask.result_sentences import SentencesResult
from app.features.fill_mask.view import explained
from app.features.fill_mask.view_surprise import surprise_picture
from app.records.two_answers import Both, Said, TwoAnswers
from app.words.blocks import line
from app.words.format import signed
from app.words.html import visible
from app.words.pictures import listed
from app.words.screen import Part, Rows, Screen
from app.words.two_answers import drawn

TITLE = "Two sentences"

EXAMPLE = {
    "first": "The dog buried its bone in the [MASK].",
    "second": "The pirate buried his gold in the [MASK].",
}
"""What is in the boxes at first."""

_MORE = (
    "Every piece is hidden in turn, and the natural logarithms of the probabilities that the model "
    "gives these pieces are added up: the pseudo-log-likelihood (Salazar et al. 2020), in nats. "
    "One nat less is 2.7 times less probable; nats divided by 0.693 are bits. A longer sentence "
    "has a lower sum, so compare the score per piece if lengths differ. Of a word of several "
    "pieces, the later ones are hidden with the earlier ones. Gaps do not count."
)


def screen(result: SentencesResult, _: str = "") -> Screen:
    """Say what is shown."""
    said = summary(result)
    first, second = result.sentences
    both = TwoAnswers((first.text, second.text), (), rows(result))
    parts: list[Part] = [*drawn(both, said).parts]
    for number, (name, each) in enumerate(zip(("First", "Second"), result.sentences, strict=True)):
        told = f"{name} sentence, each piece in its place:"
        parts += [line(told), surprise_picture(each.surprise, number + 1)]
    table = Rows("Both sentences", lambda: rows_table(both), "fill-mask-sentences", json=True)
    return Screen(said, (*parts, table), answer=explained(said, more=_MORE))


def summary(result: SentencesResult) -> str:
    """Say which sentence the model expects more, by the sum and by the mean."""
    sums, means = ([_nats(each) for each in scores] for scores in _scores(result))
    told = f"{sums[0]} nats for the first sentence, {sums[1]} for the second"
    each = f"{means[0]} and {means[1]} per piece"
    if sums[0] == sums[1]:
        return f"The model expects both sentences alike: {told}; {each}."
    by_sum, by_mean = (scores[0] > scores[1] for scores in _scores(result))
    more = "first" if by_sum else "second"
    turned = "" if by_sum == by_mean else " Per piece it is the other way round."
    return f"The model expects the {more} sentence more: {told}; {each}.{turned}"


def rows(result: SentencesResult) -> tuple[Both, ...]:
    """List the scores, then the guesses of each gap, beside each other."""
    first, second = result.sentences
    (one, other), (mean, second_mean) = _scores(result)
    found = [
        _both("Score, nats", _nats(one), _nats(other)),
        _both("Per piece", _nats(mean), _nats(second_mean)),
        _both("Pieces", f"{len(first.surprise.pieces)}", f"{len(second.surprise.pieces)}"),
    ]
    slots = zip_longest(first.slots, second.slots)
    for number, gaps in enumerate(slots, start=1):
        sides = (gap.candidates if gap else () for gap in gaps)
        for rank, (left, right) in enumerate(zip_longest(*sides), start=1):
            said, there = _said(left), _said(right)
            found.append(Both(f"Gap {number}, guess {rank}", said, there, said.text != there.text))
    return tuple(found)


def _both(place: str, one: str, other: str) -> Both:
    return Both(place, Said(one), Said(other), one != other)


def rows_table(both: TwoAnswers) -> pd.DataFrame:
    """Return the same as a table to take along."""
    return listed(
        (
            (visible(row.place), visible(row.first.text), row.first.share,
             visible(row.second.text), row.second.share)
            for row in both.rows
        ),
        ("what", "first sentence", "its probability", "second sentence", "probability there"),
    )  # fmt: skip


def _said(candidate: Candidate | None) -> Said:
    return Said(candidate.token, candidate.probability) if candidate else Said("")


def _scores(result: SentencesResult) -> tuple[Sequence[float], Sequence[float]]:
    """Return the sums of both sentences, and the means."""
    return [each.score for each in result.sentences], [each.per_piece for each in result.sentences]


def _nats(value: float) -> str:
    return signed(value, 2)
