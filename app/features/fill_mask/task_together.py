"""Solve all masks of a text together, each gap with a word of one or more pieces."""

import math
from typing import Annotated

from app.engine.models import Engine
from app.features.fill_mask.result import FillMaskResult, Joint, TogetherResult
from app.features.fill_mask.task import around, masks_of, with_masks
from app.records.fields import Field
from app.records.pieces import spelled
from bert_core.errors import InputError
from bert_core.reading.gaps import Filling, Order, fill_gaps, written_before

MOST_PIECES = 4
WIDTH = 10
_SEARCHES = 16


def fill_mask_together(
    engine: Engine,
    text: Annotated[str, Field("Text ([MASK] or ___ hides a word)", lines=3)],
    *,
    most: Annotated[int, Field("Most pieces in a gap", key="pieces", low=1, high=MOST_PIECES)] = 1,
    order: Annotated[Order, Field("Order of filling")] = "left",
) -> TogetherResult:
    """Fill all gaps of a text together: the joint fillings that a search finds most probable.

    Args:
        engine: the model.
        text: the text, with at least one [MASK].
        most: the most pieces of a word in a gap.
        order: which gap is filled first: the one furthest "left", or the one whose word is most
            "certain".

    Raises:
        InputError: there is no [MASK], or there are too many for so many pieces.
    """
    return fill_together(engine, with_masks(engine, text), most=most, order=order)


def fill_together(
    engine: Engine, found: FillMaskResult, *, most: int = 1, order: Order = "left"
) -> TogetherResult:
    """Search for the most probable joint fillings of all masks.

    Raises:
        InputError: the masks are too far apart, or there are too many for so many pieces.
    """
    whole = engine.tokenizer.encode(found.text)
    gaps = masks_of(engine, whole)
    if not 1 <= most <= MOST_PIECES or most ** len(gaps) > _SEARCHES:
        raise InputError(
            f"{len(gaps)} masks of up to {most} pieces need {most ** len(gaps):,} searches; this "
            f"page makes at most {_SEARCHES}. Choose fewer pieces or hide fewer words."
        )
    ids, places = around(engine, whole, gaps, spare=(most - 1) * len(gaps))
    fillings = fill_gaps(
        engine.score_rows,
        engine.tokenizer,
        ids,
        places,
        befores=[written_before(whole, gap) for gap in gaps],
        most=most,
        width=WIDTH,
        order=order,
        temperature=found.calibration.temperature,
    )
    return TogetherResult(
        fillings=tuple(_joint(engine, each) for each in fillings),
        alone=tuple(slot.candidates[0].token for slot in found.slots),
        positions=tuple(gaps),
        most=most,
        width=WIDTH,
        read=len(ids),
    )


def cost(found: FillMaskResult, most: int) -> int:
    """Return about how many tokens the search reads."""
    gaps = len(found.slots)
    steps: int = gaps * most ** (gaps - 1) * most * (most + 1) // 2
    return WIDTH * found.read * steps


def _joint(engine: Engine, found: Filling) -> Joint:
    pieces = tuple(tuple(map(engine.readable, word)) for word in found.words)
    return Joint(
        words=tuple(map(spelled, pieces)),
        pieces=pieces,
        probability=math.exp(found.log_probability),
        per_piece=math.exp(found.per_piece),
    )
