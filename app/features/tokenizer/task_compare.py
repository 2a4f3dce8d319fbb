"""Compare two tokenizers on a text."""

from bisect import bisect_right
from functools import lru_cache
from typing import Annotated

from app.engine.models import Engine, offers
from app.engine.models.shelf import called_by_name, local_folder
from app.engine.models.usable import usable
from app.features.tokenizer.result import Comparison, Part, Reading, TokenizerResult
from app.features.tokenizer.task import tokenizer
from app.records.fields import Field
from bert_core import BertTokenizer
from bert_core.errors import InputError
from bert_core.reading.alignment import stretch_ends


def tokenizer_compare(
    engine: Engine,
    text: Annotated[str, Field("Text", lines=3)],
    *,
    other: Annotated[str, Field("Compare with", key="beside", lines=1)] = "",
) -> Comparison:
    """Cut a text with two tokenizers, and mark what they cut differently.

    Args:
        engine: the model.
        text: the text.
        other: name of another model on offer; "" for this vocabulary in its other casing.

    Raises:
        InputError: the text is empty, or no such model is on offer.
    """
    return compare(engine, tokenizer(engine, text), other)


def other_models(engine: Engine) -> tuple[str, ...]:
    """Return the names of the other models whose tokenizers can be compared with."""
    return tuple(name for name in usable() if name != engine.provenance.name)


def compare(engine: Engine, result: TokenizerResult, other: str = "") -> Comparison:
    """Read the same texts with another tokenizer and mark what differs.

    Args:
        engine: the model of the page.
        result: the texts as the page reads them.
        other: name of a model on offer; "" means this vocabulary in its other casing.

    Raises:
        InputError: no such model is on offer.
        BertError: the other vocabulary cannot be read.
    """
    ours = engine.tokenizer_for(lower_case=result.lower_case)
    if other:
        theirs = _tokenizer_of(other)
    else:
        theirs = engine.tokenizer_for(lower_case=not result.lower_case)
    sides = [_aligned(text, ours, theirs) for text in result.texts]
    return Comparison(
        texts=result.texts,
        ours=_reading(result.model, ours, [side[0] for side in sides]),
        theirs=_reading(other or result.model, theirs, [side[1] for side in sides]),
    )


def _tokenizer_of(name: str) -> BertTokenizer:
    offer = offers().get(name)
    if offer is None:
        raise InputError(f"The model {name} is not on offer here. Choose another one.")
    with called_by_name(offer):
        return _read_tokenizer(str(local_folder(offer.source)))


@lru_cache(8)
def _read_tokenizer(folder: str) -> BertTokenizer:
    """Read a vocabulary without the weights beside it."""
    return BertTokenizer.from_pretrained(folder)


def _reading(name: str, cutter: BertTokenizer, parts: list[tuple[Part, ...]]) -> Reading:
    return Reading(name, cutter.do_lower_case, len(cutter), tuple(parts))


def _aligned(
    text: str, ours: BertTokenizer, theirs: BertTokenizer
) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Cut a text with both tokenizers, and number the stretches that their pieces share."""
    both = [_own_pieces(cutter, text) for cutter in (ours, theirs)]
    ends = stretch_ends([span for pieces in both for _, _, span in pieces])
    spelled: list[dict[int, list[str]]] = [{}, {}]
    for pieces, found in zip(both, spelled, strict=True):
        for token, _, (start, _) in pieces:
            found.setdefault(bisect_right(ends, start), []).append(token)
    left, right = (
        tuple(
            Part(token, id_, start, end, at, spelled[0].get(at) != spelled[1].get(at))
            for token, id_, (start, end) in pieces
            for at in [bisect_right(ends, start)]
        )
        for pieces in both
    )
    return left, right


def _own_pieces(cutter: BertTokenizer, text: str) -> list[tuple[str, int, tuple[int, int]]]:
    """Return spelling, id and characters of every piece, without [CLS] and [SEP]."""
    found = cutter.encode(text)
    return list(zip(found.tokens, found.input_ids, found.offsets, strict=True))[1:-1]
