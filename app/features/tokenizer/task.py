"""Tokenizer: a text as the model reads it, and how every word was split.

`tokenizer` is the task and is fast for any length. `receive` adds the padding. `replay` gives the
steps for the beginning of a text, with every vocabulary lookup. `task_compare` compares
tokenizers, and `task_vocabulary` looks pieces up.
"""

import unicodedata
from dataclasses import replace
from itertools import islice
from typing import Annotated

import regex

from app.engine.models import Engine
from app.features.tokenizer.result import Columns, Received, Replay, TokenizerResult
from app.records.fields import Field
from app.records.results import Cut
from bert_core.errors import InputError

_DECODED = 1_000  # pieces decoded, more than enough to show any losses


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
        InputError: there is no text.
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
        words=whole.word_ids,
        segments=whole.token_type_ids,
        sides=whole.sequence_ids,
    )
    begun = [_begin(columns, texts[side], side) for side in range(len(texts))]
    decoded = tuple(cutter.decode(ids, skip_special_tokens=False) for ids, _ in begun)
    typed = tuple(typed for _, typed in begun)
    result = TokenizerResult(
        model=engine.provenance.name,
        texts=texts,
        columns=columns,
        unknown_token=cutter.unk_token,
        max_length=engine.max_length,
        cut=cut,
        lower_case=lower_case,
        model_lower_case=engine.provenance.lower_case,
        decoded=decoded,
        decoded_whole=typed == texts,
        losses=_losses(" ".join(typed), " ".join(decoded)),
        received=Received(
            tokens=tuple(fitting.tokens),
            ids=tuple(fitting.input_ids),
            segments=tuple(fitting.token_type_ids),
            mask=tuple(fitting.attention_mask),
            places=tuple(_kept_places(cut, len(texts))),
        ),
        replays=tuple(replay(engine, each, lower_case=lower_case) for each in texts),
    )
    return replace(result, received=receive(engine, result, length=length)) if length else result


def receive(engine: Engine, result: TokenizerResult, *, length: int = 0) -> Received:
    """Cut an input to the model's length and pad it.

    Args:
        engine: the model whose vocabulary and maximum length apply.
        result: the input.
        length: number of tokens to pad to; a longer input is not padded.
    """
    cutter = engine.tokenizer_for(lower_case=result.lower_case)
    fitting = min(result.cut.found, engine.max_length)
    length = max(fitting, min(length, engine.max_length))
    pair = result.texts[1] if len(result.texts) > 1 else None
    rows = cutter(result.texts[0], pair, padding="max_length", truncation=True, max_length=length)
    places = _kept_places(result.cut, len(result.texts))
    return Received(
        tokens=tuple(cutter.convert_ids_to_tokens(rows["input_ids"])),
        ids=tuple(rows["input_ids"]),
        segments=tuple(rows["token_type_ids"]),
        mask=tuple(rows["attention_mask"]),
        places=(*places, *[None] * (length - len(places))),
    )


def _kept_places(cut: Cut, texts: int) -> list[int]:
    """Return the positions, in the uncut input, of the tokens that the model reads."""
    first = 1
    kept = [0]
    for side in range(texts):
        kept += range(first, first + cut.kept[side])
        first += cut.lengths[side] + 1
        kept.append(first - 1)  # the [SEP]
    return kept


def replay(
    engine: Engine, text: str, *, lower_case: bool | None = None, limit: int = 1_000
) -> Replay:
    """Replay how the beginning of a text is cleaned, split and looked up.

    Args:
        engine: the model whose vocabulary applies.
        text: any text.
        lower_case: the casing to use; None means the model's own.
        limit: maximum number of characters; a longer text is cut at the last space before it.
    """
    casing = engine.provenance.lower_case if lower_case is None else lower_case
    stretch = text if len(text) <= limit else text[:limit].rsplit(maxsplit=1)[0]
    trace = engine.tokenizer_for(lower_case=casing).trace(stretch)
    return Replay(trace, whole=len(stretch) == len(text))


def _begin(columns: Columns, text: str, side: int) -> tuple[list[int], str]:
    """Return the first ids of one text, and the part of the text that they represent."""
    rows = zip(columns.ids, columns.spans, columns.sides, strict=True)
    own = list(islice(((id_, end) for id_, (_, end), of in rows if of == side), _DECODED + 1))
    ids = [id_ for id_, _ in own[:_DECODED]]
    return ids, text if len(own) <= _DECODED else text[: own[_DECODED - 1][1]]


def _losses(text: str, decoded: str) -> tuple[str, ...]:
    """Describe what cannot be recovered from the ids."""
    found = []
    unknown = decoded.split().count("[UNK]") - text.split().count("[UNK]")
    if unknown > 0:
        found.append(f"{unknown} {'word' if unknown == 1 else 'words'} that became [UNK]")
    if _capitals(text) > _capitals(decoded):
        found.append("capital letters")
    if _marks(text) > _marks(decoded):
        found.append("accents and other marks")
    if regex.search(r"(?![\t\n\r])[\p{Cc}\p{Cf}]", text):
        found.append("invisible characters")
    squeezed = " ".join(text.split())
    if text != squeezed or (not found and squeezed != decoded):
        found.append("the exact spacing")
    return tuple(found)


def _capitals(text: str) -> int:
    """Count the capital letters of a text, except those in special tokens."""
    return sum(c.isupper() for word in text.split() if not word.startswith("[") for c in word)


def _marks(text: str) -> int:
    """Count the diacritical marks on or under letters."""
    return len(regex.findall(r"\p{Mn}", unicodedata.normalize("NFD", text)))
