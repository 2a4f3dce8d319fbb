"""A run in words and markup, and its report."""

from collections.abc import Sequence

from app.features.lab.result import Guess, LabResult, MaskedRow, Point, State, Status
from app.features.lab.result_corpus import MASK, Probe
from app.features.lab.view_curves import accuracies, losses
from app.features.lab.view_inside import attention, vectors
from app.features.lab.view_words import named
from app.words.blocks import facts, hint, line, note, record_table, sideways, ticked
from app.words.format import count, percent
from app.words.html import Html, join, tag, visible
from app.words.screen import Screen
from bert_core.pretraining import Join

RECORDED = "recorded"
_SIGNS = {
    State.WAITING: "…", State.RUNNING: "●", State.PAUSED: "❚❚", State.STOPPED: "■",
    State.DONE: "✓", State.DIVERGED: "⚠", State.FAILED: "✗",
}  # fmt: skip
_JOINS = 40  # shown in a report
_SENTENCES = 4


def state(status: Status, name: str) -> Html:
    """Say where a lab is."""
    says = status.state.value
    if status.state is State.WAITING and status.before:
        says = f"{says}: {count(status.before, 'run')} before yours"
    if status.watchers:
        says += f", {count(status.watchers, 'watcher')}"
    return _state(_SIGNS[status.state], says, f"{name}. {status.says}" if status.says else name)


def recorded_state(name: str) -> Html:
    """Say that what is shown is recorded."""
    return _state("◌", RECORDED, name)


def not_trained() -> Html:
    """Say that what is shown has not been trained yet."""
    return _state("○", "not trained yet", "")


def no_text() -> Html:
    """Say what will come of a visitor's own text."""
    return line(
        "Paste a text and press Start: its vocabulary is built, some of its words are hidden, and "
        "a model learns to name them. Every tenth sentence is kept apart to measure it."
    )


def _state(sign: str, says: str, more: str) -> Html:
    return tag(
        "p",
        tag("strong", tag("span", sign, aria_hidden="true", class_="bx-lab-sign"), f" {says}"),
        tag("span", f" {visible(more)}", class_="bx-quiet"),
        class_="bx-lab-state",
        role="status",
    )


def predicted(guess: str) -> Html:
    """Repeat the prediction while the run goes on."""
    return line(f"You predicted: {visible(guess)}.")


def progress(run: LabResult, point: Point) -> Html:
    """Draw how far a run is and how fast it goes."""
    steps = run.start.settings.steps
    share = point.step / steps
    fill = tag("span", class_="bx-share-fill", style=f"width:{share:.2%}")
    loss = point.loss if run.teacher is None else point.held_out  # what its curve shows
    rows = [("step", f"{point.step:,} of {steps:,}"), ("loss", f"{loss:.2f}")]
    if point.next_sentence is not None:
        rows.append(("NSP loss", f"{point.next_sentence:.2f}"))
    if point.step:
        rows += [
            ("rate", f"{point.learning_rate:.5f}".rstrip("0").rstrip(".")),
            ("steps/s", f"{point.steps_a_second:.0f}"),
            ("tokens/s", f"{point.tokens_a_second:,.0f}"),
        ]
    if point.left:
        rows.append(("left", f"{point.left:.0f} s"))
    return join(
        tag("div", fill, class_="bx-share-track bx-lab-bar", aria_hidden="true"),
        facts(rows, "Progress", class_="bx-lab-facts"),
    )


def gaps(run: LabResult, point: Point) -> Html:
    """Draw the watched gaps with what the model would write there now."""
    items = [
        tag("li", _gap(probe, guess, others=point.step > 0))
        for probe, guess in zip(run.start.watched, point.guesses, strict=True)
    ]
    return tag("ul", *items, class_="bx-lab-gaps", aria_label="Gaps in new sentences")


def _gap(probe: Probe, guess: Guess, *, others: bool) -> Html:
    """Draw a gap with the best guess in it, and what else was probable."""
    before, _, after = probe.text.partition(MASK)
    if not guess:
        return join(visible(before), "…", visible(after))
    (best, share), *rest = guess
    right = best == probe.answer
    sentence = tag("span", visible(before), tag("b", ticked(right, visible(best))), visible(after))
    if not others:
        return sentence
    more = ", ".join(f"{visible(word)} {percent(each, 0)}" for word, each in rest)
    wanted = "" if right else f". There: {visible(probe.answer)}"
    return join(sentence, tag("small", f"{percent(share, 0)}; {more}{wanted}", class_="bx-quiet"))


def filled(text: str, guesses: Sequence[Guess]) -> Html:
    """Draw what the model writes into the gaps of a visitor's sentence."""
    rows = [
        tag("li", ", ".join(f"{visible(word)} {percent(share)}" for word, share in guess))
        for guess in guesses
    ]
    return tag("ol", *rows, class_="bx-lab-filled", aria_label=f"Guesses for {visible(text)}")


def rows(run: LabResult) -> Html:
    """Draw rows of the first batch: what is hidden, the two sentences, the padding."""
    masked, replaced, kept, padding = (
        tag("span", says, class_=f"bx-lab-piece bx-lab-{kind}")
        for kind, says in (
            ("masked", MASK), ("replaced", "replaced"), ("kept", "kept"), ("padding", "[PAD]")
        )
    )  # fmt: skip
    legend = line(
        "The model learns to name the hidden pieces. Of these, about 80 % are ", masked,
        ", 10 % are ", replaced, " by another piece, and 10 % are ", kept, ". ", padding,
        " fills up the rows of a batch to the same length; the model does not see it.",
    )  # fmt: skip
    drawn = (
        sideways(_row(each), f"Row {number} of the first batch")
        for number, each in enumerate(run.start.rows, 1)
    )
    return join(legend, *drawn)


def _row(row: MaskedRow) -> Html:
    """Draw a row as the model receives it; below each hidden piece what was there."""
    cells = []
    for piece, given, fate, segment, real in zip(
        row.pieces, row.given, row.fates, row.segments, row.real, strict=True
    ):
        kind = f" bx-lab-{fate}" if fate else "" if real else " bx-lab-padding"
        was = f"{piece} ({fate})" if fate else ""
        cells.append(
            tag("li", tag("span", visible(given), class_=f"bx-lab-piece bx-lab-s{segment}{kind}"),
                tag("small", visible(was), class_="bx-quiet"))
        )  # fmt: skip
    told = {None: "", True: " The second sentence follows.", False: " It does not follow."}
    return tag("div", tag("ol", *cells, class_="bx-lab-row"), line(told[row.follows]))


def vocabulary(run: LabResult, done: int) -> Html:
    """Draw how the first sentences are cut after a number of joins, and the last joins."""
    joins = run.start.joins[:done]
    cut = [
        tag("li", " ".join("·".join(pieces(word, joins)) for word in sentence.split()))
        for sentence in run.start.examples[:_SENTENCES]
    ]
    last = [
        (f"{number:,}", f"{visible(each.pair[0])} + {visible(each.pair[1])}",
         visible(each.piece), f"{each.count:,}")
        for number, each in list(enumerate(joins, 1))[-8:][::-1]
    ]  # fmt: skip
    table = record_table("The last joins", ("Join", "Pair", "Piece", "Places"), last, compact=True)
    return join(
        line("At first every letter is a piece. The most frequent pair of pieces is joined into "
             f"one, again and again: {count(len(run.start.joins), 'join')} in all."),
        tag("ul", *cut, class_="bx-lab-cut"),
        table if last else join(),
    )  # fmt: skip


def pieces(word: str, joins: Sequence[Join]) -> list[str]:
    """Cut a word as far as some joins do.

    >>> pieces("the", [Join(("##h", "##e"), "##he", 3), Join(("t", "##he"), "the", 2)])
    ['the']
    >>> pieces("the", [])
    ['t', 'h', 'e']
    """
    parts = [letter if at == 0 else f"##{letter}" for at, letter in enumerate(word)]
    for join_ in joins:
        at = 0
        while at < len(parts) - 1:
            if (parts[at], parts[at + 1]) == join_.pair:
                parts[at : at + 2] = [join_.piece]
            at += 1
    return [part.removeprefix("##") for part in parts]


def beginning(run: LabResult) -> Html:
    """List what a run starts from."""
    start = run.start
    return facts(
        [
            ("Run", named(start.settings)),
            ("Text", f"{count(start.sentences, 'sentence')}, {count(start.words, 'word')}"),
            ("Vocabulary", count(start.vocabulary, "piece")),
            ("Model", count(start.parameters, "weight")),
        ],
        "What the run starts from",
    )


def verdict(guessed: str, was: str) -> Html:
    """Say what was predicted and what happened."""
    if not was:
        return line(f"You predicted: {visible(guessed)}. This run does not decide it.")
    return line(ticked(guessed == was, f"You predicted: {visible(guessed)}. It was: {was}."))


def pictures_hint() -> Html:
    """Explain the pictures of a run."""
    return hint(
        "The loss says how surprised the model is by the hidden words, in nats; 0 is certainty. A "
        "model that knows nothing has the loss log V, for V pieces; one that knows only how "
        "frequent each piece is has the loss of the lower line. Steps are drawn by their square "
        "root, because most is learned early. At the right: how often the first guess is right in "
        "sentences that are never trained on, and how often the best possible guess would be, "
        "where the rules of the grammar tell. With 120 sentences for each phenomenon, differences "
        "of up to about 10 percentage points can be chance. Below: gaps in such sentences; where "
        "one head looks, with a row for each piece that looks; and the vectors of words on two "
        "axes, where words that are used alike come together."
    )


def screen(result: LabResult, model: str = "") -> Screen:
    """Say what is shown."""
    end, start = result.points[-1], result.start
    if all(each.ceiling is not None for each in start.phenomena):
        share = min(1.0, end.way(start.phenomena))
        way = f"; its right guesses are {percent(share, 0, counted=True)} of the way from always "
        way += "guessing the same word to the best possible"
    else:
        way = ""
    return Screen(
        headline=f"After {end.step:,} steps the loss of new sentences is {end.held_out:.2f} nats"
        f"{way}." + (f" The model is on offer as {result.kept}." if result.kept else ""),
        first=(note(visible(result.diverged), caution=True),) if result.diverged else (),
        parts=(
            beginning(result),
            losses([result]),
            accuracies([result]),
            gaps(result, end),
            *([attention(result, end, *last_head(result))] if end.attention.size else []),
            *([vectors(result, end)] if result.start.shown else []),
            tag("h2", "Rows of the first batch"),
            rows(result),
            tag("h2", "The vocabulary"),
            vocabulary(result, min(_JOINS, len(start.joins))),
        ),
    )


def last_head(result: LabResult) -> tuple[int, int]:
    """Return the first head of the last layer."""
    return result.start.settings.layers - 1, 0
