"""The attention of a text on paper, and in Python."""

from collections.abc import Sequence

from app.features.attention import view_pictures as pictures
from app.features.attention import view_text as text
from app.features.attention.result import AttentionResult, HeadView, RankedHead
from app.features.attention.result_views import attention_grid, head_view, rank
from app.words.blocks import line
from app.words.notes import cut_note, gaps_note, shuffled_note
from app.words.screen import Block, Screen

PICTURES = {"map": "Heat map", "grid": "Every head", "lines": "Lines"}
"""The pictures that can be saved."""


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


def code(result: AttentionResult, view: HeadView, model: str) -> str:
    """Write the shown matrix in Python, with `bert_core` alone."""
    tokens = ", ".join([repr(result.text), *([repr(result.pair)] if result.pair else [])])
    lines = [
        "import torch",
        "",
        "from bert_core import BertModel, load_tokenizer",
        "",
        f"model = BertModel.from_pretrained({model!r})",
        f"tokenizer = load_tokenizer({model!r})",
        "longest = model.config.max_length",
        f"encoding = tokenizer.encode({tokens}, max_length=longest)",
        "with torch.inference_mode():",
        "    outputs = model.run(",
        "        torch.tensor([encoding.input_ids]),",
        "        torch.tensor([encoding.token_type_ids]),",
        "        attentions=True,",
        "    )",
        f"heads = {list(view.heads.places)}  # (layer, head), counted from 0",
        "weights = torch.stack([outputs.attentions[i][0, j] for i, j in heads]).mean(0)",
    ]
    if result.by_word:
        lines += [
            f"words = {[list(pieces) for pieces in result.words.pieces]}  # their pieces",
            "weights = torch.stack([weights[:, word].sum(1) for word in words], dim=1)",
            "weights = torch.stack([weights[word].mean(0) for word in words])",
        ]
    if not view.special:
        lines.append(f"weights = weights[{list(view.at)}][:, {list(view.at)}]")
    lines.append("print(encoding.tokens, weights, sep='\\n')")
    return "\n".join(lines)
