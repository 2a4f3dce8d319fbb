"""Tokenizer: a text as the model reads it, and how every word was split.

`tokenizer` is the task and is fast for any length. `replay` gives the steps for the beginning of a
text, with every vocabulary lookup. `task_compare` compares tokenizers, and `task_vocabulary` looks
pieces up.
"""

from collections.abc import Sequence
from typing import Annotated, TypeVar

from app.engine.models import Engine
from app.features.tokenizer.result import (
    WORDPIECE,
    Columns,
    Received,
    TokenizerResult,
)
from app.records.fields import Field
from app.records.results import Cut
from bert_core import BertTokenizer, Encoding, FamilyTokenizer
from bert_core.errors import InputError
from bert_core.text.trace import Trace

Cutter = BertTokenizer | FamilyTokenizer
T = TypeVar("T")


def tokenizer(
    engine: Engine,
    text: Annotated[str, Field("Text", lines=3, hint="Anything at all, in any script.")],
    text_pair: Annotated[
        str, Field("Second text (optional)", lines=3, hint="A second text makes it a pair.")
    ] = "",
    *,
    cased: Annotated[bool | None, Field("Keep capitals and accents")] = None,
    length: Annotated[int, Field("Pad to length", key="pad", low=0, most="max_length")] = 0,
) -> TokenizerResult:
    """Cut a text, or a pair, into the pieces that the model reads.

    Args:
        engine: the model whose vocabulary and maximum length apply.
        text: the text.
        text_pair: a second text; "" for none.
        cased: whether capitals and accents are kept. If empty, as this model was trained.
        length: number of tokens that the input is padded to, as far as the model reads.

    Raises:
        InputError: there is no text, or the tokenizer has no such casing.
    """
    if not text.strip() and not (text_pair or "").strip():
        raise InputError("The text is empty. Type something to see it cut into pieces.")
    lower_case = engine.provenance.lower_case if cased is None else not cased
    pair = text_pair if text_pair.strip() else None
    cutter = engine.tokenizer_for(lower_case=lower_case)
    whole = cutter.encode(text, pair)
    fitting = cutter.encode(text, pair, max_length=engine.max_length)
    cut = Cut.between(
        whole.tokens, whole.sequence_ids, fitting.sequence_ids, limit=engine.max_length
    )
    texts = (text,) if pair is None else (text, pair)
    columns = Columns(
        tokens=whole.tokens,
        ids=whole.input_ids,
        spans=whole.offsets,
        words=whole.words,
        segments=whole.token_type_ids,
        sides=whole.sequence_ids,
    )
    firsts = [columns.sides.index(n) if n in columns.sides else 0 for n in (0, 1)]
    return TokenizerResult(
        model=engine.provenance.name,
        texts=texts,
        columns=columns,
        words=len(whole.typed_words()),
        unknown_token=cutter.unk_token,
        max_length=engine.max_length,
        cut=cut,
        lower_case=lower_case,
        model_lower_case=engine.provenance.lower_case,
        received=_received(
            cutter,
            fitting,
            _kept_places(columns.sides, cut.kept),
            min(length, engine.max_length) - len(fitting),
        ),
        replays=tuple(replay(engine, each, lower_case=lower_case) for each in texts),
        kind=kind_of(cutter),
        firsts=(firsts[0], firsts[1]),
        padding=cutter.pad_token,
        mask=cutter.mask_token,
    )


def _received(cutter: Cutter, read: Encoding, places: Sequence[int | None], more: int) -> Received:

    def padded(values: Sequence[T], fill: T) -> tuple[T, ...]:
        fills = (fill,) * more
        return (*fills, *values) if cutter.padding_side == "left" else (*values, *fills)

    return Received(
        tokens=padded(read.tokens, cutter.pad_token),
        ids=padded(read.input_ids, cutter.pad_token_id if more > 0 else 0),
        segments=padded(read.token_type_ids, 0),
        mask=padded(read.attention_mask, 0),
        places=padded(places, None),
    )


def _kept_places(sides: Sequence[int | None], kept: tuple[int, int]) -> list[int | None]:
    """Return the positions, in the uncut input, of the tokens that the model reads."""
    left, places = list(kept), list[int | None]()
    for place, side in enumerate(sides):
        if side is None or left[side] > 0:
            places.append(place)
        if side is not None:
            left[side] -= 1
    return places


def kind_of(cutter: Cutter) -> str:
    """Return the kind of a tokenizer."""
    return WORDPIECE if isinstance(cutter, BertTokenizer) else cutter.kind


def replay(
    engine: Engine, text: str, *, lower_case: bool | None = None, limit: int = 1_000
) -> Trace:
    """Replay how the beginning of a text is cleaned, split and looked up."""
    casing = engine.provenance.lower_case if lower_case is None else lower_case
    stretch = text
    if len(text) > limit:
        stretch = text[: max(0, *(text.rfind(space, 0, limit) for space in " \n\t")) or limit]
    return engine.tokenizer_for(lower_case=casing).trace(stretch)
