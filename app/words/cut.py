"""What was cut from an input that was too long: how much, by which rule, and which pieces."""

from app.results import Cut
from app.settings import settings
from app.words.html import Html, join, tag, visible

_NAMES = ("first text", "second text")
_FEW = 12  # pieces named in the sentence itself; the rest unfolds


def cut_note(cut: Cut) -> Html:
    """Say what the model did not read; nothing where it read everything."""
    if not cut.anything:
        return join()
    sides = [
        _side(name, length, kept, lost)
        for name, length, kept, lost in zip(_NAMES, cut.lengths, cut.kept, cut.lost, strict=True)
        if lost
    ]
    rule = (
        "The rule is longest first: while the input is too long, a piece leaves the end of "
        "whichever text is longer at that moment."
        if cut.lengths[1]
        else "Pieces leave from the end."
    )
    return tag(
        "div",
        tag("strong", f"{cut.found:,} tokens are too many: "),
        f"this model reads at most {cut.limit:,}, so {cut.found - cut.limit:,} were cut. {rule}",
        *sides,
        class_="bx-note bx-caution",
    )


def _side(name: str, length: int, kept: int, lost: tuple[str, ...]) -> Html:
    """Name the pieces that one text lost, the first few in sight and the others folded away."""
    limit = settings().shown_pieces
    pieces = [tag("bdi", visible(piece), class_="bx-cut") for piece in lost[:limit]]
    beyond = f" … and {len(lost) - limit:,} more" if len(lost) > limit else ""
    head = tag(
        "p",
        f"The {name} lost its last {len(lost):,} of {length:,} pieces and kept {kept:,}: ",
        join(*pieces[:_FEW], by=" "),
        " …" if len(lost) > _FEW else "",
        class_="bx-cut-side",
    )
    if len(lost) <= _FEW:
        return head
    return join(
        head,
        tag(
            "details",
            tag("summary", f"Every piece that the {name} lost"),
            tag("p", join(*pieces, by=" "), beyond),
        ),
    )
