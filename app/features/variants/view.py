"""The page of the variants: bars of parameters and operations, cards, reach, memory, arithmetic."""

import pandas as pd

from app.features.variants.result import Counted, Told, VariantsResult
from app.words.blocks import hint, line, record_table
from app.words.format import count, percent
from app.words.html import Html, join, tag, visible
from app.words.pictures import Picture, bar_length, picture, svg
from app.words.report import Report
from bert_core.checkpoints.sources.cache import size_text
from bert_core.model.sizes import PARTS, Split

TABS = ("Side by side", "Ideas and the lab", "What a token sees", "Memory", "Arithmetic")

_LETTERS = "EAFR"
"""What marks the parts in the drawing, so that it can be read without colours."""

_ROW, _BAR = 36, 24
_TEXT = 104  # units for the number behind a bar
_ROOM = 15  # units from which a letter fits into its part of a bar
_SQUARE, _GAP, _UNDER = 150, 40, 62


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


def headline(result: VariantsResult) -> Html:
    """Say in words what the edited configuration comes to, with an explanation of the counts."""
    return tag("div", _explained(), _headline(result), class_="bx-headline bx-va-headline")


def _headline(result: VariantsResult) -> str:
    own, bert = result.own, result.family[0]
    parameters = own.parameters
    share = parameters.total / bert.parameters.total
    work = own.flops.total / bert.flops.total
    less = bert.tokens < result.length
    shorter = f" (BERT in a text of {bert.tokens:,}, the most it reads)" if less else ""
    return (
        f"Yours: {large(parameters.total)} parameters, "
        f"{percent(parameters.embedding / parameters.total, 0)} of them in the embedding. That is "
        f"{_times(share)} BERT’s size, and {_times(work)} its operations for one token{shorter}."
    )


def _times(ratio: float) -> str:
    """Print a ratio.

    >>> _times(0.21), _times(12.04), _times(1.0)
    ('0.21 ×', '12.0 ×', '1.00 ×')
    """
    return f"{ratio:.2f} ×" if ratio < 10 else f"{ratio:,.1f} ×"


def _explained() -> Html:
    """Explain what is counted."""
    return hint(
        tag("p", "Everything is computed from the configurations; no weights are loaded. Only the "
            "encoder is counted, without heads for tasks. An operation is one multiplication or "
            "one addition; counted are those for one token, attention to every token that it sees "
            "included."),
        tag("p", "E: word vectors, positions, segments. A: queries, keys, values and outputs of "
            "attention. F: the feed-forward networks. R: normalisations and the pooler."),
    )  # fmt: skip


def bars(result: VariantsResult) -> Picture:
    """Draw for each model its parameters and its operations, split by part."""
    return picture(
        "variants",
        lambda width: _wide(result, width) if width > 600 else _narrow(result, width),
        alt=describe(result),
        table=table(result),
    )


def describe(result: VariantsResult) -> str:
    """Describe the bars in words."""
    models = "; ".join(
        f"{each.name} {large(each.parameters.total)} and {large(each.flops.total)}"
        for each in result.rows
    )
    return (
        "Bars of parameters, and of operations for one token, split into embedding, attention, "
        f"feed-forward and rest: {models}."
    )


def table(result: VariantsResult) -> pd.DataFrame:
    """Return all counts as plain numbers."""
    return pd.DataFrame(
        {
            "model": [visible(each.name) for each in result.rows],
            "parameters": [each.parameters.total for each in result.rows],
            **_columns("parameters", [each.parameters for each in result.rows]),
            "operations per token": [each.flops.total for each in result.rows],
            **_columns("operations", [each.flops for each in result.rows]),
            "tokens of the text": [each.tokens for each in result.rows],
        }
    )


def _columns(what: str, splits: list[Split]) -> dict[str, list[int]]:
    return {
        f"{what}: {part}": [split.parts[number] for split in splits]
        for number, part in enumerate(PARTS)
    }


def _wide(result: VariantsResult, width: int) -> Html:
    """Draw both bars of a model in one row."""
    left, middle, top = 118, 430, 58
    heads = ("Parameters", f"Operations per token, in a text of {result.length:,}")
    drawn = [*_legend(len(PARTS)), _head(heads[0], left, 40), _head(heads[1], middle, 40)]
    for number, each in enumerate(result.rows):
        y = top + number * _ROW
        drawn.append(_name(each, 0, y + _BAR / 2))
        drawn += _pair(result, each, (left, y, middle - left - 12), (middle, y, width - middle))
    return svg(width, top + len(result.rows) * _ROW, *drawn)


def _narrow(result: VariantsResult, width: int) -> Html:
    """Draw the bars of a model below its name."""
    top, tall = 106, 2 * _BAR + 34
    heads = ("Upper bar: parameters", f"Lower bar: operations per token, in {result.length:,}")
    drawn = [*_legend(2), _head(heads[0], 0, 66), _head(heads[1], 0, 88)]
    for number, each in enumerate(result.rows):
        y = top + number * tall
        drawn.append(_name(each, 0, y + 9))
        drawn += _pair(result, each, (0, y + 22, width), (0, y + 24 + _BAR, width))
    return svg(width, top + len(result.rows) * tall, *drawn)


Place = tuple[float, float, float]
"""Left edge, upper edge, and width with the number."""


def _pair(result: VariantsResult, each: Counted, first: Place, second: Place) -> list[Html]:
    """Draw parameters and operations of one model."""
    most = max(row.parameters.total for row in result.rows)
    works = max(row.flops.total for row in result.rows)
    fewer = f" ({each.tokens:,})" if each.tokens < result.length else ""
    return [
        *_stack(each.parameters, most, first, large(each.parameters.total)),
        *_stack(each.flops, works, second, large(each.flops.total) + fewer),
    ]


def _stack(split: Split, most: int, place: Place, printed: str) -> list[Html]:
    """Draw one bar in its parts; a part that is wide enough has its letter."""
    x, y, width = place
    room, drawn = width - _TEXT, []
    for number, value in enumerate(split.parts):
        length = bar_length(value / most, room)
        drawn.append(
            tag("rect", x=f"{x:.2f}", y=f"{y:g}", width=f"{length:.2f}", height=_BAR,
                class_=f"bx-va-part bx-va-{number}")
        )  # fmt: skip
        if length >= _ROOM:
            drawn.append(
                tag("text", _LETTERS[number], x=f"{x + length / 2:.2f}", y=f"{y + _BAR / 2:g}",
                    class_="bx-svg-middle bx-va-letter")
            )  # fmt: skip
        x += length
    drawn.append(
        tag("text", printed, x=f"{x + 7:.2f}", y=f"{y + _BAR / 2:g}", class_="bx-va-small")
    )
    return drawn


def _legend(across: int) -> list[Html]:
    """Draw what the letters mean, so many in a row."""
    drawn: list[Html] = []
    for number, part in enumerate(PARTS):
        x, y = number % across * 140, 12 + number // across * 26
        drawn += [
            tag("rect", x=x, y=y - 10, width=20, height=20, class_=f"bx-va-part bx-va-{number}"),
            tag("text", _LETTERS[number], x=x + 10, y=y, class_="bx-svg-middle bx-va-letter"),
            tag("text", part, x=x + 26, y=y, class_="bx-va-small"),
        ]
    return drawn


def _head(words: str, x: float, y: float) -> Html:
    return tag("text", words, x=x, y=y, class_="bx-va-small bx-svg-strong")


def _name(each: Counted, x: float, y: float) -> Html:
    kind = "bx-svg-strong" if each.told is None else None
    return tag("text", visible(each.name), x=x, y=f"{y:g}", class_=kind)


# -- the tabs --------------------------------------------------------------------------------------


def papers(result: VariantsResult) -> Html:
    """Draw what the paper of each model says, one row for each."""
    rows = [
        (join(tag("strong", each.name), f" {told.year}"), told.objective, told.data, told.sees)
        for each, told in _told(result)
    ]
    columns = ("model", "trained to", "on", "a token sees")
    return record_table("The models, as their papers describe them", columns, rows)


def cards(result: VariantsResult, lab: str = "") -> Html:
    """Draw what was new in each model, its size as published, and how the lab shows the idea.

    Args:
        result: the result.
        lab: address of the lab, for links to it; "" for none.
    """
    drawn = [
        tag(
            "section",
            tag("h2", each.name),
            tag("p", told.idea),
            line(
                f"{each.parameters.total:,} parameters; the authors say {told.published} million "
                f"({told.said})."
            ),
            _lab(told, lab),
            aria_label=each.name,
        )
        for each, told in _told(result)
    ]
    return tag("div", *drawn, class_="bx-va-cards")


def _told(result: VariantsResult) -> list[tuple[Counted, Told]]:
    """Return the published models with what their papers say."""
    return [(each, each.told) for each in result.family if each.told is not None]


def _lab(told: Told, lab: str) -> Html:
    """Say which switch of the lab shows the idea, and lead there."""
    if told.lab is None:
        return line("The lab has no switch for this.")
    settings = "&".join(f"{name}={value}" for name, value in told.lab.items())
    if not lab:
        return line(f"In the lab: {told.shows}.")
    address = f"{lab}?{settings}" if settings else lab
    return line(tag("a", "Try it in the lab", href=address), f": {told.shows}.")


def sources(result: VariantsResult) -> Html:
    """Name the papers and the configurations."""
    links: list[Html | str] = []
    for each, told in _told(result):
        links += [f"{each.name}: ", tag("a", "paper", href=told.paper), ", "]
        links += [tag("a", "configuration", href=told.source), ". "]
    return line("Sources. ", *links)


def reach(result: VariantsResult) -> Picture:
    """Draw which tokens see which: one square for each kind of layer of each model."""
    shown = [kind for each in result.rows for kind in _kinds(each)]

    def draw(width: int) -> Html:
        across = max(1, (width + _GAP) // (_SQUARE + _GAP))
        down = -(-len(shown) // across)
        squares = [
            _square(kind, result.length, (at % across) * (_SQUARE + _GAP),
                    (at // across) * (_SQUARE + _UNDER))
            for at, kind in enumerate(shown)
        ]  # fmt: skip
        return svg(width, down * (_SQUARE + _UNDER), *squares)

    rows = pd.DataFrame(
        [(visible(name), layers, tokens, seen) for name, layers, tokens, seen in shown],
        columns=["model", "layers", "tokens read", "tokens seen by each"],
    )
    words = "; ".join(
        f"{name}, {count(layers, 'layer')}: {seen:,} of {tokens:,}"
        for name, layers, tokens, seen in shown
    )
    return picture("variants-reach", draw, alt=f"Which tokens see which. {words}.", table=rows)


Kind = tuple[str, int, int, int]
"""Model, number of layers, tokens read, tokens that one in the middle sees."""


def _kinds(each: Counted) -> list[Kind]:
    """Return the kinds of layers of a model, the farthest reach first."""
    reaches = each.architecture.reaches(each.tokens)
    return [
        (each.name, reaches.count(seen), each.tokens, seen)
        for seen in sorted(set(reaches), reverse=True)
    ]


def _square(kind: Kind, length: int, x: float, y: float) -> Html:
    """Draw the tokens of a text against themselves; what is seen is filled."""
    name, layers, tokens, seen = kind
    read = _SQUARE * tokens / max(length, tokens)
    half = read * (seen // 2) / tokens
    band = (
        f"M0 0H{half:.2f}L{read:.2f} {read - half:.2f}V{read:.2f}H{read - half:.2f}L0 {half:.2f}Z"
        if seen < tokens
        else f"M0 0H{read:.2f}V{read:.2f}H0Z"
    )
    return tag(
        "g",
        tag("rect", x=0, y=0, width=_SQUARE, height=_SQUARE, class_="bx-va-unread"),
        tag("path", d=band, class_="bx-va-seen"),
        tag("rect", x=0, y=0, width=f"{read:.2f}", height=f"{read:.2f}", class_="bx-svg-frame"),
        tag("text", visible(name), x=0, y=_SQUARE + 16, class_="bx-svg-strong"),
        tag("text", f"{count(layers, 'layer')} see {seen:,}", x=0, y=_SQUARE + 38,
            class_="bx-va-small"),
        transform=f"translate({x:g} {y:g})",
    )  # fmt: skip


def reach_note(result: VariantsResult) -> Html:
    """Explain the squares."""
    return line(
        f"Each square is a text of {result.length:,} tokens: a row for each token, filled where it "
        "sees another one. What a model does not read is empty. A token of a local layer sees its "
        "neighbours; over several layers, information from farther away reaches it."
    )


def memory(result: VariantsResult) -> Html:
    """Draw the memory of each model."""
    columns = ("model", "weights, 32 bits", "16 bits", "training", "attention kept")
    rows = [
        (
            tag("strong", visible(each.name)),
            size_text(each.memory.float32),
            size_text(each.memory.float16),
            size_text(each.memory.training),
            size_text(each.memory.attention),
        )
        for each in result.rows
    ]
    return record_table("Memory of each model", columns, rows, compact=True)


def memory_note(result: VariantsResult) -> Html:
    """Explain the columns."""
    return line(
        "Training: weights, their gradients and the two averages of AdamW in 32 bits, without the "
        "vectors of the texts. Attention kept: every number of attention in one text of "
        f"{result.length:,} tokens (or as many as the model reads), which drawing it needs; fast "
        "implementations store none."
    )


def arithmetic(result: VariantsResult) -> Html:
    """Draw every kind of tensor of the edited configuration."""
    own = result.own
    total = own.parameters.total
    rows = [
        (
            each.name,
            each.part,
            " × ".join(f"{size:,}" for size in each.shape),
            f"{each.stored:,}",
            f"{each.parameters:,}",
            percent(each.parameters / total, counted=True),
        )
        for each in own.architecture.tensors()
    ]
    columns = ("tensors", "part", "shape", "number", "parameters", "of all")
    return record_table("All tensors of your configuration", columns, rows, compact=True)


def arithmetic_note(result: VariantsResult) -> Html:
    """Write the sums below the tensors."""
    own = result.own
    sizes = own.architecture
    reaches = sum(sizes.reaches(own.tokens))
    mixing = 4 * sizes.width * reaches
    return join(
        line(f"Together {own.parameters.total:,} parameters."),
        line(
            f"Operations for one token: 2 for each number of a matrix that it passes through, "
            f"{own.flops.total - mixing:,}, and 4 × {sizes.width:,} for each of the {reaches:,} "
            f"tokens that it sees in {count(sizes.layers, 'layer')}, {mixing:,}; together "
            f"{own.flops.total:,}. "
            + (
                "One layer is stored and computed again and again: sharing saves memory, not time."
                if sizes.shared
                else ""
            )
        ),
    )


def report(result: VariantsResult) -> Report:
    """Write the result as it would appear on paper."""
    return Report(
        _headline(result),
        (
            bars(result),
            papers(result),
            cards(result),
            reach(result),
            memory(result),
            arithmetic(result),
        ),
    )


def snippet(result: VariantsResult) -> str:
    """Write the same computation in Python."""
    return f"""from bert_core.model.sizes import Architecture

yours = {result.own.architecture!r}
for each in yours.tensors():
    print(each.part, each.name, each.shape, each.parameters)
print(yours.parameters())
print(yours.flops({result.length}))
print(yours.memory({result.length}))
"""
