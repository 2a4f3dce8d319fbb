"""The attention of a text on paper."""

from collections.abc import Sequence

from app.features.attention import view_pictures as pictures
from app.features.attention import view_text as text
from app.features.attention.result import AttentionResult, HeadView, RankedHead
from app.features.attention.result_views import attention_grid, head_view, rank
from app.words.blocks import line
from app.words.notes import cut_note, gaps_note, shuffled_note
from app.words.screen import Block, Screen


def screen(
    result: AttentionResult,
    view: HeadView | None = None,
    *,
    ranked: Sequence[RankedHead] | None = None,
    more: Sequence[Block] = (),
) -> Screen:
    """Say what is shown."""
    view = view or head_view(result, result.shown)
    grid = attention_grid(result, special=view.special)
    ranked = tuple(rank(result) if ranked is None else ranked)
    name = text.name_of(view.heads, result.heads)
    return Screen(
        f"{name}. {text.headline(result, view)}",
        (
            line(text.doing(result, view.heads)),
            pictures.map_picture(result, view),
            text.selection_note(result, view),
            pictures.grid_picture(result, grid, ranked, shown=view.heads.places),
            *more,
        ),
        first=(
            gaps_note(result.read_as),
            shuffled_note(result.read, result.shuffle),
            cut_note(result.cut),
        ),
    )
