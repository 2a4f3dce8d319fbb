"""The result of verifying a model's files: a verdict and everything that was compared."""

import math
from collections.abc import Sequence

from app.features.model_card.result import Verified
from app.words.blocks import Html, fold, hint, join, line, record_table, tag, ticked, visible
from bert_core.verification import FileCheck, OutputCheck, TextCheck, VerificationReport

_EXPLAINED = (
    "All files are read again and hashed, and a few stored texts are run through the model. Hashes "
    "and results must be those that were stored when the model was written. A tick does not say "
    "where the files come from: a person who can change the weights can change the stored hashes "
    "too, so compare a hash with one from another place. Nor does it say that the model is good."
)


def offer(verifiable: bool) -> Html:
    """Say in one line what the button does, or that there is nothing to compare with."""
    if verifiable:
        return join(hint(_EXPLAINED), line("Compares all files with stored hashes and results."))
    return line(
        "There is nothing to compare with: no verification.json and verification.safetensors are "
        "beside these weights. The bundled model has them."
    )


def verdict(found: Verified) -> Html:
    """Show at a glance whether everything agrees, by colour, sign and words alike."""
    checked = found.report
    sign, kind, head = "✓", "bx-yes", "Verified: the files are what they should be."
    if not checked.ok:
        sign, kind = "✗", "bx-no"
        head = f"Not verified: {visible(checked.name)} is not the model that was written."
    read = f"Files read on {found.began:%d %B %Y, %H:%M:%S} UTC, in {found.seconds:.1f} s."
    if not found.loaded:
        read += (
            " They have changed since this program loaded them: the pages show results of the "
            "weights that were loaded."
        )
    words = tag("strong", head), " ", _details(checked), tag("br")
    return tag(
        "div",
        tag("span", sign, class_="bx-card-sign", aria_hidden="true"),
        tag("p", *words, tag("span", read, class_="bx-line")),
        class_=f"bx-card-verdict {kind}",
        role="status",
    )


def _details(checked: VerificationReport) -> str:
    files, texts, outputs = len(checked.files), len(checked.texts), len(checked.outputs)
    largest = number(checked.difference)
    if checked.ok:
        return (
            f"All {files:,} files are the same to the bit, {texts:,} stored texts give the same "
            f"tokens, and {checked.compared:,} numbers computed again differ from the stored ones "
            f"by {largest} at most."
        )
    counted = [
        f"{wrong:,} {words}"
        for wrong, words in (
            (_wrong(checked.files), f"of {files:,} files differ"),
            (_wrong(checked.texts), f"of {texts:,} stored texts give other tokens"),
            (
                _wrong(checked.outputs),
                f"of {outputs:,} outputs differ by more than is allowed, the worst by {largest}",
            ),
        )
        if wrong
    ]
    return " ".join([*(["; ".join(counted) + "."] if counted else []), visible(checked.failure)])


def _wrong(checks: Sequence[FileCheck | TextCheck | OutputCheck]) -> int:
    return sum(not check.ok for check in checks)


def report(found: Verified) -> Html:
    """Draw the evidence for the verdict; a table is open if something in it disagrees."""
    checked = found.report
    other = [tag("li", tag("bdi", visible(each.text))) for each in checked.texts if not each.ok]
    outputs = [
        (
            join(tag("strong", visible(each.class_name)), tag("br"),
                 tag("small", visible(each.output))),
            f"{each.compared:,}",
            number(each.difference),
            number(each.tolerance),
            ticked(each.ok, "yes" if each.ok else "no"),
        )
        for each in checked.outputs
    ]  # fmt: skip
    files = [
        (
            tag("strong", visible(each.path)),
            tag("code", visible(each.expected) or "no such file"),
            tag("code", visible(each.found) or "no such file"),
            ticked(each.ok, "yes" if each.ok else "no"),
        )
        for each in checked.files
    ]
    heads = ("output", "numbers", "off by", "allowed", "the same")
    hashes = ("file", "expected SHA-256", "found SHA-256", "the same")
    return join(
        tag("p", "Texts that are cut into other tokens:") if other else "",
        tag("ul", *other) if other else "",
        fold(
            f"{len(outputs):,} outputs computed again",
            record_table("Outputs computed again", heads, outputs, compact=True),
            line("“Off by” is the largest absolute difference from a stored number."),
            is_open=_wrong(checked.outputs) > 0,
        ),
        fold(
            f"{len(files):,} files and their hashes",
            record_table("Files and their hashes", hashes, files),
            is_open=_wrong(checked.files) > 0,
        ),
    )


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
