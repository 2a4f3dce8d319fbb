"""Attention as files: LaTeX, JSON, and a snippet; the pictures are those of `view_pictures`."""

import json

import numpy as np

from app.features.attention.result import AttentionResult, HeadView
from app.features.attention.view_pictures import colours, shades
from app.features.attention.view_text import SMALL, name_of
from app.words.html import visible

PICTURES = {"map": "Heat map", "grid": "Every head", "lines": "Lines"}
"""The pictures that can be saved."""

# Characters that LaTeX reads as commands.
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "^": r"\textasciicircum{}", "_": r"\_", "~": r"\textasciitilde{}", "%": r"\%",
}  # fmt: skip


def matrix_json(result: AttentionResult, view: HeadView) -> bytes:
    """Write the whole shown matrix as JSON, with every value as the page has it."""
    first = [pieces[0] for pieces in result.units.pieces]
    return json.dumps(
        {
            "model": result.model,
            "heads": [{"layer": layer, "head": head} for layer, head in view.heads.places],
            "combined": view.heads.how if len(view.heads.places) > 1 else None,
            "units": "words" if result.by_word else "pieces",
            "renormalised": view.selection.renormalise,
            "rows": list(view.row_tokens),
            "columns": list(view.column_tokens),
            "row_positions": [first[at] for at in view.rows],
            "column_positions": [first[at] for at in view.columns],
            "values": [[float(f"{value:.8g}") for value in row] for row in view.weights],
        },
        ensure_ascii=False,
    ).encode()


def latex(result: AttentionResult, view: HeadView, *, common: bool, log: bool) -> bytes:
    """Write the heat map as a LaTeX document of its own, drawn with TikZ.

    Every cell that is not white is a line `\\cell{row}{column}{share of the darkest colour}`. TeX's
    memory ends at some thousand cells: of more, the strongest 4,096 are written, which is all of
    64 x 64, and the file says how many are left out.
    """
    top = 1.0 if common else float(view.weights.max())
    share = shades(view.weights, top, log=log) / 255
    rows, columns = np.nonzero(share)
    kept = np.argsort(-share[rows, columns], kind="stable")[: SMALL * SMALL]
    left_out = len(rows) - len(kept)
    colour = ",".join(map(str, colours()[255].tolist()))
    lines = [
        r"\documentclass[tikz]{standalone}",
        r"\usepackage[T1]{fontenc}",
        rf"\definecolor{{attention}}{{RGB}}{{{colour}}}",
        f"% {name_of(view.heads, result.heads)}; the darkest cell is {top:.6g}"
        + ("; logarithmic over three decades" if log else ""),
        f"% {_tex(result.model)}",
        *([f"% {left_out:,} weaker cells are left out"] if left_out else []),
        r"\newcommand{\cell}[3]{\fill[attention, fill opacity=#3](#2,-#1) rectangle +(1,-1);}",
        r"\begin{document}",
        r"\begin{tikzpicture}[x=4mm,y=4mm,font=\scriptsize]",
    ]
    cells = sorted(zip(rows[kept].tolist(), columns[kept].tolist(), strict=True))
    lines += [rf"\cell{{{r}}}{{{c}}}{{{share[r, c]:.3f}}}" for r, c in cells]
    lines += [
        rf"\node[left] at (0,-{r}.5) {{{_tex(token)}}};" for r, token in enumerate(view.row_tokens)
    ]
    lines += [
        rf"\node[rotate=90,right] at ({c}.5,0) {{{_tex(token)}}};"
        for c, token in enumerate(view.column_tokens)
    ]
    height, width = view.weights.shape
    lines += [rf"\draw[gray] (0,0) rectangle ({width},-{height});", r"\end{tikzpicture}"]
    return "\n".join([*lines, r"\end{document}", ""]).encode()


def _tex(text: str) -> str:
    """Escape a text for LaTeX.

    >>> _tex("50%_a")
    '50\\\\%\\\\_a'
    """
    return "".join(_LATEX.get(letter, letter) for letter in visible(text).replace("\n", " "))


def snippet(result: AttentionResult, view: HeadView, model: str) -> str:
    """Write the shown matrix in Python, with `bert_core` alone.

    Args:
        result: the attention.
        view: what is shown of it.
        model: the model's name.
    """
    tokens = ", ".join([repr(result.text), *([repr(result.pair)] if result.pair else [])])
    places = list(view.heads.places)
    how = "mean(0)" if view.heads.how == "mean" else "amax(0)"
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
        f"heads = {places}  # (layer, head), counted from 0",
        f"weights = torch.stack([outputs.attentions[i][0, j] for i, j in heads]).{how}",
    ]
    if result.by_word:
        lines += [
            f"words = {[list(pieces) for pieces in result.words.pieces]}  # their pieces",
            "weights = torch.stack([weights[:, word].sum(1) for word in words], dim=1)",
            "weights = torch.stack([weights[word].mean(0) for word in words])",
        ]
    if len(view.rows) < len(result.tokens) or len(view.columns) < len(result.tokens):
        lines.append(f"weights = weights[{list(view.rows)}][:, {list(view.columns)}]")
    if view.selection.renormalise:
        lines.append("weights = weights / weights.sum(-1, keepdim=True)")
    if view.selection.floor > 0:
        lines.append(f"weights = weights * (weights >= {view.selection.floor})")
    if view.selection.top < 100:
        lines += [
            f"count = -(-weights.numel() * {view.selection.top} // 100)",
            "weights = weights * (weights >= weights.flatten().topk(count).values[-1])",
        ]
    lines.append("print(encoding.tokens, weights, sep='\\n')")
    return "\n".join(lines)
