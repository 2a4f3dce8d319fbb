"""A recorded run in words and markup."""

import math

from app.features.lab.result import LabResult, Phenomenon, Point, Row, named
from app.words.blocks import Html, facts, hint, join, line, note, sideways, tag, ticked, visible
from app.words.format import count, percent
from app.words.panel import MIDDLE, NAME, SMALL, Panel
from app.words.pictures import WIDE, Picture, picture, svg
from app.words.screen import Screen

_MASK = "[MASK]"


def headline(run: LabResult) -> str:
    """Say what the model has learned at the end."""
    end, phenomena = run.points[-1], run.start.phenomena
    way = ""
    if all(each.ceiling is not None for each in phenomena):
        share = percent(end.way(phenomena), 0, counted=True)
        way = (
            f"; its right guesses are {share} of the way from always guessing the same word to the "
            "best possible"
        )
    return f"After {end.step:,} steps the loss of new sentences is {end.held_out:.2f} nats{way}."


def gaps(run: LabResult, point: Point) -> Html:
    """Draw the watched gaps with what the model would write there."""
    items = []
    for (text, answer), ((best, share), *rest) in zip(
        run.start.watched, point.guesses, strict=True
    ):
        before, _, after = text.partition(_MASK)
        right = best == answer
        others = ", ".join(f"{visible(word)} {percent(each, 0)}" for word, each in rest)
        wanted = "" if right else f". There: {visible(answer)}"
        guess = tag("b", ticked(right, visible(best)))
        sentence = tag("span", visible(before), guess, visible(after.replace(_MASK, "")))
        more = tag("small", f"{percent(share, 0)}; {others}{wanted}", class_="bx-quiet")
        items.append(tag("li", sentence, more))
    return tag("ul", *items, class_="bx-lab-gaps", aria_label="Gaps in new sentences")


def rows(run: LabResult) -> Html:
    """Draw rows of the first batch: what is hidden, and the two sentences."""
    masked, replaced, kept = (
        tag("span", says, class_=f"bx-lab-piece bx-lab-{kind}")
        for kind, says in (("masked", _MASK), ("replaced", "replaced"), ("kept", "kept"))
    )
    legend = line(
        "The model learns to name the hidden pieces. Of these, about 80 % are ", masked,
        ", 10 % are ", replaced, " by another piece, and 10 % are ", kept, ".",
    )  # fmt: skip
    drawn = (
        sideways(_row(each), f"Row {number} of the first batch")
        for number, each in enumerate(run.start.rows, 1)
    )
    return join(legend, *drawn)


def _row(row: Row) -> Html:
    cells = []
    for piece, seen, fate, segment in zip(
        row.pieces, row.seen, row.fates, row.segments, strict=True
    ):
        kind = f" bx-lab-{fate}" if fate else ""
        was = f"{piece} ({fate})" if fate else ""
        cells.append(
            tag("li", tag("span", visible(seen), class_=f"bx-lab-piece bx-lab-s{segment}{kind}"),
                tag("small", visible(was), class_="bx-quiet"))
        )  # fmt: skip
    follows = {None: "", True: " The second sentence follows.", False: " It does not follow."}
    return tag("div", tag("ol", *cells, class_="bx-lab-row"), line(follows[row.follows]))


PICTURES_HINT = hint(
    "The loss says how surprised the model is by the hidden words, in nats; 0 is certainty. A "
    "model that knows nothing has the loss log V, for V pieces; one that knows only how "
    "frequent each piece is has the loss of the lower line. At the right: how often the first "
    "guess is right in sentences that are never trained on, and how often the best possible "
    "guess would be. With 120 sentences for each phenomenon, differences of up to 13 "
    "percentage points can be chance."
)


def screen(result: LabResult) -> Screen:
    """Say what is shown."""
    start = result.start
    beginning = facts(
        [
            ("Run", named(start.settings)),
            ("Text", f"{count(start.sentences, 'sentence')}, {count(start.words, 'word')}"),
            ("Vocabulary", count(start.vocabulary, "piece")),
            ("Model", count(start.parameters, "weight")),
        ],
        "What the run starts from",
    )
    return Screen(
        headline=headline(result),
        first=(note(visible(result.diverged), caution=True),) if result.diverged else (),
        parts=(
            beginning,
            losses(result),
            accuracies(result),
            gaps(result, result.points[-1]),
            tag("h2", "Rows of the first batch"),
            rows(result),
        ),
    )


def snippet(result: LabResult, model: str) -> str:
    """Write how the model of a run is built in Python; a downloaded one opens like any other."""
    values, start = result.start.settings, result.start
    return f"""from bert_core import BertConfig, BertForPreTraining

config = BertConfig({start.vocabulary}, hidden_size={values["width"]},
                    num_hidden_layers={values["layers"]}, num_attention_heads={values["heads"]},
                    intermediate_size=4 * {values["width"]}, max_position_embeddings=64)
model = BertForPreTraining(config)  # for what was trained: .from_pretrained("bert-lab")
print(sum(parameter.numel() for parameter in model.parameters()))
"""


_TOP, _PLOT = 14, 150
_ROW, _SPARK = 30, 25  # height of a phenomenon, and of its curve


def losses(run: LabResult) -> Picture:
    """Draw the losses of a run, with those of two guessers.

    Steps are placed by their square root, as most is learned early.
    """
    start, last = run.start, run.points[-1]
    return picture(
        "lab-loss",
        lambda width: _losses(run, width),
        alt=f"Loss after step {last.step:,}: new sentences {last.held_out:.2f}, training sentences "
        f"{last.loss:.2f}. A guess among all pieces has {start.log_v:.2f}, a guess by frequency "
        f"{start.unigram:.2f}.",
        table=[(p.step, p.held_out, p.loss, p.learning_rate) for p in run.points],
        columns=("step", "new sentences", "training sentences", "learning rate"),
    )


def accuracies(run: LabResult) -> Picture:
    """Draw the share of right first guesses over the steps, one curve for each phenomenon."""
    phenomena, end = run.start.phenomena, run.points[-1].accuracy
    shares = "; ".join(
        f"{each.name} {percent(share, 0, counted=True)}{_best(each)}"
        for each, share in zip(phenomena, end, strict=True)
    )
    return picture(
        "lab-accuracy",
        lambda width: _accuracies(run, width),
        alt=f"Right first guesses in new sentences: {shares}.",
        table=[(point.step, *point.accuracy) for point in run.points],
        columns=("step", *(each.name for each in phenomena)),
    )


def _losses(run: LabResult, width: int) -> Html:
    start, last, bottom = run.start, run.start.settings["steps"], _TOP + _PLOT
    assert isinstance(last, int)
    top = 2 * math.ceil(max(start.log_v, run.points[0].held_out) / 2)
    panel = Panel((30, width - 8), (_TOP, bottom), (0, last), (0, top), bend_x=math.sqrt)
    panel.levels((tick, f"{tick:g}") for tick in range(0, top + 1, 2))
    for step, shown, kind in (
        (0, "step 0", SMALL),
        (last / 4, f"{last / 4:,.0f}", MIDDLE),
        (last, f"{last:,}", NAME),
    ):
        panel.ticks([(step, shown)], class_=kind)
    for loss, name in ((start.log_v, "blind guess, log V"), (start.unigram, "guess by frequency")):
        panel.level(min(loss, top), class_="bx-lab-guess")
        panel.text(last, min(loss, top), f"{name} {loss:.2f}", dy=11, class_=f"{NAME} bx-lab-says")
    for field in ("loss", "held_out"):
        panel.line([(p.step, min(getattr(p, field), top)) for p in run.points], class_=_look(field))
    key = Panel.of_units(width, bottom)
    key.text(36, bottom - 10, "steps by square root", class_=f"{SMALL} bx-lab-says")
    key.sample(10, bottom + 40, "loss of new sentences", class_=_look("held_out"))
    key.sample(0.66 * width, bottom + 40, "training", class_=_look("loss"))
    return svg(width, bottom + 52, *panel.drawn, *key.drawn)


def _accuracies(run: LabResult, width: int) -> Html:
    spare = 30 if width == WIDE else 0  # on paper, letters may be wider than those of the site
    ends, last = (172 + spare, width - 94 - spare), run.points[-1]
    drawn: list[Html] = []
    for row, each in enumerate(run.start.phenomena):
        low = _TOP + row * _ROW + _SPARK - 8
        panel = Panel(ends, (low - _SPARK, low), (0, last.step), bend_x=math.sqrt)
        panel.text(0, 0.5, each.name, -ends[0])
        panel.span(class_="bx-svg-track")
        for share, kind in ((each.floor, "floor"), (each.ceiling, "ceiling")):
            if share is not None:
                panel.level(share, class_=f"bx-lab-{kind}")
        panel.line([(p.step, p.accuracy[row]) for p in run.points], class_=_look("held_out"))
        best = "" if each.ceiling is None else f" of {100 * each.ceiling:.0f}"
        share = min(last.accuracy[row], each.ceiling or 1.0)  # beyond the best possible is chance
        strong = tag("tspan", f"{100 * share:.0f}", class_="bx-svg-strong")
        panel.text(last.step, 0.5, join(strong, f"{best} %"), 8)
        drawn += panel.drawn
    y = _TOP + len(run.start.phenomena) * _ROW + 8
    key = Panel.of_units(width, y)
    key.sample(0, y, "best possible", class_="bx-lab-ceiling")
    key.sample(width / 2 - 40, y, "always the same word", class_="bx-lab-floor")
    return svg(width, y + 12, *drawn, *key.drawn)


def _look(field: str) -> str:
    return f"bx-lab-line bx-lab-run0 bx-lab-{field}"


def _best(phenomenon: Phenomenon) -> str:
    if phenomenon.ceiling is None:
        return ""
    return f" (best possible {percent(phenomenon.ceiling, 0, counted=True)})"
