"""Attention in Python; the pictures that can be saved are those of `view_pictures`."""

from app.features.attention.result import AttentionResult, HeadView

PICTURES = {"map": "Heat map", "grid": "Every head", "lines": "Lines"}
"""The pictures that can be saved."""


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
    if not view.special:
        lines.append(f"weights = weights[{list(view.at)}][:, {list(view.at)}]")
    lines.append("print(encoding.tokens, weights, sep='\\n')")
    return "\n".join(lines)
