"""The page of the variants: bars of parameters and operations, and what was new in each model."""

from itertools import product

from app.features.variants.result import About, Counted, VariantsResult
from app.words.blocks import Html, fold, hint, join, line, record_table, tag, visible
from app.words.format import percent
from app.words.matrix import Matrix
from app.words.panel import Panel
from app.words.pictures import Picture, bar_length, picture, svg
from app.words.screen import Screen
from bert_core.checkpoints.sources.cache import size_text
from bert_core.model.sizes import PARTS, Split

_LETTERS = "EAFR"
"""What marks the parts in the drawing, so that it can be read without colours."""

_SMALL, _LETTER = "bx-va-small", "bx-svg-middle bx-va-letter"
_HEAD = f"{_SMALL} bx-svg-strong"
_ROW, _BAR = 36, 24
_SEES = line(
    "Which words (columns) the guess at each position (row) depends on: those with a gradient, in "
    "one layer of each kind with random weights. ELMo has two readers, 1 and 2."
)
_TEXT = 104  # units for the number behind a bar
_ROOM = 15  # units from which a letter fits into its part of a bar


def large(number: int) -> str:
    """Print a large number with three digits.

    >>> large(109_482_240), large(22_713_216), large(1_234), large(2_500_000_000)
    ('109 M', '22.7 M', '1.23 k', '2.50 G')
    """
    for unit, sign in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= unit:
            value = number / unit
            return f"{value:.{max(0, 3 - len(str(int(value))))}f} {sign}"
    return str(number)


def headline(result: VariantsResult) -> str:
    """Say in words what the edited configuration comes to."""
    own, bert = result.own, result.family[0]
    parameters = own.parameters
    share = parameters.total / bert.parameters.total
    work = own.flops.total / bert.flops.total
    less = bert.tokens < result.length
    shorter = f" (BERT in a text of {bert.tokens:,}, the most it reads)" if less else ""
    return (
        f"Yours: {large(parameters.total)} parameters, "
        f"{percent(parameters.embedding / parameters.total, 0)} in the embedding. That is "
        f"{_times(share)} BERT’s size, and {_times(work)} its operations per token{shorter}; "
        f"training the encoder takes {size_text(own.memory.training)}, activations not included."
    )


def _times(ratio: float) -> str:
    """Print a ratio.

    >>> _times(0.21), _times(12.04), _times(1.0)
    ('0.21 ×', '12.0 ×', '1.00 ×')
    """
    return f"{ratio:.2f} ×" if ratio < 10 else f"{ratio:,.1f} ×"


_EXPLAINED = hint(
    tag("p", "Everything is computed from the configurations; no weights are loaded. Only the "
        "encoder is counted, without heads for tasks: so BERT has 109 M parameters here, while "
        "its authors round to 110 M. An operation is one multiplication or one addition; "
        "counted are those for one token, attention to every token that it sees included."),
    tag("p", "E: word vectors, positions, segments. A: queries, keys, values and outputs of "
        "attention. F: the feed-forward networks. R: normalisations and the pooler."),
    tag("p", "The memory for training holds weights, their gradients and the two averages of "
        "AdamW in 32 bits; activations, the vectors of the texts on their way through the "
        "layers, come on top and depend on how many texts are read at once."),
)  # fmt: skip


def bars(result: VariantsResult) -> Picture:
    """Draw for each model its parameters and its operations, split by part."""
    models = "; ".join(
        f"{each.name} {large(each.parameters.total)} and {large(each.flops.total)}"
        for each in result.rows
    )
    return picture(
        "variants",
        lambda width: _wide(result, width) if width > 600 else _narrow(result, width),
        alt="Bars of parameters, and of operations for one token, split into embedding, "
        f"attention, feed-forward and rest: {models}.",
        table=[
            (visible(each.name), each.parameters.total, *each.parameters.parts,
             each.flops.total, *each.flops.parts, each.tokens, each.memory.float32,
             each.memory.training)
            for each in result.rows
        ],
        columns=(
            "model", "parameters", *(f"parameters: {part}" for part in PARTS),
            "operations per token", *(f"operations: {part}" for part in PARTS),
            "tokens of the text", "bytes of the weights in 32 bits", "bytes to train",
        ),
    )  # fmt: skip


def _wide(result: VariantsResult, width: int) -> Html:
    left, middle, top = 118, 430, 58
    panel = _legend(width, len(PARTS))
    panel.text(left, 40, "Parameters", class_=_HEAD)
    panel.text(middle, 40, f"Operations per token, text of {result.length:,}", class_=_HEAD)
    for number, each in enumerate(result.rows):
        y = top + number * _ROW
        _name(panel, each, y + _BAR / 2)
        _pair(panel, result, each, (left, y, middle - left - 12), (middle, y, width - middle))
    return svg(width, top + len(result.rows) * _ROW, *panel.drawn)


def _narrow(result: VariantsResult, width: int) -> Html:
    top, tall = 106, 2 * _BAR + 34
    panel = _legend(width, 2)
    panel.text(0, 66, "Upper bar: parameters", class_=_HEAD)
    panel.text(0, 88, f"Lower bar: operations per token, in {result.length:,}", class_=_HEAD)
    for number, each in enumerate(result.rows):
        y = top + number * tall
        _name(panel, each, y + 9)
        _pair(panel, result, each, (0, y + 22, width), (0, y + 24 + _BAR, width))
    return svg(width, top + len(result.rows) * tall, *panel.drawn)


Place = tuple[float, float, float]
"""Left edge, upper edge, and width with the number."""


def _pair(panel: Panel, result: VariantsResult, each: Counted, first: Place, second: Place) -> None:
    most = max(row.parameters.total for row in result.rows)
    works = max(row.flops.total for row in result.rows)
    fewer = f" ({each.tokens:,})" if each.tokens < result.length else ""
    _stack(panel, each.parameters, most, first, large(each.parameters.total))
    _stack(panel, each.flops, works, second, large(each.flops.total) + fewer)


def _stack(panel: Panel, split: Split, most: int, place: Place, printed: str) -> None:
    """Draw one bar in its parts; a part that is wide enough has its letter."""
    x, y, width = place
    for number, value in enumerate(split.parts):
        length = bar_length(value / most, width - _TEXT)
        panel.span((x, x + length), (y, y + _BAR), class_=f"bx-va-part bx-va-{number}")
        if length >= _ROOM:
            panel.text(x + length / 2, y + _BAR / 2, _LETTERS[number], class_=_LETTER)
        x += length
    panel.text(x + 7, y + _BAR / 2, printed, class_=_SMALL)


def _legend(width: int, across: int) -> Panel:
    panel = Panel.of_units(width, 1)
    for number, part in enumerate(PARTS):
        x, y = number % across * 140, 12 + number // across * 26
        panel.span((x, x + 20), (y - 10, y + 10), class_=f"bx-va-part bx-va-{number}")
        panel.text(x + 10, y, _LETTERS[number], class_=_LETTER)
        panel.text(x + 26, y, part, class_=_SMALL)
    return panel


def _name(panel: Panel, each: Counted, y: float) -> None:
    panel.text(0, y, each.name, class_="bx-svg-strong" if each.about is None else None)


# -- what each position sees --------------------------------------------------------------------


def masks(result: VariantsResult) -> Picture:
    """Draw for each model which words the guess at each position sees."""
    rows = [
        (each.model, each.words[row], each.words[column], number + 1)
        for each in result.sees
        for number, reader in enumerate(each.readers)
        for row, words in enumerate(reader)
        for column, seen in enumerate(words) if seen
    ]  # fmt: skip
    says = "; ".join(f"{each.model}: {each.says}" for each in result.sees)
    return picture(
        "variants-sees",
        lambda width: _masks(result, width),
        alt=f"Which words the guess at each position sees. {says}.",
        table=rows,
        columns=("model", "guess at", "sees", "reader"),
    )


def _masks(result: VariantsResult, width: int) -> Html:
    words = [(word, None) for word in result.sees[0].words]
    count, names, cell = len(words), 56, 26
    block, tall = names + count * cell, 74 + count * cell
    across = max(1, min(len(result.sees), width // (block + 20)))
    parts: list[Html] = []
    for number, each in enumerate(result.sees):
        x, y = number % across * (width // across), number // across * tall
        grid = Matrix(x + names, y + 66, cell, cell)
        parts += [tag("text", each.model, x=x, y=y + 12, class_="bx-svg-strong")]
        parts += grid.rows(words)
        parts += grid.columns(words, slanted=True)
        for row, column in product(range(count), range(count)):
            seen = [n for n, reader in enumerate(each.readers) if reader[row][column]]
            sign = "?" if row == column else str(seen[0] + 1) if seen else ""
            depth = (0.25 + 0.35 * (1 - seen[0])) if seen else 0.0
            parts += grid.cell(row, column, depth, sign, inset=1)
    return svg(width, -(-len(result.sees) // across) * tall, *parts)


# -- ideas -----------------------------------------------------------------------------------------


def ideas(result: VariantsResult, lab: str = "") -> Html:
    """Draw what was new in each model, a row for each.

    Args:
        result: the result.
        lab: address of the lab, for links to it and to the papers; "" for none.
    """
    rows = [
        (
            join(
                tag("strong", tag("a", each.name, href=about.paper) if lab else each.name),
                f" {about.year}",
            ),
            join(about.idea, _lab(about, lab)),
            about.objective,
            about.sees,
            str(about.published),
        )
        for each in result.family
        if (about := each.about) is not None
    ]
    columns = ("model", "what is new", "trained to", "a token sees",
               "million parameters, as its authors state")  # fmt: skip
    return record_table("What was new in each model", columns, rows)


def _lab(about: About, lab: str) -> Html:
    """Lead to the switch of the lab that shows the idea, if there is one."""
    if about.lab is None or not lab:
        return join()
    settings = "&".join(f"{name}={value}" for name, value in about.lab.items())
    address = f"{lab}?{settings}" if settings else lab
    return join(" ", tag("a", "Try it in the lab", href=address), f": {about.shows}.")


def screen(result: VariantsResult, model: str = "") -> Screen:
    """Say what is shown; a page names the model, and links the lab and the papers."""
    return Screen(
        headline(result),
        (
            bars(result),
            _SEES,
            masks(result),
            fold("What was new in each model", ideas(result, "lab" if model else "")),
        ),
        answer=tag("div", _EXPLAINED, headline(result), class_="bx-headline bx-va-headline"),
    )


def snippet(result: VariantsResult, model: str) -> str:
    """Write the same computation in Python; no model is needed."""
    return f"""from bert_core.model.sizes import Architecture

yours = {result.own.architecture!r}
for each in yours.tensors():
    print(each.part, each.name, each.shape, each.parameters)
print(yours.parameters())
print(yours.flops({result.length}))
print(yours.memory({result.length}))
"""
