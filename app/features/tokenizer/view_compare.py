"""Two tokenizers side by side: the same text, with what they cut differently marked."""

from collections.abc import Sequence

import pandas as pd

from app.features.tokenizer.result import WORDPIECE, Comparison, Part, Reading, readable
from app.settings import settings
from app.words.blocks import hint, line
from app.words.format import count
from app.words.html import Html, join, tag, visible
from app.words.pictures import linked, numbers
from app.words.screen import Screen

TITLE = "Compare"

OTHER_CASING = "this vocabulary, other casing"
"""Name of the comparison that needs no other model."""

_ROWS = 200  # of the table in the page
_TEXT = 1  # texts of the comparison are linked among themselves, as text 1 and 2 of the page


def screen(found: Comparison) -> Screen:
    """Say what is shown."""
    ours, theirs = name_of(found.ours), name_of(found.theirs)
    return Screen(
        f"{visible(ours)}: {count(found.ours.pieces, 'piece')}; "
        f"{visible(theirs)}: {count(found.theirs.pieces, 'piece')}.",
        (side_by_side(found, limit=settings().shown_pieces),),
    )


def side_by_side(found: Comparison, *, limit: int) -> Html:
    """Draw both readings and the table of differences.

    Args:
        found: the comparison.
        limit: most pieces drawn of each text.
    """
    return join(
        verdict(found),
        tag(
            "div",
            _side(found, found.ours, limit),
            _side(found, found.theirs, limit),
            class_="bx-tok-beside",
        ),
        _table(found),
    )


def verdict(found: Comparison) -> Html:
    """Count what is cut differently."""
    alike = found.ours.kind == found.theirs.kind
    places = "" if alike else " Kinds write pieces in their own ways, so only places are compared."
    explained = hint(
        "Pieces that cover the same characters are compared. Pieces that both tokenizers make are "
        "thinly underlined; those that differ are framed and marked ≠. The same piece usually has "
        f"a different id in another vocabulary.{places}"
    )
    told = "Both cut the text into the same pieces."
    if found.different:
        stretches = count(found.stretches, "stretch", "stretches")
        told = f"{found.different:,} of {stretches} of text cut differently."
    if found.ours.kind != WORDPIECE:
        told += " This tokenizer has no other casing to compare with, so another model’s is used."
    return join(explained, line(told))


def name_of(reading: Reading) -> str:
    """Name a tokenizer: vocabulary, kind if it is not WordPiece, casing."""
    kind = "" if reading.kind == WORDPIECE else f"{reading.kind}, "
    return f"{reading.name}, {kind}{'lower-cased' if reading.lower_case else 'as written'}"


def _side(found: Comparison, reading: Reading, limit: int) -> Html:
    """Draw how one tokenizer reads the texts."""
    title = tag("h2", name_of(reading), class_="bx-tok-title")
    told = line(f"{count(reading.pieces, 'piece')}; {reading.vocabulary:,} in the vocabulary")
    texts = (
        _text(text, parts, number + _TEXT, limit, reading.kind)
        for number, (text, parts) in enumerate(zip(found.texts, reading.parts, strict=True))
    )
    return tag("section", title, told, *texts)


def _text(text: str, parts: Sequence[Part], number: int, limit: int, kind: str) -> Html:
    """Draw the pieces of one text, those that differ framed and marked."""
    shown: list[Html | str] = []
    done, stretch = 0, -1
    for part in parts[:limit]:
        shown.append(visible(text[done : part.start]) if part.start > done else "")
        mark = [tag("sup", "≠")] if part.differs and part.stretch != stretch else []
        look = "bx-tok-differs" if part.differs else "bx-tok-same"
        spelled = tag("bdi", visible(readable(part.token, kind)))
        shown.append(
            tag("span", spelled, *mark, class_=f"bx-tok-part {look}",
                title=f"{part.token} · id {part.id}", data_at=linked([part.stretch], text=number))
        )  # fmt: skip
        done, stretch = max(done, part.end), part.stretch
    rest = len(parts) - limit
    if rest > 0:
        shown.append(f" … and {rest:,} more pieces")
    return tag("div", *shown, class_="bx-text", dir="auto")


def differences(found: Comparison) -> pd.DataFrame:
    """List the stretches of text that are read differently, in order; `at` links a row."""
    rows: dict[tuple[int, int], tuple[list[Part], list[Part]]] = {}
    for side, reading in enumerate((found.ours, found.theirs)):
        for number, parts in enumerate(reading.parts):
            for part in parts:
                if part.differs:
                    rows.setdefault((number, part.stretch), ([], []))[side].append(part)
    return pd.DataFrame(
        [
            (_covered(found.texts[number], both), *(_spelled(parts) for parts in both),
             linked([stretch], text=number + _TEXT))
            for (number, stretch), both in sorted(rows.items())
        ],
        columns=["text", f"1. {name_of(found.ours)}", f"2. {name_of(found.theirs)}", "at"],
    )  # fmt: skip


def _covered(text: str, both: Sequence[Sequence[Part]]) -> str:
    parts = [part for parts in both for part in parts]
    return text[min(part.start for part in parts) : max(part.end for part in parts)]


def _spelled(parts: Sequence[Part]) -> str:
    return " ".join(f"{part.token} ({part.id})" for part in parts)


def _table(found: Comparison) -> Html:
    """Draw the differences in a fold; a page shows at most the first 200."""
    table = differences(found)
    if table.empty:
        return join()
    rest = len(table) - _ROWS
    more = line(f"… and {rest:,} more differences.") if rest > 0 else join()
    title = count(min(len(table), _ROWS), "difference")
    return join(numbers(table[:_ROWS], "differences", title=f"{title} as a table"), more)
