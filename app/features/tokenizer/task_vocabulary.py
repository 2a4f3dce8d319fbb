"""Compare two tokenizers on a text, and look a piece up among its neighbours in the vocabulary."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache

from app.compute.processor import PROCESSOR
from app.features.tokenizer.result import Comparison, Entry, Lookup, Part, Reading, TokenizerResult
from app.models import Engine, offers
from app.models.shelf import called_by_name, local_folder
from bert_core import BertModel, BertTokenizer
from bert_core.analysis.similarity import nearest as nearest_rows
from bert_core.errors import InputError
from bert_core.text.vocabulary import SPECIAL_TOKENS
from bert_core.text.wordpiece import CONTINUATION

NEAR = 12
"""Number of neighbours by embedding."""

_CONTAINING = 24
_LONGEST = 100  # characters looked up; longer words are [UNK] anyway

Spans = Sequence[tuple[int, int]]


def other_models(engine: Engine) -> tuple[str, ...]:
    """Return the names of the other models whose tokenizers can be compared with."""
    return tuple(name for name in offers() if name != engine.provenance.name)


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


def stretch_ends(spans: Spans) -> list[int]:
    """Return where the stretches end that spans cover if overlapping ones are joined.

    >>> stretch_ends([(0, 4), (4, 8), (0, 3), (3, 4), (6, 8)])
    [4, 8]
    """
    ends: list[int] = []
    for start, end in sorted(spans):
        if ends and start < ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            ends.append(end)
    return ends


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
        near=nearest(engine, entries[0].id) if known else (),
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


def nearest(engine: Engine, id_: int, count: int = NEAR) -> tuple[Entry, ...]:
    """Find the entries whose word embeddings point in the most similar direction.

    Args:
        engine: the model.
        id_: number of the piece; it is left out, and so are entries reserved for later use
            ("[unused1]" and so on), which were never trained.
        count: number of entries.
    """
    table = engine.model(BertModel).embeddings.word_embeddings.weight  # (V, D)
    left_out = {id_, *engine.never_used(len(table))}
    ids, values = PROCESSOR.run(
        lambda: nearest_rows(table[id_], table, count, without=sorted(left_out)), tokens=1
    )
    names = engine.tokenizer.ids_to_tokens
    return tuple(Entry(names[each], each, value) for each, value in zip(ids, values, strict=True))
