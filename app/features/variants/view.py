"""The page of the variants: bars of parameters and operations, cards, reach, memory, arithmetic."""

from app.features.variants.result import Counted, Told, VariantsResult
from app.words.blocks import hint, line, record_table
from app.words.format import count, percent
from app.words.html import Html, join, tag, visible
from app.words.panel import Panel
from app.words.pictures import Picture, bar_length, picture, svg
from app.words.screen import Parts, Screen
from bert_core.checkpoints.sources.cache import size_text
from bert_core.families import FAMILIES, NEXT, ORDER
from bert_core.model.sizes import PARTS, Split

_LETTERS = "EAFR"
"""What marks the parts in the drawing, so that it can be read without colours."""

_PAIRS = {NEXT: "does it follow?", ORDER: "in order?", "": "–"}
"""What a family was asked about two sentences, beside words hidden in them."""

_SMALL, _LETTER = "bx-va-small", "bx-svg-middle bx-va-letter"
_HEAD = f"{_SMALL} bx-svg-strong"
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
        f"{percent(parameters.embedding / parameters.total, 0)} in the embedding. That is "
        f"{_times(share)} BERT’s size, and {_times(work)} its operations per token{shorter}."
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
             each.flops.total, *each.flops.parts, each.tokens)
            for each in result.rows
        ],
        columns=(
            "model", "parameters", *(f"parameters: {part}" for part in PARTS),
            "operations per token", *(f"operations: {part}" for part in PARTS),
            "tokens of the text",
        ),
    )  # fmt: skip


def _wide(result: VariantsResult, width: int) -> Html:
    """Draw both bars of a model in one row."""
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
    """Draw the bars of a model below its name."""
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
    """Draw parameters and operations of one model."""
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
    """Draw what the letters mean, so many in a row."""
    panel = Panel.of_units(width, 1)
    for number, part in enumerate(PARTS):
        x, y = number % across * 140, 12 + number // across * 26
        panel.span((x, x + 20), (y - 10, y + 10), class_=f"bx-va-part bx-va-{number}")
        panel.text(x + 10, y, _LETTERS[number], class_=_LETTER)
        panel.text(x + 26, y, part, class_=_SMALL)
    return panel


def _name(panel: Panel, each: Counted, y: float) -> None:
    panel.text(0, y, each.name, class_="bx-svg-strong" if each.told is None else None)


# -- the tabs --------------------------------------------------------------------------------------


def papers(result: VariantsResult) -> Html:
    """Draw what the paper of each model says, one row for each."""
    rows = [
        (join(tag("strong", each.name), f" {told.year}"), told.objective, told.data, told.sees)
        for each, told in _told(result)
    ]
    columns = ("model", "trained to", "on", "a token sees")
    return record_table("The models, as their papers describe them", columns, rows)


def families() -> Html:
    """Draw what is different about the families whose checkpoints can be opened, a row for each."""
    rows = [
        (
            tag("strong", each.title),
            " ".join(each.special_tokens[at] for at in (0, 1, 4)),
            "padding + 1" if each.counts_after_padding else "0",
            "a table" if each.token_types else "none",
            "a pooler" if each.pooler else "nothing",
            _PAIRS[each.sentence_head] if not each.finds_replaced else "replaced pieces",
            "a width of their own" if each.projects else "as wide as the layers",
            "shared" if each.shares_layers else "their own",
        )
        for each in FAMILIES.values()
    ]
    columns = ("family", "first, last, gap", "positions from", "token types", "after the layers",
               "also trained on", "word vectors", "layers’ weights")  # fmt: skip
    return record_table("The families whose checkpoints can be opened here", columns, rows)


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

    words = "; ".join(
        f"{name}, {count(layers, 'layer')}: {seen:,} of {tokens:,}"
        for name, layers, tokens, seen in shown
    )
    return picture(
        "variants-reach",
        draw,
        alt=f"Which tokens see which. {words}.",
        table=((visible(name), *numbers) for name, *numbers in shown),
        columns=("model", "layers", "tokens read", "tokens seen by each"),
    )


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
        tag("text", f"{count(layers, 'layer')}: {seen:,}", x=0, y=_SQUARE + 38,
            class_="bx-va-small"),
        transform=f"translate({x:g} {y:g})",
    )  # fmt: skip


def reach_note(result: VariantsResult) -> Html:
    """Explain the squares."""
    return hint(
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


def screen(result: VariantsResult, model: str = "") -> Screen:
    """Say what is shown; a page names the model, and links the lab."""
    return Screen(
        _headline(result),
        (bars(result),),
        tabs={
            "What a token sees": lambda: (reach_note(result), reach(result)),
            "Side by side": lambda: (papers(result),),
            "Ideas and the lab": lambda: _ideas(result, model),
            "What can be opened": lambda: (families(),),
            "Memory": lambda: (memory(result), memory_note(result)),
            "Arithmetic": lambda: (arithmetic(result), arithmetic_note(result)),
        },
        answer=headline(result),
    )


def _ideas(result: VariantsResult, model: str) -> Parts:
    """Draw the ideas; only a page has addresses outside of the site."""
    return (cards(result, "lab"), sources(result)) if model else (cards(result),)


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
