"""A recorded run in words and markup."""

from app.features.lab.result import LabResult, Point, Row
from app.features.lab.result_settings import named
from app.features.lab.view_curves import accuracies, losses
from app.words.blocks import facts, hint, line, note, sideways, ticked
from app.words.format import count, percent
from app.words.html import Html, join, tag, visible
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
    "guess would be. With 120 sentences for each phenomenon, differences of up to about 10 "
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
