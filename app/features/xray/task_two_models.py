"""Follow a text through two models of any size, and compare their answers along the layers."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from app.engine.models import Engine
from app.engine.models.second import second_model
from app.features.xray.result import Ask, Candidate, LayerReading, Lens, XrayResult
from app.features.xray.task import xray
from app.records.fields import Field
from app.records.two_answers import Both, Said, TwoAnswers
from bert_core import Encoding
from bert_core.errors import InputError
from bert_core.reading.alignment import align_pieces, plain_spelling
from bert_core.reading.gaps import read_signs

_STEPS = 6  # places on the way that are compared


def xray_two_models(
    engine: Engine,
    text: Annotated[str, Field("Text", lines=3)],
    *,
    text_pair: Annotated[str, Field("Second text, or the question", lines=3)] = "",
    beside: Annotated[str, Field("Second model", lines=1, model=True)] = "",
    ask: Annotated[Ask, Field("What is asked")] = "auto",
    at: Annotated[int | None, Field("Piece that is asked", low=0)] = None,
    lens: Annotated[Lens, Field("Lens")] = "affine",
) -> TwoAnswers:
    """Follow a text through two models to their answers, and compare them along the layers.

    The models need not have the same size or vocabulary. Nothing is switched off.

    Args:
        engine: the first model.
        text: the text, of at most 128 pieces; "[MASK]" or "___" hides a word.
        text_pair: a second text; for the start or end of an answer, the question. "" for none.
        beside: the second model, by its name on offer; "" for the first other one.
        ask: which head answers, as in `xray`; "auto" takes what fits the text in the first model.
        at: the piece of the first model that is asked, counted from 0 with [CLS]; the second model
            is asked at the same characters. If empty, the one that fits the first model.
        lens: whether vectors are mapped to the last layer before the head reads them ("affine"),
            or not ("raw").

    Raises:
        InputError: there is no such model, or it has no such piece; or see `xray`.
    """
    second = second_model(engine, beside)
    follow = partial(xray, text=text, text_pair=text_pair, lens=lens)
    first = follow(engine, ask=ask, at=at)
    question = first.question
    place = None
    if question.kind in ("word", "entity"):
        one, two = (_read(each, text, text_pair) for each in (engine, second))
        place = _same_place(one, two, question.position)
    other = follow(second, ask=question.kind, at=place)
    return both((engine.provenance.name, second.provenance.name), first, other)


def _read(engine: Engine, text: str, text_pair: str) -> Encoding:
    """Return the input of a model, whose own mask is in every gap."""
    first, second = (read_signs(each, engine.tokenizer.mask_token)[0] for each in (text, text_pair))
    return engine.tokenizer.encode(first, second if second.strip() else None)


def _same_place(first: Encoding, second: Encoding, at: int) -> int:
    """Return the first piece of the second input that covers characters of a piece of the first.

    Raises:
        InputError: there is none.
    """
    for one, other in align_pieces(first, second):
        if at in one:
            return other[min(one.index(at), len(other) - 1)]
    raise InputError(
        f"The piece that is asked, “{first.tokens[at]}”, is not a piece that the second model "
        "reads. Ask at another piece."
    )


def both(models: tuple[str, str], first: XrayResult, second: XrayResult) -> TwoAnswers:
    """Compare the answers of two models, and what the lens reads on the way to them.

    Args:
        models: their names.
        first: the text in one model.
        second: the same in the other one.
    """
    one, other = (Said(each.best.name, each.best.probability) for each in (first, second))
    answer = Both("Answer", one, other, plain_spelling(one.text) != plain_spelling(other.text))
    rows = (first.candidates, second.candidates)
    known = [{plain_spelling(each.name): each for each in row} for row in rows]
    names = {plain_spelling(each.name): each.name for row in rows for each in row}
    candidates = [
        Both(name, _ranked(a), _ranked(b), differs=(a is None) != (b is None))
        for word, name in names.items()
        for a, b in [(known[0].get(word), known[1].get(word))]
    ]
    return TwoAnswers(models, (answer,), (*candidates, *_way(first.path, second.path)))


def _ranked(candidate: Candidate | None) -> Said:
    if candidate is None:
        return Said("")
    return Said(f"{candidate.rank}. {candidate.name}", candidate.probability)


def _way(first: Sequence[LayerReading], second: Sequence[LayerReading]) -> list[Both]:
    """Compare what the lens reads after the same parts of all layers."""
    layers = (len(first) - 1, len(second) - 1)
    steps = min(*layers, _STEPS)
    rows = []
    for step in range(steps + 1):
        one, other = (
            row[round(step * most / steps)]
            for row, most in zip((first, second), layers, strict=True)
        )
        place = f"after {step}/{steps} of the layers" if step else "input"
        differs = plain_spelling(one.answer) != plain_spelling(other.answer)
        rows.append(Both(place, _after(one), _after(other), differs))
    return rows


def _after(reading: LayerReading) -> Said:
    layer = "" if reading.layer is None else f" (layer {reading.layer})"
    return Said(f"{reading.answer}{layer}", reading.probability)
