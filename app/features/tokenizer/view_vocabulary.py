"""The vocabulary: a piece, its neighbours by spelling, and its neighbours by embedding."""

from collections.abc import Sequence

from app.features.tokenizer.result import Entry, Lookup, TokenizerResult, readable
from app.words.blocks import Html, hint, join, line, pick, tag, visible
from app.words.pictures import Picture, bars, picture
from app.words.screen import Beside, Screen

TITLE = "Vocabulary"

EXAMPLE = {"piece": "##flower"}

_SPELLED = 24  # neighbours by spelling that are shown


def screen(found: Lookup) -> Screen:
    """Say what is shown; a click on an entry looks it up."""
    asked = visible(found.asked)
    there = f"is entry {found.found.id:,}" if found.found else "is not an entry"
    near = (meaning(found), by_embedding(found)) if found.near else ()
    entries = {
        each.id: each.piece for each in (*found.pieces, *found.one_letter, *found.containing)
    }
    rest = found.containing_all - len(found.containing)
    shortest = f" ({rest:,} longer ones not shown)" if rest else ""
    by_spelling = tag(
        "div",
        _group(f"One letter away: {len(found.one_letter):,}", found.one_letter[:_SPELLED], found),
        _group(f"Contain it: {found.containing_all:,}{shortest}", found.containing, found),
    )
    return Screen(
        f"“{asked}” {there} of the vocabulary, which has {found.vocabulary:,}.",
        (entry(found), Beside(near, (by_spelling,))),
        clicks={"entry": lambda id_: {"piece": entries[id_]} if id_ in entries else {}},
    )


def first_asked(result: TokenizerResult) -> str:
    """Return the piece that is looked up before the visitor asks for one: the longest one."""
    pieces = [piece for piece in result.pieces(200) if not (piece.added or piece.unknown)]
    longest = max(pieces, key=lambda piece: len(piece.source), default=None)
    return result.columns.tokens[0] if longest is None else longest.token


def entry(found: Lookup) -> Html:
    """State whether the piece is in the vocabulary, its id, or how it is cut."""
    if found.found is not None:
        return line(
            _named(readable(found.found.piece, found.kind)),
            *_exact(found.found, found.kind),
            f" is entry {found.found.id:,} of {found.vocabulary:,}, counted from 0.",
        )
    return line(
        _named(found.asked),
        " is not in the vocabulary. It is cut into ",
        _chips(found.pieces, found.kind),
    )


def _group(title: str, entries: Sequence[Entry], found: Lookup) -> Html:
    head = tag("h2", title, class_="bx-tok-title")
    return join(head, _chips(entries, found.kind)) if entries else head


def _chips(entries: Sequence[Entry], kind: str) -> Html:
    drawn = (
        tag("span", visible(readable(each.piece, kind)), class_="bx-word bx-tok-word",
            title=f"{each.piece} · id {each.id}", **pick("entry", each.id, stop=number == 0))
        for number, each in enumerate(entries)
    )  # fmt: skip
    return tag("span", join(*drawn, by=" "), class_="bx-tries", data_rove="entries")


def meaning(found: Lookup) -> Html:
    """Title the picture of neighbours, with the meaning of the number behind a hint."""
    explained = hint(
        f"For each piece the model has learned {found.width:,} numbers, its word embedding: all "
        "that the model gets for that piece before position and segment are added. Neighbours are "
        "the pieces whose numbers point in the most similar direction. The cosine is 1 for the "
        "same direction and near 0 for unrelated pieces. Close pieces occur in similar places, so "
        "they may mean the same, the opposite, or just belong to the same subject."
    )
    return join(explained, tag("h2", "Nearest embeddings, by cosine", class_="bx-tok-title"))


def by_embedding(found: Lookup) -> Picture:
    """Draw the neighbours by embedding as bars; a full bar is a cosine of 1."""
    names = [readable(each.piece, found.kind) for each in found.near]
    values = [each.cosine or 0.0 for each in found.near]
    printed = [f"{value:.2f}" for value in values]
    asked = readable(found.found.piece, found.kind) if found.found else found.asked
    return picture(
        "neighbours",
        lambda width: bars(names, values, printed, width=width, top=1.0),
        alt=f"Pieces with the embeddings nearest to that of {asked}, by cosine: "
        f"{', '.join(f'{each.piece} {each.cosine:.2f}' for each in found.near)}.",
        table=((n, each.piece, each.id, each.cosine) for n, each in enumerate(found.near, 1)),
        columns=("rank", "piece", "id", "cosine"),
    )


def _exact(entry: Entry, kind: str) -> tuple[Html | str, ...]:
    if readable(entry.piece, kind) == entry.piece:
        return ()
    return " (in the file: ", tag("code", entry.piece), ")"


def _named(piece: str) -> Html:
    return tag("strong", tag("bdi", visible(piece)))
