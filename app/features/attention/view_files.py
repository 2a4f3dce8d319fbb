"""Attention for papers and slides: heat map, grid and lines as SVG, LaTeX, JSON, and a snippet.

Files are drawn on white paper in the light scale, whatever the theme of the page. Up to
`view.SMALL` tokens a side, a heat map is drawn cell by cell; a larger one is an embedded PNG.
"""

import json

import numpy as np
from numpy.typing import NDArray

from app.features.attention.result import (
    AttentionGrid,
    AttentionResult,
    Floats,
    HeadView,
    Links,
)
from app.features.attention.result_habits import RankedHead
from app.features.attention.view_pictures import colours, head_colour
from app.features.attention.view_text import (
    SMALL,
    describe_grid,
    describe_links,
    describe_view,
    file_name,
    links_table,
    matrix_table,
    name_of,
    ranking_table,
)
from app.words.html import Html, tag, visible
from app.words.pictures import Picture, linked, picture
from app.words.pixels import address, image

PICTURES = {"map": "Heat map", "grid": "Every head", "lines": "Lines"}
"""The pictures that can be saved."""

_PAPER = colours("light")
_LETTER = 8.5  # width of a letter of 15 units
_SMALLEST = 7.0  # size of a number in a cell
_LEAST = 0.005  # a weight that is printed
_LINE = 22  # height of a word beside the lines
# Characters that LaTeX reads as commands.
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "^": r"\textasciicircum{}", "_": r"\_", "~": r"\textasciitilde{}", "%": r"\%",
}  # fmt: skip


def shades(weights: Floats, top: float, *, log: bool) -> NDArray[np.intp]:
    """Return the number of the colour of each value, 0 to 255, as the page draws them."""
    share = weights.astype(np.float64) / (top or 1.0)
    if log:
        share = 1 + np.log10(np.maximum(share, 1e-9)) / 3
    return np.rint(255 * np.clip(share, 0, 1)).astype(np.intp)


def _hex(shade: int) -> str:
    red, green, blue = _PAPER[shade]
    return f"#{red:02x}{green:02x}{blue:02x}"


def _image(number: NDArray[np.intp], x: float, y: float, wide: float, high: float) -> Html:
    """Draw colours as an embedded PNG with one pixel a cell."""
    colour = address(number.astype(np.uint8), _PAPER)
    return image(colour, x=x, y=y, width=wide, height=high)


def _paper(width: float, height: float, *children: Html) -> Html:
    """Write an `svg` element with a white background and letters of its own size."""
    sheet = tag("rect", width="100%", height="100%", fill="#ffffff")
    return tag(
        "svg", sheet, *children, view_box=f"0 0 {width:g} {height:g}", class_="bx-att-paper",
        xmlns="http://www.w3.org/2000/svg", font_size=15, fill="#111111", aria_hidden="true",
        font_family="Arial, Helvetica, sans-serif",
    )  # fmt: skip


def _short(label: str, room: float, size: float = 15) -> str:
    """Cut a label to the letters that fit."""
    letters = max(2, int(room / (_LETTER * size / 15)))
    return label if len(label) <= letters else f"{label[: letters - 1]}…"


def map_picture(result: AttentionResult, view: HeadView, *, common: bool, log: bool) -> Picture:
    """Draw the large heat map as SVG.

    Args:
        result: the attention.
        view: what is shown of it.
        common: whether the scale ends at 1 instead of the largest value.
        log: whether the scale is logarithmic.
    """
    top = 1.0 if common else float(view.weights.max())
    number = shades(view.weights, top, log=log)
    return picture(
        file_name(view),
        lambda width: _map(result, view, number, width, top, log=log),
        alt=describe_view(result, view),
        table=matrix_table(result, view),
    )


def _map(
    result: AttentionResult,
    view: HeadView,
    number: NDArray[np.intp],
    width: int,
    top: float,
    *,
    log: bool,
) -> Html:
    """Draw the cells, the labels of both axes, and the scale."""
    height, breadth = number.shape
    rows = [visible(token) for token in view.row_tokens]
    columns = [visible(token) for token in view.column_tokens]
    left = min(0.28 * width, _LETTER * max(map(len, rows)) + 12)
    head = min(110.0, _LETTER * max(map(len, columns)) + 12)
    side = (width - left - 4) / breadth
    high = min(side, 36.0)
    size = min(15.0, 0.9 * high)
    parts: list[Html] = []
    if max(number.shape) <= SMALL:
        parts += _cells(view.weights, number, left, head, side, high)
    else:
        parts.append(_image(number, left, head, breadth * side, height * high))
    step = max(1, int(np.ceil(9 / high)))
    for r in range(0, height, step):
        parts.append(
            tag("text", _short(rows[r], left - 10, size), x=f"{left - 6:.1f}",
                y=f"{head + (r + 0.5) * high:.2f}", text_anchor="end", dominant_baseline="central",
                font_size=f"{max(size, 9):.1f}", data_at=linked(result.units.pieces[view.rows[r]]))
        )  # fmt: skip
    for c in range(0, breadth, max(1, int(np.ceil(9 / side)))):
        turned = f"translate({left + (c + 0.5) * side:.2f} {head - 6:.1f}) rotate(-90)"
        parts.append(
            tag("text", _short(columns[c], head - 10, size), transform=turned,
                dominant_baseline="central", font_size=f"{max(size, 9):.1f}",
                data_at=linked(result.units.pieces[view.columns[c]]))
        )  # fmt: skip
    bottom = head + height * high
    frame = tag(
        "rect", x=f"{left:.1f}", y=f"{head:.1f}", width=f"{breadth * side:.2f}",
        height=f"{height * high:.2f}", fill="none", stroke="#777777",
    )  # fmt: skip
    parts += [frame, *_scale(left, bottom, top, log=log)]
    if max(number.shape) <= SMALL:
        parts += _numbers(view.weights, number, left, head, side, high)
    name = name_of(view.heads, result.heads)
    beside = left + 250 + _LETTER * len(name) < width
    x, y = (left + 250, bottom + 22) if beside else (left, bottom + 46)
    for text in (name, visible(result.model)):
        parts.append(tag("text", text, x=f"{x:.1f}", y=f"{y:.1f}", dominant_baseline="central",
                         font_size=13))  # fmt: skip
        y += 20
    return _paper(width, y + 2, *parts)


def _cells(
    weights: Floats, number: NDArray[np.intp], left: float, head: float, side: float, high: float
) -> list[Html]:
    """Draw every cell that is not white, with its value as an attribute."""
    return [
        tag("rect", x=f"{left + c * side:.2f}", y=f"{head + r * high:.2f}", width=f"{side:.2f}",
            height=f"{high:.2f}", fill=_hex(int(number[r, c])), data_value=f"{weights[r, c]:.8g}")
        for r, c in zip(*np.nonzero(number), strict=True)
    ]  # fmt: skip


def _numbers(
    weights: Floats, number: NDArray[np.intp], left: float, head: float, side: float, high: float
) -> list[Html]:
    """Print the value in every cell that is large enough, as the page does."""
    size = min(15.0, 0.42 * side, 0.6 * high)
    if size < _SMALLEST:
        return []
    return [
        tag("text", _printed(weights[r, c]), x=f"{left + (c + 0.5) * side:.2f}",
            y=f"{head + (r + 0.5) * high:.2f}", text_anchor="middle", dominant_baseline="central",
            font_size=f"{size:.1f}", fill=_ink(int(number[r, c])))
        for r, c in zip(*np.nonzero(weights >= _LEAST), strict=True)
    ]  # fmt: skip


def _printed(weight: float) -> str:
    """Print a weight in two digits.

    >>> _printed(0.256), _printed(0.999)
    ('.26', '1.0')
    """
    return f"{weight:.1f}" if weight >= 1 - _LEAST else f"{weight:.2f}"[1:]


def _ink(shade: int) -> str:
    """Return black or white, whichever is easier to read on a shade."""
    red, green, blue = _PAPER[shade].astype(float)
    return "#111111" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"


def _scale(left: float, bottom: float, top: float, *, log: bool) -> list[Html]:
    """Draw the scale below a heat map, with both ends as numbers."""
    ramp = _image(np.arange(256)[None, :], left + 64, bottom + 16, 120, 12)
    frame = tag("rect", x=f"{left + 64:.1f}", y=f"{bottom + 16:.1f}", width=120, height=12,
                fill="none", stroke="#777777")  # fmt: skip
    y = f"{bottom + 22:.1f}"
    low = f"{top / 1000:.2g}" if log else "0"
    ends = ((left + 58, low, "end"), (left + 190, f"{top:.4g}", "start"))
    return [
        ramp, frame,
        *(tag("text", text, x=f"{x:.1f}", y=y, text_anchor=anchor, dominant_baseline="central",
              font_size=13) for x, text, anchor in ends),
    ]  # fmt: skip


def grid_picture(
    result: AttentionResult,
    grid: AttentionGrid,
    ranked: tuple[RankedHead, ...],
    *,
    common: bool,
    log: bool,
) -> Picture:
    """Draw the small pictures of all heads as SVG, each an embedded PNG."""

    def draw(width: int) -> Html:
        side = (width - 30) / result.heads
        parts = [
            tag("text", str(head), x=f"{30 + (head + 0.5) * side:.2f}", y=14, text_anchor="middle")
            for head in range(result.heads)
        ]
        for layer in range(result.layers):
            y = 22 + layer * side
            parts.append(tag("text", str(layer), x=20, y=f"{y + side / 2:.2f}", text_anchor="end",
                             dominant_baseline="central"))  # fmt: skip
            for head in range(result.heads):
                peak = float(grid.peaks[layer, head]) if common else 1.0
                number = shades(grid.pictures[layer, head] / np.float32(255) * peak, 1.0, log=log)
                x = 30 + head * side
                parts.append(_image(number, x + 1, y + 1, side - 3, side - 3))
                parts.append(tag("rect", x=f"{x + 1:.2f}", y=f"{y + 1:.2f}", fill="none",
                                 width=f"{side - 3:.2f}", height=f"{side - 3:.2f}",
                                 stroke="#999999"))  # fmt: skip
        return _paper(width, 24 + result.layers * side, *parts)

    table = ranking_table(ranked, "pattern")
    return picture("attention-all-heads", draw, alt=describe_grid(result), table=table[:200])


def lines_picture(result: AttentionResult, links: Links) -> Picture:
    """Draw the lines of the viewed heads as SVG, the strongest on top."""
    view = links.view
    shown = {links.places.index(place) for place in view.heads.places}
    one = len({layer for layer, _ in links.places}) == 1

    def draw(width: int) -> Html:
        rows = [visible(token) for token in view.row_tokens]
        columns = [visible(token) for token in view.column_tokens]
        left = min(0.3 * width, _LETTER * max(map(len, rows)) + 12)
        right = width - min(0.3 * width, _LETTER * max(map(len, columns)) + 12)
        middle = (left + right) / 2
        parts = []
        each = zip(links.row, links.column, links.head, links.weight, strict=True)
        for row, column, head, weight in each:
            if head not in shown:
                continue
            a, b = (row + 0.5) * _LINE, (column + 0.5) * _LINE
            number = links.places[head][1] if one else int(head)
            curve = f"M{left:.1f} {a:g}C{middle:.1f} {a:g} {middle:.1f} {b:g} {right:.1f} {b:g}"
            parts.append(
                tag("path", d=curve, fill="none", stroke=head_colour(number),
                    stroke_opacity=f"{0.1 + 0.9 * min(1.0, weight):.3f}",
                    stroke_width=f"{0.5 + 4 * weight:.2f}", data_value=f"{weight:.8g}")
            )  # fmt: skip
        for names, x, anchor, where in (
            (rows, left - 6, "end", view.rows), (columns, right + 6, "start", view.columns),
        ):  # fmt: skip
            parts += [
                tag("text", _short(name, 0.3 * width - 12), x=f"{x:.1f}", y=(i + 0.5) * _LINE,
                    text_anchor=anchor, dominant_baseline="central",
                    data_at=linked(result.units.pieces[where[i]]))
                for i, name in enumerate(names)
            ]  # fmt: skip
        return _paper(width, _LINE * max(len(rows), len(columns)), *parts)

    return picture(
        f"{file_name(view)}-lines",
        draw,
        alt=f"{name_of(view.heads, result.heads)}: {describe_links(links)}",
        table=links_table(result, links),
    )


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
    colour = ",".join(map(str, _PAPER[255].tolist()))
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
