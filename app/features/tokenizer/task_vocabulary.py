"""Look a piece up among its neighbours in the vocabulary."""

from collections.abc import Iterable
from typing import Annotated

from app.engine.models import Engine
from app.engine.vectors import entries_near
from app.features.tokenizer.result import Entry, Lookup
from app.features.tokenizer.task import Cutter, kind_of
from app.records.fields import Field
from bert_core.errors import InputError
from bert_core.text.byte_level import SPACE
from bert_core.text.vocabulary import CONTINUATION

NEAR = 12  # number of neighbours by embedding

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
    names = {cutter.readable(piece): piece for piece in cutter.vocab}
    entry = asked if asked in cutter.vocab else names.get(asked)
    pieces = cutter.tokenize(asked) if entry is None else [entry]
    known = entry is not None or (len(pieces) == 1 and pieces[0] != cutter.unk_token)
    entries = tuple(Entry(piece, cutter.vocab[piece]) for piece in pieces)
    wanted = cutter.readable(pieces[0]) if known else asked.lower() if casing else asked
    containing = _containing(cutter, names, wanted)
    return Lookup(
        asked=asked,
        found=entries[0] if known else None,
        pieces=() if known else entries,
        one_letter=_one_letter(cutter, names, wanted),
        containing=containing[:_CONTAINING],
        containing_all=len(containing),
        near=_near(engine, entries[0].id) if known else (),
        vocabulary=len(cutter),
        width=engine.provenance.hidden,
        kind=kind_of(cutter),
    )


def _marked(name: str) -> tuple[str, str]:
    """Divide a readable entry into its mark, "##" or "▁", and the rest.

    >>> _marked("##ing"), _marked("▁ing")
    (('##', 'ing'), ('▁', 'ing'))
    """
    mark = next((each for each in (CONTINUATION, SPACE) if name.startswith(each)), "")
    return mark, name.removeprefix(mark)


def _one_letter(cutter: Cutter, names: dict[str, str], wanted: str) -> tuple[Entry, ...]:
    """Find the entries that one added, dropped or changed letter away, their mark left as it is."""
    mark, word = _marked(wanted)
    found = {word[:at] + word[at + 1 :] for at in range(len(word))}
    for letter in filter(str.isalpha, set().union(*names)):
        found |= {word[:at] + letter + word[at:] for at in range(len(word) + 1)}
        found |= {word[:at] + letter + word[at + 1 :] for at in range(len(word))}
    spelled = {mark + each for each in found if each} - {wanted}
    return _entries(cutter, names, spelled & names.keys())


def _containing(cutter: Cutter, names: dict[str, str], wanted: str) -> tuple[Entry, ...]:
    part = _marked(wanted)[1]
    own = {wanted, *cutter.special_tokens} if part else names.keys()
    return _entries(cutter, names, (name for name in names if part in name and name not in own))


def _entries(cutter: Cutter, names: dict[str, str], chosen: Iterable[str]) -> tuple[Entry, ...]:
    ordered = sorted(chosen, key=lambda name: (len(_marked(name)[1]), name))
    return tuple(Entry(names[name], cutter.vocab[names[name]]) for name in ordered)


def _near(engine: Engine, id_: int) -> tuple[Entry, ...]:
    return tuple(
        Entry(each.token, each.id, each.cosine) for each in entries_near(engine, id_, NEAR)
    )
