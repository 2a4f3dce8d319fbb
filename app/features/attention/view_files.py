"""Attention as files: JSON, and a snippet; the pictures are those of `view_pictures`."""

import json

from app.features.attention.result import AttentionResult, HeadView

PICTURES = {"map": "Heat map", "grid": "Every head", "lines": "Lines"}
"""The pictures that can be saved."""


def matrix_json(result: AttentionResult, view: HeadView) -> bytes:
    """Write the whole shown matrix as JSON, with every value as the page has it."""
    first = [pieces[0] for pieces in result.units.pieces]
    return json.dumps(
        {
            "model": result.model,
            "heads": [{"layer": layer, "head": head} for layer, head in view.heads.places],
            "combined": "mean" if len(view.heads.places) > 1 else None,
            "units": "words" if result.by_word else "pieces",
            "rows": list(view.row_tokens),
            "columns": list(view.column_tokens),
            "row_positions": [first[at] for at in view.rows],
            "column_positions": [first[at] for at in view.columns],
            "values": [[float(f"{value:.8g}") for value in row] for row in view.weights],
        },
        ensure_ascii=False,
    ).encode()


def snippet(result: AttentionResult, view: HeadView, model: str) -> str:
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
    if len(view.rows) < len(result.tokens) or len(view.columns) < len(result.tokens):
        lines.append(f"weights = weights[{list(view.rows)}][:, {list(view.columns)}]")
    if view.selection.floor > 0:
        lines.append(f"weights = weights * (weights >= {view.selection.floor})")
    lines.append("print(encoding.tokens, weights, sep='\\n')")
    return "\n".join(lines)
