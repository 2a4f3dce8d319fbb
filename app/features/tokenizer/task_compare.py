"""Compare two tokenizers on a text."""

from bisect import bisect_right
from functools import lru_cache
from typing import Annotated

from app.engine.models import Engine, offers
from app.engine.models.facts import stamp_of
from app.engine.models.shelf import Kind, called_by_name, local_folder
from app.engine.models.usable import usable
from app.features.tokenizer.result import Comparison, Part, Reading, TokenizerResult
from app.features.tokenizer.task import Cutter, kind_of, tokenizer
from app.records.fields import Field
from app.settings import BUNDLED_MODEL
from bert_core import load_tokenizer
from bert_core.errors import InputError
from bert_core.reading.alignment import stretch_ends
from bert_core.text.byte_level import SPACE


def tokenizer_compare(
    engine: Engine,
    text: Annotated[str, Field("Text", lines=3)],
    *,
    other: Annotated[str, Field("Compare with", key="beside", lines=1, model=True)] = "",
) -> Comparison:
    """Cut a text with two tokenizers, and mark what they cut differently.

    Args:
        engine: the model.
        text: the text.
        other: name of another model on offer; "" for this vocabulary in its other casing, or, if
            the tokenizer has only one, for the bundled WordPiece.

    Raises:
        InputError: the text is empty, or no such model is on offer.
    """
    return compare(engine, tokenizer(engine, text), other)


def other_models(engine: Engine) -> tuple[str, ...]:
    """Return the names of the other models whose tokenizers can be compared with.

    The first is the bundled one, where there is no other casing to begin with.
    """
    names = [
        name
        for name, offer in usable().items()
        if name != engine.provenance.name and offer.kind is not Kind.UNTRAINED  # the same pieces
    ]
    return tuple(names if engine.casings else sorted(names, key=lambda n: n != BUNDLED_MODEL))


def compare(engine: Engine, result: TokenizerResult, other: str = "") -> Comparison:
    """Read the same texts with another tokenizer and mark what differs.

    Raises:
        InputError: no such model is on offer.
        BertError: the other vocabulary cannot be read.
    """
    ours = engine.tokenizer_for(lower_case=result.lower_case)
    if not other and not engine.casings:
        other = BUNDLED_MODEL
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


def _tokenizer_of(name: str) -> Cutter:
    offer = offers().get(name)
    if offer is None:
        raise InputError(f"The model {name} is not on offer here. Choose another one.")
    with called_by_name(offer):
        return _read_tokenizer(str(local_folder(offer.source)), stamp_of(offer))


@lru_cache(8)
def _read_tokenizer(folder: str, stamp: object) -> Cutter:
    """Read a vocabulary without the weights beside it; `stamp` changes with its files."""
    return load_tokenizer(folder)


def _reading(name: str, cutter: Cutter, parts: list[tuple[Part, ...]]) -> Reading:
    return Reading(name, cutter.do_lower_case, len(cutter), tuple(parts), kind_of(cutter))


def _aligned(text: str, ours: Cutter, theirs: Cutter) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Cut a text with both tokenizers, and number the stretches that their pieces share.

    Tokenizers of one kind differ where they spell a stretch differently. Kinds mark the beginnings
    of words in their own ways, so of two kinds the places are compared, and what is unknown;
    pieces that are only the mark of a space do not count.
    """
    both = [_own_pieces(cutter, text) for cutter in (ours, theirs)]
    ends = stretch_ends([span for pieces in both for _, _, span in pieces])
    alike = kind_of(ours) == kind_of(theirs)
    spelled: list[dict[int, list[object]]] = [{}, {}]
    for cutter, pieces, found in zip((ours, theirs), both, spelled, strict=True):
        for token, _, span in pieces:
            at = bisect_right(ends, span[0])
            says = token if alike else (span, token == cutter.unk_token)
            if alike or cutter.readable(token).strip(SPACE):
                found.setdefault(at, []).append(says)
    left, right = (
        tuple(
            Part(token, id_, start, end, at, spelled[0].get(at) != spelled[1].get(at))
            for token, id_, (start, end) in pieces
            for at in [bisect_right(ends, start)]
        )
        for pieces in both
    )
    return left, right


def _own_pieces(cutter: Cutter, text: str) -> list[tuple[str, int, tuple[int, int]]]:
    found = cutter.encode(text)
    rows = zip(found.tokens, found.input_ids, found.offsets, found.sequence_ids, strict=True)
    return [(token, id_, span) for token, id_, span, side in rows if side is not None]
