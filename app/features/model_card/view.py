"""The stage of the model card: figures as bars beside their targets; tables; calibration."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from textwrap import wrap

from app.features.model_card.result import Beside, ModelCardResult, Reached, Temperature, reached
from app.features.model_card.view_text import Section, draw_section, sections
from app.words.blocks import fold, hint, line, record_table, ticked
from app.words.format import percent, too_sure
from app.words.html import Html, join, tag, visible
from app.words.panel import Panel
from app.words.pictures import WIDE, Picture, listed, picture, svg
from app.words.screen import Screen
from bert_core.bundled import bundled_names
from bert_core.bundled.figures import Figure

TABS = (
    *("Figures", "Calibration", "Leanings", "Limits", "Training", "Heads"),
    *("Trained for", "Beside BERT base", "Verification", "Card text"),
)
"""The parts of the card; other pages link to `model_card?tab=calibration`."""

COLUMNS = ("asked", "result", "95 % interval", "cases", "floor", "goal", "reached")

_SIGNS = {Reached.GOAL: True, Reached.FLOOR: True, Reached.NOTHING: False, Reached.NO_AIM: None}
_WORDS = {
    Reached.GOAL: "goal reached",
    Reached.FLOOR: "floor reached, goal not",
    Reached.NOTHING: "floor not reached",
    Reached.NO_AIM: "nothing was set",
}
_SHORT = {
    Reached.GOAL: "✓ goal",
    Reached.FLOOR: "✓ floor",
    Reached.NOTHING: "✗",
    Reached.NO_AIM: "",
}
_CALIBRATION, _BIAS = "calibration error", "bias"  # how the names of such figures begin
_FIRST, _FIVE = ", first guess", ", among first five"  # and end
_TOPS = (0.05, 0.1, 0.2, 0.5, 1.0)  # ends of an axis
_LETTERS = 36  # of a name beside its bar
_LINES = 3  # of a name above it
_NAMES, _VALUES = 290, 128  # units left of the bars on a wide screen, and right of them
_ROW = 22  # units
_NEAR = ("masked word, all hidden", "question answering, F1", "answer or none")
"""How tasks begin whose neighbours say nearly the same: the picture leaves them to the table."""


def _share(share: float | None) -> str:
    """Format a figure so that number and sign stay on one line of a narrow table."""
    return percent(share, counted=True).replace(" ", "\u00a0")


def interval(figure: Figure) -> str:
    """Format the 95 % interval of a figure."""
    return f"{100 * figure.low:.1f}–{_share(figure.high)}"


def words_of(figure: Figure) -> str:
    """Describe in words what a figure has reached."""
    no_goal = figure.goal is None and reached(figure) is Reached.FLOOR
    no_floor = figure.floor is None and reached(figure) is Reached.NOTHING
    return (
        "floor reached" if no_goal else "goal not reached" if no_floor else _WORDS[reached(figure)]
    )


def _aim(figure: Figure, aim: float | None) -> str:
    """Format a floor or a goal, with "at most" if less is better."""
    if aim is None:
        return "–"
    before = "at most " if figure.lower_is_better else ""
    behind = " (chance)" if aim == figure.chance else ""
    return f"{before}{_share(aim)}{behind}"


def no_figures(result: ModelCardResult) -> Html:
    """State that nothing was measured."""
    if result.figures:
        return join()
    return tag(
        "p",
        "No figures are stored beside these weights, so it is not known here how well this model "
        "does. The text of its card may say more.",
    )


def figures_table(figures: Sequence[Figure]) -> Html:
    """Draw the table of figures with their floors and goals."""
    rows = [
        (
            join(
                tag("strong", visible(each.task)),
                tag("br"),
                tag("small", visible(each.measured_on)),
            ),
            tag("strong", _share(each.share)),
            interval(each),
            f"{each.cases:,}",
            _aim(each, each.floor),
            _aim(each, each.goal),
            ticked(_SIGNS[reached(each)], words_of(each)),
        )
        for each in figures
    ]
    return record_table("What was measured, beside floor and goal", COLUMNS, rows, compact=True)


def figures_note(result: ModelCardResult) -> Html:
    """Explain where the figures come from, how to read them and what is left out."""
    more = f" {result.left_out:,} more figures are not shown." if result.left_out else ""
    guess = (
        " Chance is the share that blind guessing gets right."
        if any(each.chance is not None for each in result.figures)
        else ""
    )
    falls = any(each.lower_is_better for each in result.figures)
    errors = " Where it says “at most”, less is better." if falls else ""
    return line(
        "Source: figures.json beside the weights. Every result is a share of its cases. The floor "
        "had to be reached; the goal was hoped for. About 95 of a hundred such intervals contain "
        "the share that endlessly many cases of the kind would give."
        f"{guess}{errors}{more}"
    )


def meanings(figures: Sequence[Figure]) -> Html:
    """List what each share is a share of."""
    items = [
        tag("li", tag("strong", f"{visible(each.task)}: "), visible(each.meaning))
        for each in {each.task: each for each in figures}.values()
        if each.meaning
    ]
    if not items:
        return join()
    return tag(
        "details",
        tag("summary", "What each result is a share of"),
        tag("ul", *items),
        class_="bx-card-meanings",
    )


def _outcomes(figures: Sequence[Figure]) -> str:
    """Count what the figures have reached."""
    count = {kind: sum(reached(each) is kind for each in figures) for kind in Reached}
    return ", ".join(
        f"{number} {words}"
        for number, words in (
            (count[Reached.GOAL], "reached the goal"),
            (count[Reached.FLOOR], "reached only the floor"),
            (count[Reached.NOTHING], "reached neither"),
            (count[Reached.NO_AIM], "had no target"),
        )
        if number
    )


def figures_picture(figures: Sequence[Figure], name: str) -> Picture:
    """Draw every figure as a bar with its 95 % interval, and marks for floor and goal.

    Args:
        figures: at least one.
        name: a file name without extension.
    """
    highest = max(max(each.high, each.floor or 0, each.goal or 0) for each in figures)
    top = next(step for step in _TOPS if highest <= step)
    return picture(
        name,
        lambda width: _bars(figures, width, top),
        alt=f"{len(figures)} figures as bars with their 95 % intervals: {_outcomes(figures)}.",
        table=listed(
            (
                (visible(each.task), visible(each.measured_on), each.share, each.low, each.high,
                 each.cases, each.floor, each.goal, each.chance, each.lower_is_better,
                 words_of(each), visible(each.meaning))
                for each in figures
            ),
            ("task", "measured on", "share", "95 % from", "95 % to", "cases", "floor", "goal",
             "chance", "less is better", "reached", "meaning"),
        ).round(4),
    )  # fmt: skip


def _bars(figures: Sequence[Figure], width: int, top: float) -> Html:
    """Draw the rows and the axis; names that do not all fit beside their bars are above them."""
    names = [each.task.removesuffix(_FIRST) for each in figures]
    beside = width == WIDE and all(len(name) <= _LETTERS for name in names)
    left, letters = (_NAMES, _LETTERS) if beside else (14, width // 8)
    lines = [wrap(visible(name), letters, max_lines=_LINES, placeholder="…") or [""]
             for name in names]  # fmt: skip
    *tops, high = accumulate((_ROW * (len(each) + (not beside)) for each in lines), initial=0)
    panel = Panel((left, width - _VALUES), (0, high), (0, top), (high, 0))
    for quarter in range(5):
        tick = top * quarter / 4
        panel.post(tick)
        panel.ticks([(tick, f"{100 * tick:g} %")], 12, class_="bx-card-tick")
    for at, name, each in zip(tops, lines, figures, strict=True):
        for number, said in enumerate(name):
            panel.text(0, at + _ROW * (number + 0.5), said, -left, class_="bx-card-name")
        y = at + (_ROW * 0.5 if beside else _ROW * (len(name) + 0.4))
        with panel.group():
            _bar(panel, each, y)
        said = f"{_share(each.share)} {_SHORT[reached(each)]}"
        panel.text(top, y, said, 10, class_="bx-card-value")
    return svg(width, high + 22, *panel.drawn)


def _bar(panel: Panel, figure: Figure, y: float) -> None:
    """Draw one bar, its interval, its floor and its goal."""
    missed = " bx-card-missed" if reached(figure) is Reached.NOTHING else ""
    panel.span((0, figure.share), (y, y), inset=-7, class_=f"bx-card-bar{missed}")
    panel.whisker((figure.low, figure.high), y, 4, class_="bx-card-interval")
    if figure.floor is not None:
        panel.post(figure.floor, (y, y), 11, class_="bx-card-floor")
    if figure.goal is not None:
        panel.diamond(figure.goal, y, 5, 9, class_="bx-card-goal")


def legend(figures: Sequence[Figure]) -> Html:
    """Say what the marks are, how many of all floors were reached, and what a figure means."""
    explained = hint(
        "Each bar is a share of test cases that the model had never read; the table says which. "
        "The whisker is the 95 % interval: about 95 of a hundred such intervals contain the share "
        "that endlessly many such cases would give. The floor had to be reached; the goal was "
        "hoped for. All figures, with cases and data, are listed below."
    )
    floors = [each.reaches_floor for each in figures if each.floor is not None]
    told = f" {sum(map(bool, floors))} of {len(floors)} floors reached." if floors else ""
    said = f"Share of test cases, of gaps by the first guess; | floor, ◇ goal.{told}"
    return join(explained, line(said))


def of_tasks(figures: Sequence[Figure]) -> tuple[Figure, ...]:
    """Return the first share of most tasks that have a target, and of two the first guess."""
    first: dict[str, Figure] = {}
    for each in figures:
        aimed = each.floor is not None or each.goal is not None
        if aimed and not each.lower_is_better and not each.task.startswith((_BIAS, *_NEAR)):
            first.setdefault(each.task, each)
    guessed = {task.removesuffix(_FIRST) for task in first if task.endswith(_FIRST)}
    return tuple(each for task, each in first.items() if task.removesuffix(_FIVE) not in guessed)


def of_calibration(figures: Sequence[Figure]) -> tuple[Figure, ...]:
    """Return the calibration errors, named by what is calibrated."""
    return tuple(
        replace(
            each, task=f"{each.task.removeprefix(_CALIBRATION).lstrip(', ')} ({each.measured_on})"
        )
        for each in figures
        if each.task.startswith(_CALIBRATION)
    )


def temperatures_table(rows: Sequence[Temperature]) -> Html:
    """Draw the temperature of every kind of answer."""
    if not rows:
        return line("This model has no trained head whose answers are probabilities.")
    cells = [
        (
            tag("strong", each.answers),
            f"{each.calibration.temperature:.2f}" if each.calibration.named else "1 (not fitted)",
            visible(each.calibration.fitted_on) or "–",
        )
        for each in rows
    ]
    return record_table("Temperatures", ("answers", "temperature", "fitted on"), cells)


def calibration_note(errors: Sequence[Figure]) -> Html:
    """Explain calibration, and what the errors below are."""
    explained = hint(
        "Logits are divided by the temperature before the softmax. It was fitted on other texts "
        "than those measured, so that about seven in ten answers with 70 % are right; 1 leaves "
        "the logits as they are."
    )
    if not errors:
        return join(explained, line("How far the percentages can be trusted was not measured."))
    return join(
        explained,
        line(
            "A percentage on these pages is the softmax of logits divided by this temperature. The "
            "bars show the calibration error: how far these percentages are, on average, from the "
            "share of right answers. Shorter is better."
        ),
    )


def stated_table(errors: Sequence[Figure]) -> Html:
    """Draw what was said and what was right, where it is stored: the direction of each error."""
    rows = [
        (tag("strong", visible(each.task)), _share(each.stated), _share(each.right),
         too_sure(each.stated, each.right))
        for each in errors
        if each.stated is not None and each.right is not None
    ]  # fmt: skip
    if not rows:
        return join()
    said = line(
        "On average over its answers. Kinds that lean to different sides cancel in a figure for "
        "all of them."
    )
    columns = ("answers", "said", "right", "which way")
    return join(record_table("What was said, and what was right", columns, rows), said)


def beside_table(rows: Sequence[Beside]) -> Html:
    """Draw this model beside BERT base, which most papers and courses are about."""
    items = [
        tag("li", tag("strong", f"{each.what}: "), visible(each.here), f"; BERT base: {each.base}")
        for each in rows
    ]
    note = line(
        "What is shown of this model need not hold for BERT base, nor the reverse. Layers count "
        "from 0. BERT base: Devlin et al. 2019; attention: Clark et al. 2019."
    )
    return join(tag("ul", *items), note)


def screen(card: ModelCardResult, model: str = "") -> Screen:
    """Say what is shown."""
    text = [_folded(each) for each in sections(card.text)]
    if not card.figures:
        blocks = (no_figures(card), beside_table(card.beside), card_note(card), *text)
        return Screen("Nothing was measured on this model.", blocks, first=(trouble(card),))
    shown = of_tasks(card.figures) or card.figures
    return Screen(
        f"Of {len(card.figures)} figures, {_outcomes(card.figures)}.",
        (
            figures_picture(shown, "figures"),
            fold(f"All {len(card.figures)} figures", figures_table(card.figures)),
            figures_note(card),
            beside_table(card.beside),
            card_note(card),
            *text,
        ),
        first=(trouble(card),),
    )


def _folded(section: Section) -> Html:
    """Draw a section of the card, folded under its title if it has one."""
    drawn = draw_section(section)
    return fold(section.title, drawn) if section.title else drawn


def snippet(model: str) -> str:
    """Write the reading of the figures and the verification in Python."""
    if model in bundled_names():
        before = "from bert_core.bundled import bundled_folder\n"
        folder = f"bundled_folder({model!r})"
    else:
        before, folder = "", f"{model!r}  # its folder"
    return f"""{before}from bert_core.bundled.figures import read_figures
from bert_core.verification import verify

folder = {folder}
for figure in read_figures(folder):
    print(figure.task, figure.measured_on, figure.share)
report = verify(folder)
print(report.ok, report.difference)
"""


def trouble(result: ModelCardResult) -> Html:
    """List the files in the model's folder that could not be read."""
    if not result.problems:
        return join()
    items = [tag("li", visible(each)) for each in result.problems]
    says = tag("p", tag("strong", "Not everything beside the weights could be read."))
    return tag("div", says, tag("ul", *items), class_="bx-note bx-caution", role="alert")


def card_note(result: ModelCardResult) -> Html:
    """State where the card comes from, or that there is none."""
    if not result.text.strip():
        return tag(
            "p",
            "No card (a file README.md) is stored beside these weights. What the model was trained "
            "on, its licence and its limits are not known here.",
        )
    shown = ""
    if not result.whole:
        shown = f" It has {result.text_bytes:,} bytes; only the beginning is shown."
    return line(
        "The file README.md beside the weights, as its makers wrote it. Pictures and addresses are "
        f"shown as words: nothing is fetched.{shown}"
    )
