"""The result of verifying a model's files: a verdict and everything that was compared."""

import math
from collections.abc import Sequence

from app.features.model_card.result import Verified
from app.words.blocks import fold, hint, line, record_table, ticked
from app.words.html import Html, join, tag, visible
from bert_core.verification import FileCheck, OutputCheck, TextCheck, VerificationReport

FILES = ("file", "expected SHA-256", "found SHA-256", "the same")
_EXPLAINED = (
    "All files are read again and hashed, and a few stored texts are run through the model. Hashes "
    "and results must be those that were stored when the model was written."
)
OUTPUTS = ("output", "numbers", "largest", "off by", "allowed", "the same")


def offer(verifiable: bool) -> Html:
    """Say in one line what the button does, or that there is nothing to compare with."""
    if verifiable:
        return join(hint(_EXPLAINED), line("Compares all files with stored hashes and results."))
    return line(
        "There is nothing to compare with: no verification.json and verification.safetensors are "
        "beside these weights. The bundled model has them."
    )


def report(found: Verified) -> Html:
    """Draw the evidence for the verdict, and what it proves."""
    checked = found.report
    outputs = f"{len(checked.outputs):,} outputs computed again"
    files = f"{len(checked.files):,} files and their hashes"
    return join(
        texts_note(checked),
        fold(outputs, outputs_table(checked), outputs_note(), is_open=_wrong(checked.outputs) > 0),
        fold(files, files_table(checked), is_open=_wrong(checked.files) > 0),
        what_it_proves(),
    )


def verdict(found: Verified) -> Html:
    """Show at a glance whether everything agrees, by colour, sign and words alike."""
    checked = found.report
    sign, kind, head = "✓", "bx-yes", "Verified: the files are what they should be."
    if not checked.ok:
        sign, kind = "✗", "bx-no"
        head = f"Not verified: {visible(checked.name)} is not the model that was written."
    return tag(
        "div",
        tag("span", sign, class_="bx-card-sign", aria_hidden="true"),
        tag("p", tag("strong", head), " ", _details(checked), tag("br"), _when(found)),
        class_=f"bx-card-verdict {kind}",
        role="status",
    )


def _details(checked: VerificationReport) -> str:
    """Count what was compared and what disagrees."""
    files, texts, outputs = len(checked.files), len(checked.texts), len(checked.outputs)
    largest = number(checked.difference)
    if checked.ok:
        return (
            f"All {files:,} files are the same to the bit, {texts:,} stored texts give the same "
            f"tokens, and {checked.compared:,} numbers computed again differ from the stored ones "
            f"by {largest} at most."
        )
    said = (
        (_wrong(checked.files), f"of {files:,} files differ"),
        (_wrong(checked.texts), f"of {texts:,} stored texts give other tokens"),
        (
            _wrong(checked.outputs),
            f"of {outputs:,} outputs differ by more than is allowed, the worst by {largest}",
        ),
    )
    counted = "; ".join(f"{wrong:,} {words}" for wrong, words in said if wrong)
    failure = f" {visible(checked.failure)}" if checked.failure else ""
    return f"{counted}.{failure}" if counted else failure.strip()


def _wrong(checks: Sequence[FileCheck | TextCheck | OutputCheck]) -> int:
    return sum(not check.ok for check in checks)


def _when(found: Verified) -> Html:
    """State when the files were read and whether this program loaded these same files."""
    clock = f"{found.began:%d %B %Y, %H:%M:%S} UTC"
    read = f"Files read on {clock}, in {found.seconds:.1f} s."
    if not found.loaded:
        read += (
            " They have changed since this program loaded them: the pages show results of the "
            "weights that were loaded."
        )
    return tag("span", read, class_="bx-line")


def number(value: float | None) -> str:
    """Format a difference.

    >>> number(0.0), number(3.1e-06), number(None), number(float("inf"))
    ('0', '3.1e-06', 'not computed', 'no number')
    """
    if value is None:
        return "not computed"
    if not math.isfinite(value):
        return "no number"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def outputs_table(checked: VerificationReport) -> Html:
    """Draw the recomputed outputs, one per row."""
    rows = [
        (
            join(
                tag("strong", visible(each.class_name)),
                tag("br"),
                tag("small", visible(each.output), _texts(each.texts)),
            ),
            f"{each.compared:,}",
            number(each.largest),
            number(each.difference),
            number(each.tolerance),
            ticked(each.ok, "yes" if each.ok else "no"),
        )
        for each in checked.outputs
    ]
    return record_table("Outputs computed again", OUTPUTS, rows, compact=True)


def _texts(numbers: tuple[int, ...]) -> str:
    """Name the stored texts, counted from 0, that an output was computed for."""
    if len(numbers) == 1:
        return f", text {numbers[0]}"
    ends = f"{numbers[0]} to {numbers[-1]}" if numbers else "none"
    in_a_row = numbers == tuple(range(numbers[0], numbers[0] + len(numbers))) if numbers else True
    return f", texts {ends if in_a_row else ', '.join(map(str, numbers))}"


def files_table(checked: VerificationReport) -> Html:
    """Draw the hashes of all files, expected and found."""
    rows = [
        (
            tag("strong", visible(each.path)),
            tag("code", visible(each.expected) or "no such file"),
            tag("code", visible(each.found) or "no such file"),
            ticked(each.ok, "yes" if each.ok else "no"),
        )
        for each in checked.files
    ]
    return record_table("Files and their hashes", FILES, rows)


def texts_note(checked: VerificationReport) -> Html:
    """Name the stored texts that are now tokenized differently."""
    items = [tag("li", tag("bdi", visible(each.text))) for each in checked.texts if not each.ok]
    if not items:
        return join()
    return join(tag("p", "Texts that are cut into other tokens:"), tag("ul", *items))


def outputs_note() -> Html:
    """Explain the numbers in the table."""
    return line(
        "“Largest” is the largest stored number, “off by” the largest absolute difference from a "
        "stored number; both are in the unit of the output: logits are plain numbers, attention is "
        "a share of 1. The larger the numbers, the more is allowed, because processors round "
        "differently."
    )


def what_it_proves() -> Html:
    """Explain what a verdict means and what it does not."""
    return line(
        "A tick says that the files are the same, bit by bit, as when the model was written, and "
        "that this computer gets the same results from them. It does not say where they come from: "
        "a person who can change the weights can change the stored hashes too, so compare a hash "
        "with one from another place. Nor does it say that the model is good."
    )
