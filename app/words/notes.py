"""Notes shared by several pages.

They cover, in this order: misfits of a model and what its files contain, signs of a gap, what was
cut from an input that was too long, what the vocabulary cannot read, calibration, and examples.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote

from app.records.pieces import share_characters
from app.records.results import Calibration, Cut, Unread
from app.words.blocks import hint, line
from app.words.format import count, percent
from app.words.html import Html, join, tag, visible

HEAD_NAMES = (
    "A head is named after the kind of piece that gets at least 30 % of its attention on average "
    "([CLS] and [SEP]: 50 %), over all tokens that have such a piece. “Broad” heads look at "
    "everything almost equally. The thresholds are a convention. "
)
"""What earns a head its name; see `bert_core.analysis.head_statistics`."""

_NAMES = 6  # of parameters, before the rest is counted
_LABELS = 40
_NOISE = " Missing weights are random, so every number computed with them is noise."
_TEXTS = ("first text", "second text")
_FEW = 12  # lost pieces, or unknown words, that are named


@dataclass(frozen=True, slots=True)
class Holding:
    """What a model contains for one kind of answer."""

    title: Annotated[str, "the kind of answer"]
    there: Annotated[bool, "whether the model was trained for it"]
    says: Annotated[str, "an explanation in one or two sentences"]
    names: Annotated[tuple[str, ...], "parameters that are missing"] = ()
    labels: Annotated[tuple[str, ...], "what its outputs are called"] = ()


def misfit_note(says: str, names: Sequence[str], *, grave: bool, noise: bool) -> Html:
    """Warn, before any number is shown, that a model does not suit a page.

    `grave` means that the page's results would be meaningless, `noise` that this is because weights
    are missing.
    """
    head = "Before you read on: "
    if grave:
        lacks = "has no trained weights for" if noise else "does not suit"
        head = f"This model {lacks} this page. "
    return tag(
        "div",
        tag("strong", head),
        visible(says),
        _NOISE if noise else "",
        _parameters(names, "Missing: " if noise else ""),
        class_="bx-note bx-untrained" if grave else "bx-note",
        role="alert" if grave else "note",
    )


def holdings(rows: Sequence[Holding], left_over: Sequence[str]) -> Html:
    """List what a model was trained for, what it lacks, and which tensors are unused."""
    items = [_holding(row) for row in rows]
    if left_over:
        items.append(
            tag(
                "li",
                tag("strong", f"Not used by any page: {count(len(left_over), 'tensor')}. "),
                _parameters(left_over),
            )
        )
    return tag("ul", *items, class_="bx-holdings")


def _holding(row: Holding) -> Html:
    labels = join()
    if row.labels:
        shown = [tag("code", visible(label)) for label in row.labels[:_LABELS]]
        more = len(row.labels) - len(shown)
        rest = f" and {more:,} more" if more else ""
        labels = join(tag("br"), tag("small", "Labels: ", join(*shown, by=" "), rest))
    return tag(
        "li",
        tag("span", "✓" if row.there else "✗", class_="bx-sign", aria_hidden="true"),
        " ",
        tag("strong", f"{row.title}: "),
        row.says,
        labels,
        _parameters(row.names, "Missing: "),
        class_="bx-there" if row.there else "bx-absent",
    )


def _parameters(names: Sequence[str], before: str = "") -> Html:
    if not names:
        return join()
    more = len(names) - _NAMES
    rest = f" and {more:,} more" if more > 0 else ""
    return join(
        tag("br"), tag("small", before, tag("code", visible(", ".join(names[:_NAMES]))), rest)
    )


def gaps_note(signs: Sequence[str]) -> Html:
    """State which signs were read as [MASK]."""
    return line("Read as ", tag("code", "[MASK]"), ": ", _codes(signs), ".") if signs else join()


def shuffled_note(text: str, order: int) -> Html:
    """Name the text that was read with its words in another order; 0 for none."""
    if not order:
        return join()
    return line(f"Read in another order (number {order}): ", tag("q", visible(text), dir="auto"))


def shared_note(spans: Iterable[Sequence[int]]) -> Html:
    """Say that pieces share a character, where a text is coloured by its pieces."""
    if not share_characters(spans):
        return join()
    return line(
        "Some characters are read in several parts, such as the bytes of an emoji: what belongs to "
        "one of the parts is drawn at the whole character."
    )


def no_gaps_note(signs: Sequence[str]) -> Html:
    """State, where a text is read as it was typed, which signs are gaps on other pages."""
    if not signs:
        return join()
    return line("Read as typed: ", _codes(signs), ". A gap is ", tag("code", "[MASK]"), " here.")


def _codes(signs: Sequence[str]) -> Html:
    return join(*(tag("code", visible(sign)) for sign in signs), by=", ")


def cut_note(cut: Cut) -> Html:
    """Say what the model did not read; empty if it read everything."""
    if not cut.anything:
        return join()
    over = cut.found - cut.limit
    were = "was" if over == 1 else "were"
    sides = [
        _side(name, length, kept, lost)
        for name, length, kept, lost in zip(_TEXTS, cut.lengths, cut.kept, cut.lost, strict=True)
        if lost
    ]
    rule = (
        "The rule is longest first: while the input is too long, one piece is removed from the "
        "end of whichever text is longer."
        if cut.lengths[1]
        else "Pieces are removed from the end."
    )
    return tag(
        "div",
        tag("strong", f"{cut.found:,} tokens are too many: "),
        f"this model reads at most {cut.limit:,}, so {over:,} {were} cut. {rule}",
        *sides,
        class_="bx-note bx-caution",
    )


def _side(name: str, length: int, kept: int, lost: tuple[str, ...]) -> Html:
    return tag(
        "p",
        f"Of {count(length, 'piece')} the {name} lost the last",
        f" {len(lost):,}" if len(lost) > 1 else "",
        f" and kept {kept:,}: ",
        join(*(tag("bdi", visible(piece), class_="bx-cut") for piece in lost[:_FEW]), by=" "),
        " …" if len(lost) > _FEW else "",
        class_="bx-cut-side",
    )


def unread_note(found: Unread) -> Html:
    """Say what the model's vocabulary cannot read of the input; empty if it reads everything."""
    parts: list[Html | str] = []
    if found.unknown:
        shown = [tag("bdi", visible(word)) for word in found.unknown[:_FEW]]
        rest = f" and {len(found.unknown) - _FEW:,} more" if len(found.unknown) > _FEW else ""
        parts.append(join("It reads ", join(*shown, by=", "), f"{rest} as [UNK], “unknown”. "))
    for script, words in found.scripts:
        parts.append(
            f"{count(words, 'word')} in {script} letters: its vocabulary has hardly any words in "
            "this script. "
        )
    if found.crumbles:
        parts.append(
            f"{found.fragments:,} of {count(found.words, 'word')} are split into three or more "
            "pieces: rare words, or another language. "
        )
    if not parts:
        return join()
    return tag(
        "div",
        tag("strong", "The model cannot read all of this. ") if found.unknown else "",
        *parts,
        class_="bx-note bx-caution" if found.unknown else "bx-note",
        role="note",
    )


def calibration_hint(
    calibration: Calibration, cases: str, *more: Html | str, model: str = ""
) -> Html:
    """Draw a "?" that says whether probabilities are calibrated.

    `cases` are what is right or wrong, in the plural; `model` is the one whose card is linked.
    """
    address = f"model_card?model={quote(model, safe='')}"
    card = join(" ", tag("a", "Model card", href=address, target="_self")) if model else ""
    return hint(*more, calibrated(calibration, cases), card)


def _off_by(errors: Sequence[float]) -> str:
    least, most = min(errors), max(errors)
    if round(100 * least, 1) == round(100 * most, 1):
        return percent(most, counted=True)
    return f"{100 * least:.1f} to {percent(most, counted=True)}"


def trained_note(trained_on: str) -> Html:
    """Say what a head was trained on, above its answer; empty if that is not known."""
    return line("Trained on ", visible(trained_on), ".") if trained_on else join()


def calibrated(calibration: Calibration, cases: str = "answers") -> Html:
    """Say whether 70 % means right seven times in ten, and which temperature was used."""
    if not calibration.named:
        return join(
            "Not calibrated: the configuration of this model gives no temperature (1 is used), so "
            f"{cases} with 70 % need not be right seven times in ten."
        )
    data = f" (fitted on {visible(calibration.fitted_on)})" if calibration.fitted_on else ""
    return join(
        f"Calibrated: logits are divided by a temperature of {calibration.temperature:.2f}{data} "
        f"before the softmax, so that, on data like that of the fit, about seven in ten {cases} "
        "with 70 % are right.",
        " On other data, the stated probability and the share of right answers differ by "
        f"{_off_by(calibration.errors)} on average."
        if calibration.errors
        else "",
    )


def example_note(says: str) -> Html:
    """Draw what to look at in an example."""
    return tag("div", tag("p", says), class_="bx-example")
