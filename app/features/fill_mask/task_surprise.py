"""Hide every piece of a text in turn: how much does the model expect it, and which word is odd?"""

import math
from typing import Annotated

from app.engine.models import Engine
from app.features.fill_mask.result import Expected, FillMaskResult, SurpriseResult
from app.features.fill_mask.task import fill_mask
from app.records.fields import SHUFFLE, Field
from app.records.pieces import letters
from bert_core.errors import InputError
from bert_core.reading.gaps import PieceScore, odd_word, score_pieces


def fill_mask_surprise(
    engine: Engine,
    text: Annotated[str, Field("Text", lines=3)],
    *,
    shuffle: Annotated[int, SHUFFLE] = 0,
) -> SurpriseResult:
    """Hide every piece of a text in turn, and say how much the model expects each.

    Args:
        engine: the model.
        text: a text that fits the model's length; a [MASK] in it stays hidden.
        shuffle: the number of another order for the words of the text, which shows whether order
            matters; 0 for the text as written.

    Raises:
        InputError: the text is empty or too long, or has nothing but masks.
    """
    return surprise(engine, fill_mask(engine, text, shuffle=shuffle))


def surprise(engine: Engine, found: FillMaskResult) -> SurpriseResult:
    """Score every piece of a text; masks in it stay hidden and get no score.

    With a piece the later pieces of its word are hidden, too. The word that is named odd contains
    a letter or digit, if any word does.

    Raises:
        InputError: the text is longer than the model reads, or has nothing but masks.
    """
    whole = engine.tokenizer.encode(found.text)
    engine.check_length(whole)
    mask = engine.tokenizer.mask_token_id
    places = [n for n, id_ in enumerate(whole.input_ids) if id_ != mask][1:-1]
    if not places:
        only = "nothing but masks. Write some words around them."
        none = "no piece that the model reads. Write a word."
        raise InputError(f"The text has {only if mask in whole.input_ids else none}")
    scores = score_pieces(
        engine.score_rows,
        engine.tokenizer,
        whole.input_ids,
        places,
        words=whole.words,
        temperature=found.calibration.temperature,
    )
    named = [score for score in scores if letters(whole.pieces[score.position])[:1].isalnum()]
    return SurpriseResult(
        pieces=tuple(_expected(engine, each) for each in scores),
        odd=tuple(_expected(engine, each) for each in odd_word(named or scores, whole.words)),
        log_likelihood=math.fsum(each.log_probability for each in scores),
    )


def _expected(engine: Engine, score: PieceScore) -> Expected:
    return Expected(
        position=score.position,
        token=engine.readable(score.id),
        probability=math.exp(score.log_probability),
        rank=score.rank,
        best=engine.readable(score.best),
        best_probability=math.exp(score.best_log_probability),
    )
