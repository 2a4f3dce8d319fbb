"""The tabs of the page of tables: labels, how sure, slices, two models."""

from collections.abc import Sequence
from itertools import chain

from app.data.judged import Judged
from app.data.slices import FEWEST, Slice, has, slices
from app.features.data.result import DataResult
from app.words.blocks import Html, facts, line, pick, tag, visible
from app.words.format import count, percent, shortened
from app.words.matrix import Matrix
from app.words.panel import NAME, Panel
from app.words.pictures import WIDE, Picture, listed, picture, svg
from app.words.reliability import leaning, reliability_note, reliability_picture
from app.words.screen import Parts, Table

WRONG, RIGHT = "wrong", "right"
"""The names of rows by whether they are right."""

_MOST_CELLS = 12  # labels of a matrix that is drawn
_SHOWN = 14  # slices that are drawn; the table has all
_HIGH = 30  # of a slice
_LIKELY = 0.05  # a smaller p is no chance


# -- which rows -----------------------------------------------------------------------------------


def chosen(result: DataResult, only: str, word: str = "") -> list[Judged]:
    """Return the rows that are shown; all if there are none of that name."""
    if only in (WRONG, RIGHT):
        return [row for row in result.rows if row.right is (only == RIGHT)]
    if " → " in only:
        return [row for row in result.rows if f"{row.wanted} → {row.answer}" == only]
    if only.startswith("word="):
        return [row for row in result.rows if has(row, only.removeprefix("word="))]
    numbers = {name_of(each): each.numbers for each in all_slices(result, word)}.get(only)
    return [row for row in result.rows if numbers is None or row.number in numbers]


def all_slices(result: DataResult, word: str = "") -> tuple[Slice, ...]:
    """Return the slices, the worst first."""
    used = set(result.columns.values())
    names = dict.fromkeys(name for row in result.values.values() for name in row)
    return slices(result.rows, result.values, [n for n in names if n not in used], word)


def shown_slices(result: DataResult, word: str = "") -> list[Slice]:
    """Return the slices that are drawn: those with enough rows, and the one that was asked for."""
    return [e for e in all_slices(result, word) if e.right.cases >= FEWEST or e.name == word]


def name_of(part: Slice) -> str:
    """Return the name under which `chosen` knows a slice."""
    return f"{part.kind}={part.name}"


def cells(result: DataResult) -> list[str]:
    """Return the names of the cells of the matrix, row by row."""
    names = [each.name for each in result.report.labels]
    return [f"{one} → {other}" for one in names for other in names]


# -- labels ---------------------------------------------------------------------------------------


def labels(result: DataResult) -> Parts:
    """Show precision, recall and F1 of each label, and which are taken for which."""
    counts, matrix = result.report.labels, result.report.confusion
    table = listed(
        [(visible(e.name), e.wanted, e.answered, e.right, e.precision, e.recall, e.f1)
         for e in counts],
        ("label", "expected", "answered", "correct", "precision", "recall", "F1"),
    )  # fmt: skip
    what = "entities" if result.task == "ner" else "rows"
    explained = line(
        f"Precision: of the {what} answered with this label, the share that is correct. Recall: of "
        f"the {what} that have this label, the share that the model found. F1 is the harmonic mean "
        "of both."
    )
    figures = Table(table, "Precision, recall and F1 of each label.", "labels"), explained
    if not 1 < len(matrix) <= _MOST_CELLS:
        return figures
    return confusion(result), line("Click a cell to see its rows."), *figures


def confusion(result: DataResult) -> Picture:
    """Draw how often each label is taken for each; a click shows the rows of a cell."""
    names = [visible(each.name) for each in result.report.labels]
    pairs = list(zip(map(visible, cells(result)), chain(*result.report.confusion), strict=True))
    return picture(
        "confusion",
        lambda width: _matrix(names, pairs, width),
        table=pairs,
        columns=("expected → answer", "rows"),
        alt="Confusion matrix: " + ", ".join(f"{name}: {number}" for name, number in pairs[:16]),
        live=True,
    )


def _matrix(names: Sequence[str], pairs: Sequence[tuple[str, int]], width: int) -> Html:
    left = 150 if width >= WIDE else 100
    size = min(90.0, (width - left - 8) / len(names))
    place = Matrix(left, 62, size, min(size, 46))
    most = max(number for _, number in pairs) or 1
    drawn = [
        *place.rows([(shortened(name, left // 10), None) for name in names]),
        *place.columns([(shortened(name, max(4, int(size / 9))), None) for name in names]),
        tag("text", "answered", x=left, y=18, class_="bx-svg-small"),
        tag("text", "expected", x=8, y=50, class_="bx-svg-small"),
    ]
    for at, (name, number) in enumerate(pairs):
        says, (row, column) = f"{name}: {count(number, 'row')}", divmod(at, len(names))
        cell = place.cell(row, column, number / most, str(number), inset=1)
        click = pick("cell", at, stop=at == 0, element="g")
        drawn.append(tag("g", *cell, tag("title", says), aria_label=says, **click))
    high = 62 + place.height * len(names) + 6
    return svg(width, high, tag("g", *drawn, data_rove="cells"), live=True)


# -- how sure -------------------------------------------------------------------------------------


def sure(result: DataResult) -> Parts:
    """Show stated probabilities against the share of right answers."""
    found = result.report.reliability
    assert found is not None
    return (
        tag("p", f"{leaning(found)}. Expected calibration error: {percent(found.error)}.",
            class_="bx-line"),
        reliability_picture(found, "rows-reliability"),
        reliability_note("Vertical lines: 95 % intervals; the fewer the answers, the longer."),
    )  # fmt: skip


# -- slices ---------------------------------------------------------------------------------------


def sliced(result: DataResult, word: str = "") -> Parts:
    """Show parts of the table, the worst first."""
    found = shown_slices(result, word)
    if not found:
        return (line("The table is too small, or too even, to be divided."),)
    table = listed(
        [(visible(e.kind), visible(e.name), e.right.cases, e.right.right / e.right.cases,
          e.right.low, e.right.high) for e in found],
        ("slice", "value", "rows", "share right", "low", "high"),
    )  # fmt: skip
    first = f"{found[0].kind} {found[0].name}"
    whole = result.report.right
    drawn = picture(
        "slices",
        lambda width: _slices(found[:_SHOWN], whole.right / whole.cases if whole else 0.0, width),
        table=table[:200],
        alt=f"Share of right rows by slice, worst first: {first} "
        f"{percent(found[0].right.right / found[0].right.cases, counted=True)}.",
        live=True,
    )
    return (
        drawn,
        line(
            "Click a slice to see its rows. Lines: 95 % intervals; dashed: the whole table. Words "
            "are listed if their rows are wrong more often. Among many words, some will be so by "
            "chance: look at their rows before you conclude."
        ),
    )


def _slices(found: Sequence[Slice], whole: float, width: int) -> Html:
    left, letters = (250, 26) if width >= WIDE else (150, 15)
    bottom = 26 + _HIGH * len(found)
    panel = Panel((left, width - 84), (26, bottom), (0, 1), (len(found), 0))
    panel.post(whole, class_="bx-svg-even")
    key = Panel.of_units(width, 1)
    for tick in (0.0, 0.5, 1.0):
        key.text(panel.x(tick), 12, percent(tick, 0, counted=True), class_="bx-svg-middle")
    for number, each in enumerate(found):
        share = each.right.right / each.right.cases
        name = each.name if each.kind == "length" else f"{each.kind}: {each.name}"
        says = f"{name}: {percent(share, counted=True)} of {count(each.right.cases, 'row')} right"
        with panel.group(**pick("slice", number, stop=number == 0, element="g"), aria_label=says):
            panel.span((0, 1), (number, number + 1), class_="bx-svg-hit", fill_opacity="0")
            panel.text(0, number + 0.5, shortened(visible(name), letters), -10, class_=NAME)
            panel.whisker((each.right.low, each.right.high), number + 0.5, 5,
                          fill="none", stroke="var(--bx-c0)", stroke_width=2)  # fmt: skip
            panel.dot(share, number + 0.5, 6, says, fill="var(--bx-c0)")
            printed = f"{percent(share, 0, counted=True)} of {each.right.cases:,}"
            panel.text(1, number + 0.5, printed, 10)
    slices = tag("g", *panel.drawn, data_rove="slices")
    return svg(width, bottom + 6, slices, *key.drawn, live=True)


# -- two models -----------------------------------------------------------------------------------


def compared(result: DataResult) -> Parts:
    """Show which model is right where the other is not, and whether that may be chance."""
    found = result.compared
    assert found is not None
    first, second = map(visible, found.models)
    same = percent(found.same.right / found.same.cases, counted=True) if found.same.cases else "–"
    agreement = [("Same answer", f"{same} of {count(found.rows, 'row')}")]
    if found.p is None:
        says = "The table has no right answers to compare with; only the answers are compared."
        return line(says), facts(agreement, "Agreement")
    one, other, chance = found.first_only, found.second_only, f"p = {found.p:.2g}"
    agreement.append(("McNemar’s exact test", chance))
    better = f"{first if one > other else second} is better on rows like these ({chance})."
    says = (
        f"{count(one, 'row')} only {first} gets right, {count(other, 'row')} only {second}. "
        + (better if found.p < _LIKELY else f"That can be chance ({chance}).")
        if one + other
        else "Both models are right and wrong in the same rows."
    )
    rows = [("Both correct", found.both), (f"Only {first} correct", one),
            (f"Only {second} correct", other), ("Neither correct", found.neither)]  # fmt: skip
    table = Table(listed(rows, ("who is correct", "rows")), "Who is correct.", "both")
    return line(says), table, facts(agreement, "Agreement")
