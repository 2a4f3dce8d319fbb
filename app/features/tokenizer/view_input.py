"""What the model receives: ids, segment ids and attention mask, and how much room they take."""

from collections.abc import Sequence

from app.features.tokenizer.result import TokenizerResult
from app.words.blocks import Html, hint, join, line, note, tag, visible
from app.words.format import count
from app.words.pictures import linked, numbers

# Most tokens that are drawn, and listed below the drawing; a longer input has its own table.
DRAWN = 120

COLOURS = 6  # how many colours the style sheet has for pieces, `bx-c0` to `bx-c5`

_EXPLAINED = (
    "The model gets three rows of numbers. input_ids says which piece is at each position. "
    "token_type_ids, the segment, says whether a piece belongs to the first text (0) or the second "
    "(1); models without segments have 0 everywhere. attention_mask says which positions to look "
    "at: 1 for a piece, 0 for padding. Texts of one batch are padded to the same length with {}; "
    "the model ignores it."
)


def received(result: TokenizerResult) -> Html:
    """Draw the input piece by piece: its spelling, and below it id, segment and mask."""
    given = result.received
    rest = len(given.tokens) - DRAWN
    more = f" The first {DRAWN} are drawn; the table has them all." if rest > 0 else ""
    padding = given.mask.count(0)
    padded = f", {padding:,} of them padding" if padding else ""
    counted = line(
        tag("bdi", f"{result.frame}: "),
        f"{count(len(given.tokens), 'position')}{padded}.{more}",
    )
    names = [tag("span", name, class_="bx-quiet") for name in ("piece", "id", "segment", "mask")]
    items = [tag("li", *names, aria_hidden="true")]
    for token, id_, segment, mask, place in zip(
        given.tokens[:DRAWN], given.ids, given.segments, given.mask, given.places, strict=False
    ):
        look = None
        if place is not None and result.columns.sides[place] is not None:
            look = f"bx-piece bx-c{place % COLOURS}"
        items.append(
            tag(
                "li",
                tag("bdi", visible(result.readable(token)), class_=look),
                " ",  # for who reads it as text
                tag("span", str(id_)),
                " ",
                tag("span", str(segment), class_=f"bx-tok-seg{segment}"),
                " ",
                tag("span", str(mask), class_=f"bx-tok-mask{mask}"),
                data_at=None if place is None else linked([place]),
            )
        )
    return join(
        hint(_EXPLAINED.format(result.padding)),
        counted,
        tag("ol", *items, class_="bx-tok-input", aria_label="The input as the model reads it"),
        numbers(input_table(result), "model-input"),
    )


def input_table(result: TokenizerResult) -> dict[str, Sequence[object]]:
    """List the first positions of the input; `at` links a row to its piece."""
    given = result.received
    pieces = [None if place is None else result.piece(place) for place in given.places[:DRAWN]]
    own = [None if piece is None or piece.added else piece for piece in pieces]
    return {
        "position": range(len(pieces)),
        "piece": given.tokens[:DRAWN],
        "input_ids": given.ids[:DRAWN],
        "token_type_ids": given.segments[:DRAWN],
        "attention_mask": given.mask[:DRAWN],
        "characters": ["" if piece is None else piece.source for piece in pieces],
        "start": ["" if piece is None else str(piece.start) for piece in own],
        "end": ["" if piece is None else str(piece.end) for piece in own],
        "word": ["" if p is None or p.word is None else str(p.word) for p in pieces],
        "at": [None if place is None else linked([place]) for place in given.places[:DRAWN]],
    }


def length_meter(result: TokenizerResult) -> Html:
    """Draw how much of the model's maximum length the input uses."""
    found, limit = result.cut.found, result.max_length
    share = min(1.0, found / limit)
    return tag(
        "div",
        tag("div", class_="bx-meter-fill", style=f"width:{share:.1%}"),
        class_=f"bx-meter{' bx-meter-over' if found > limit else ''}",
        role="meter",
        aria_label="Length of the input in tokens",
        aria_valuemin=0,
        aria_valuemax=limit,
        aria_valuenow=min(found, limit),
        aria_valuetext=f"{found} of {limit} tokens",
    )


def too_long(result: TokenizerResult) -> Html:
    """State what truncation at the model's maximum length removes, and where it starts."""
    lines: list[Html] = []
    for side, text in enumerate(result.texts):
        first = result.first_lost(side)
        if first is None:
            continue
        lost = result.cut.lengths[side] - result.cut.kept[side]
        name = "the text" if len(result.texts) == 1 else f"text {'AB'[side]}"
        lines.append(
            note(
                tag("strong", f"Too long by {lost:,} tokens. "),
                f"The model does not get {name} from character {first.start:,} on: ",
                tag("bdi", f"“{visible(text[first.start : first.start + 60])}…”"),
                caution=True,
            )
        )
    return join(*lines)
