"""Two tokenizers side by side: the same text, with what they cut differently marked."""

from collections.abc import Sequence

from app.features.tokenizer.result import WORDPIECE, Comparison, Part, Reading, readable
from app.settings import settings
from app.words.blocks import Html, hint, join, line, tag, visible
from app.words.format import count
from app.words.pictures import linked, numbers
from app.words.screen import Screen

TITLE = "Compare"

OTHER_CASING = "this vocabulary, other casing"

_ROWS = 200  # of the table in the page
_TEXT = 1  # texts of the comparison are linked among themselves, as text 1 and 2 of the page


def screen(found: Comparison) -> Screen:
    """Say what is shown: both readings, and the table of differences."""
    names = [f"{visible(name_of(each))}: {count(each.pieces, 'piece')}"
             for each in (found.ours, found.theirs)]  # fmt: skip
    sides = _side(found, found.ours), _side(found, found.theirs)
    return Screen(
        f"{'; '.join(names)}.",
        (join(verdict(found), tag("div", *sides, class_="bx-tok-beside"), _table(found)),),
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
    headline = "Both cut the text into the same pieces."
    if different := sum(found.stretches.values()):
        stretches = count(len(found.stretches), "stretch", "stretches")
        headline = f"{different:,} of {stretches} of text cut differently."
    if found.ours.kind != WORDPIECE:
        headline += (
            " This tokenizer has no other casing to compare with, so another model’s is used."
        )
    return join(explained, line(headline))


def name_of(reading: Reading) -> str:
    """Name a tokenizer: vocabulary, kind if it is not WordPiece, casing."""
    kind = "" if reading.kind == WORDPIECE else f"{reading.kind}, "
    return f"{reading.name}, {kind}{'lower-cased' if reading.lower_case else 'as written'}"


def _side(found: Comparison, reading: Reading) -> Html:
    texts = (
        _text(text, parts, number + _TEXT, reading.kind)
        for number, (text, parts) in enumerate(zip(found.texts, reading.parts, strict=True))
    )
    counted = f"{count(reading.pieces, 'piece')}; {reading.vocabulary:,} in the vocabulary"
    title = tag("h2", name_of(reading), class_="bx-tok-title")
    return tag("section", title, line(counted), *texts)


def _text(text: str, parts: Sequence[Part], number: int, kind: str) -> Html:
    shown: list[Html | str] = []
    done, stretch, limit = 0, -1, settings().shown_pieces
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
    if (rest := len(parts) - limit) > 0:
        shown.append(f" … and {rest:,} more pieces")
    return tag("div", *shown, class_="bx-text", dir="auto")


def _differences(found: Comparison) -> list[tuple[str, ...]]:
    rows: dict[tuple[int, int], tuple[list[Part], list[Part]]] = {}
    for side, reading in enumerate((found.ours, found.theirs)):
        for number, parts in enumerate(reading.parts):
            for part in parts:
                if part.differs:
                    rows.setdefault((number, part.stretch), ([], []))[side].append(part)
    lines = []
    for (number, stretch), both in sorted(rows.items()):
        every = [part for parts in both for part in parts]
        start, end = min(part.start for part in every), max(part.end for part in every)
        spelled = (" ".join(f"{part.token} ({part.id})" for part in parts) for parts in both)
        at = linked([stretch], text=number + _TEXT)
        lines.append((found.texts[number][start:end], *spelled, at))
    return lines


def _table(found: Comparison) -> Html:
    table = _differences(found)
    if not table:
        return join()
    rest = len(table) - _ROWS
    heads = "text", f"1. {name_of(found.ours)}", f"2. {name_of(found.theirs)}", "at"
    more = line(f"… and {rest:,} more differences.") if rest > 0 else join()
    title = count(min(len(table), _ROWS), "difference")
    return join(numbers(table[:_ROWS], "differences", heads, title=f"{title} as a table"), more)
