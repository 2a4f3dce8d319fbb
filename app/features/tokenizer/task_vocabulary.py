"""Look a piece up among its neighbours in the vocabulary."""

from collections.abc import Iterable
from typing import Annotated

from app.engine.models import Engine
from app.engine.vectors import entries_near
from app.features.tokenizer.result import Entry, Lookup
from app.records.fields import Field
from bert_core import BertTokenizer
from bert_core.errors import InputError
from bert_core.text.vocabulary import SPECIAL_TOKENS
from bert_core.text.wordpiece import CONTINUATION

NEAR = 12
"""Number of neighbours by embedding."""

_CONTAINING = 24
_LONGEST = 100  # characters looked up; longer words are [UNK] anyway


def tokenizer_vocabulary(
    engine: Engine, piece: Annotated[str, Field("Piece or word", lines=1)]
) -> Lookup:
    """Look a piece up in the vocabulary: its id and its neighbours by spelling and by embedding.

    Args:
        engine: the model.
        piece: a piece, or a word; a word that is no piece is cut.

    Raises:
        InputError: nothing was asked for, or something longer than any piece.
    """
    return look_up(engine, piece)


def look_up(engine: Engine, asked: str, *, lower_case: bool | None = None) -> Lookup:
    """Look a piece up in the vocabulary: its number and its neighbours.

    Args:
        engine: the model.
        asked: a piece, or a word; a word that is no piece is cut.
        lower_case: the casing to use; None means the model's own.

    Raises:
        InputError: nothing was asked for, or something longer than any piece.
    """
    asked = asked.strip()
    if not 0 < len(asked) <= _LONGEST:
        raise InputError(
            f"The piece to look up has {len(asked):,} characters; expected 1 to {_LONGEST}."
        )
    casing = engine.provenance.lower_case if lower_case is None else lower_case
    cutter = engine.tokenizer_for(lower_case=casing)
    pieces = [asked] if asked in cutter.vocab else cutter.tokenize(asked)
    known = asked in cutter.vocab or (len(pieces) == 1 and pieces[0] != cutter.unk_token)
    entries = tuple(Entry(piece, cutter.vocab[piece]) for piece in pieces)
    wanted = pieces[0] if known else asked.lower() if casing else asked
    containing = _containing(cutter, wanted)
    return Lookup(
        asked=asked,
        found=entries[0] if known else None,
        pieces=() if known else entries,
        one_letter=_one_letter(cutter, wanted),
        containing=containing[:_CONTAINING],
        containing_all=len(containing),
        near=_near(engine, entries[0].id) if known else (),
        vocabulary=len(cutter),
        width=engine.provenance.hidden,
    )


def _one_letter(cutter: BertTokenizer, wanted: str) -> tuple[Entry, ...]:
    """Find the entries that one added, dropped or changed letter away, "##" left as it is."""
    mark = CONTINUATION if wanted.startswith(CONTINUATION) else ""
    word = wanted.removeprefix(mark)
    found = {word[:at] + word[at + 1 :] for at in range(len(word))}
    for letter in filter(str.isalpha, cutter.characters):
        found |= {word[:at] + letter + word[at:] for at in range(len(word) + 1)}
        found |= {word[:at] + letter + word[at + 1 :] for at in range(len(word))}
    spelled = {mark + each for each in found if each} - {wanted}
    return _entries(cutter, (piece for piece in spelled if piece in cutter.vocab))


def _containing(cutter: BertTokenizer, wanted: str) -> tuple[Entry, ...]:
    """Find the entries that contain a piece, without its "##", shortest first."""
    part = wanted.removeprefix(CONTINUATION)
    own = {wanted, *SPECIAL_TOKENS} if part else set(cutter.vocab)
    return _entries(cutter, (p for p in cutter.vocab if part in p and p not in own))


def _entries(cutter: BertTokenizer, pieces: Iterable[str]) -> tuple[Entry, ...]:
    ordered = sorted(pieces, key=lambda piece: (len(piece.removeprefix(CONTINUATION)), piece))
    return tuple(Entry(piece, cutter.vocab[piece]) for piece in ordered)


def _near(engine: Engine, id_: int) -> tuple[Entry, ...]:
    """Find the entries whose word embeddings point in the most similar direction."""
    return tuple(
        Entry(each.token, each.id, each.cosine) for each in entries_near(engine, id_, NEAR)
    )
