"""Fill the gaps of a text with two models, and compare their guesses word by word."""

from typing import Annotated

from app.engine.models import Engine
from app.engine.models.second import asked_twice
from app.features.fill_mask.result import Candidate, FillMaskResult, Slot
from app.features.fill_mask.task import fill_mask
from app.records.fields import SHUFFLE, Field
from app.records.two_answers import Both, Said, TwoAnswers
from bert_core.errors import InputError
from bert_core.reading.alignment import plain_spelling

_LOOKED_AT = 100  # candidates of each model; a word below these has no number


def fill_mask_two_models(
    engine: Engine,
    text: Annotated[str, Field("Text ([MASK] or ___ hides a word)", lines=3)],
    *,
    beside: Annotated[str, Field("Second model", lines=1, model=True)] = "",
    top_k: Annotated[int, Field("Candidates", key="k", low=1, high=20)] = 5,
    shuffle: Annotated[int, SHUFFLE] = 0,
) -> TwoAnswers:
    """Let two models guess the hidden words of a text, and compare their guesses.

    Args:
        engine: the first model.
        text: the text, with at least one [MASK].
        beside: the second model, by its name on offer; "" for the first other one that can answer.
        top_k: number of candidates of each model for each mask.
        shuffle: see `fill_mask`.

    Raises:
        InputError: there is no [MASK], or no such model; see `fill_mask`.
    """

    def ask(each: Engine) -> FillMaskResult:
        return fill_mask(each, text, top_k=_LOOKED_AT, shuffle=shuffle)

    models, first, second = asked_twice(engine, beside, ("BertForMaskedLM",), ask)
    if not first.slots:
        raise InputError("The text has no [MASK]. Write [MASK] or ___ in place of a word.")
    return both(models, first, second, top_k)


def both(
    models: tuple[str, str], first: FillMaskResult, second: FillMaskResult, top_k: int
) -> TwoAnswers:
    """Compare the guesses of two models in the gaps that both found at the same characters.

    Args:
        models: their names.
        first: the guesses of one model.
        second: those of the other one.
        top_k: guesses of each that are compared; one of them that the other does not have differs.
    """
    there = {slot.start: slot for slot in second.slots}
    pairs = [(slot, there[slot.start]) for slot in first.slots if slot.start in there]
    rows = [
        row
        for one, other in pairs
        for row in _words(one, other, top_k, f"gap {one.number}: " if len(pairs) > 1 else "")
    ]
    best = [
        Both(
            f"Gap {one.number}",
            _said(a),
            _said(b),
            plain_spelling(a.token) != plain_spelling(b.token),
        )
        for one, other in pairs
        for a, b in [(one.candidates[0], other.candidates[0])]
    ]
    return TwoAnswers(models, tuple(best), tuple(rows))


def _words(one: Slot, other: Slot, top_k: int, gap: str) -> list[Both]:
    """Compare two gaps: every word that is among the first of either model."""
    known = [
        {plain_spelling(each.token): each for each in slot.candidates[::-1]}
        for slot in (one, other)
    ]
    shown = [each for pair in zip(one.candidates, other.candidates, strict=False) for each in pair]
    names = {plain_spelling(each.token): each.token for each in shown if each.rank <= top_k}
    rows = []
    for word, token in names.items():
        a, b = (each.get(word) for each in known)
        ranks = [each.rank if each else _LOOKED_AT + 1 for each in (a, b)]
        differs = (ranks[0] <= top_k) != (ranks[1] <= top_k) or (1 in ranks and ranks != [1, 1])
        rows.append(Both(f"{gap}{token}", _ranked(a), _ranked(b), differs))
    return rows


def _said(candidate: Candidate) -> Said:
    return Said(candidate.token, candidate.probability)


def _ranked(candidate: Candidate | None) -> Said:
    if candidate is None:
        return Said(f"not among its first {_LOOKED_AT}")
    return Said(f"{candidate.rank}. {candidate.token}", candidate.probability)
