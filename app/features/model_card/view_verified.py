"""What verifying a model's files found: a verdict, and everything that was compared."""

import math
from collections.abc import Sequence

from app.features.model_card.result import CheckedFile, CheckedOutput, Verified
from app.words.blocks import line, record_table, ticked
from app.words.html import Html, join, tag, visible

FILES = ("file", "expected SHA-256", "found SHA-256", "the same")
OUTPUTS = ("output", "numbers", "largest", "off by", "allowed", "the same")


def offer(verifiable: bool) -> Html:
    """Say what a verification does, or that there is nothing to compare with."""
    if verifiable:
        says = (
            "Reads all files again, hashes them, and computes a few stored texts with them: hashes "
            "and results must be those that were stored when the model was written."
        )
    else:
        says = (
            "There is nothing to compare with: no verification.json and verification.safetensors "
            "lie beside these weights. The bundled model has them."
        )
    return tag("p", says)


def report(found: Verified) -> Html:
    """Draw the verdict and all that it rests on."""
    outputs = f"{len(found.outputs):,} outputs computed again"
    files = f"{len(found.files):,} files and their hashes"
    return join(
        verdict(found),
        texts_note(found),
        _fold(outputs, join(outputs_table(found), outputs_note()), found.outputs),
        _fold(files, files_table(found), found.files),
        what_it_proves(),
    )


def _fold(
    title: str, content: Html, checks: Sequence[CheckedFile] | Sequence[CheckedOutput]
) -> Html:
    """Fold a table away, unless something in it disagrees."""
    all_agree = all(check.ok for check in checks)
    is_open = None if all_agree else "open"
    return tag("details", tag("summary", title), content, class_="bx-card-fold", open=is_open)


def verdict(found: Verified) -> Html:
    """Say at one glance whether everything agrees; colour, sign and words say the same."""
    head = "Verified: the files are what they should be." if found.ok else _head_of_failure(found)
    return tag(
        "div",
        tag("span", "✓" if found.ok else "✗", class_="bx-card-sign", aria_hidden="true"),
        tag("p", tag("strong", head), " ", _details(found), tag("br"), _when(found)),
        class_=f"bx-card-verdict {'bx-yes' if found.ok else 'bx-no'}",
        role="status",
    )


def _head_of_failure(found: Verified) -> str:
    return f"Not verified: {visible(found.model)} is not the model that was written."


def _details(found: Verified) -> str:
    """Count what was compared, and what disagrees."""
    wrong = [file for file in found.files if not file.ok]
    bad = [output for output in found.outputs if not output.ok]
    numbers = sum(output.compared for output in found.outputs)
    if found.ok:
        return (
            f"All {len(found.files):,} files are the same to the bit, {found.texts:,} stored texts "
            f"give the same tokens, and {numbers:,} numbers computed again differ from the stored "
            f"ones by {number(_largest(found.outputs))} at most."
        )
    said = [
        f"{len(wrong):,} of {len(found.files):,} files differ" if wrong else "",
        f"{len(found.wrong_texts):,} of {found.texts:,} stored texts give other tokens"
        if found.wrong_texts
        else "",
        f"{len(bad):,} of {len(found.outputs):,} outputs differ by more than is allowed, the worst "
        f"by {number(_largest(found.outputs))}"
        if bad
        else "",
    ]
    counted = "; ".join(each for each in said if each)
    failure = f" {visible(found.failure)}" if found.failure else ""
    return f"{counted[:1].upper()}{counted[1:]}.{failure}" if counted else failure.strip()


def _largest(outputs: tuple[CheckedOutput, ...]) -> float:
    found = [math.inf if each.difference is None else each.difference for each in outputs]
    return max(found, default=0.0)


def _when(found: Verified) -> Html:
    """Say when the files were read, and whether they are those that this program loaded."""
    clock = f"{found.began:%d %B %Y, %H:%M:%S} UTC"
    read = f"Files read on {clock}, in {found.seconds:.1f} s."
    if not found.loaded:
        read += (
            " Since this program loaded them they have changed: what the pages show comes from the "
            "weights that were loaded."
        )
    return tag("span", read, class_="bx-line")


def number(value: float | None) -> str:
    """Print a difference.

    >>> number(0.0), number(3.1e-06), number(None), number(float("inf"))
    ('0', '3.1e-06', 'not computed', 'no number')
    """
    if value is None:
        return "not computed"
    if not math.isfinite(value):
        return "no number"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def outputs_table(found: Verified) -> Html:
    """Draw what was computed again, output by output."""
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
        for each in found.outputs
    ]
    return record_table("Outputs computed again", OUTPUTS, rows, compact=True)


def _texts(numbers: tuple[int, ...]) -> str:
    """Name the stored texts that an output was computed for, counted from 0."""
    if len(numbers) == 1:
        return f", text {numbers[0]}"
    ends = f"{numbers[0]} to {numbers[-1]}" if numbers else "none"
    in_a_row = numbers == tuple(range(numbers[0], numbers[0] + len(numbers))) if numbers else True
    return f", texts {ends if in_a_row else ', '.join(map(str, numbers))}"


def files_table(found: Verified) -> Html:
    """Draw the hashes of all files, expected and found."""
    rows = [
        (
            tag("strong", visible(each.path)),
            tag("code", visible(each.expected) or "no such file"),
            tag("code", visible(each.found) or "no such file"),
            ticked(each.ok, "yes" if each.ok else "no"),
        )
        for each in found.files
    ]
    return record_table("Files and their hashes", FILES, rows)


def texts_note(found: Verified) -> Html:
    """Name the stored texts that are cut into other tokens than before."""
    if not found.wrong_texts:
        return join()
    items = [tag("li", tag("bdi", visible(each))) for each in found.wrong_texts]
    return join(tag("p", "Texts that are cut into other tokens:"), tag("ul", *items))


def outputs_note() -> Html:
    """Say what the numbers of the table are."""
    return line(
        "“Largest” is the largest stored number, “off by” the largest absolute difference to one; "
        "both in the unit of the output: logits are plain numbers, attention is a share of 1. What "
        "is allowed grows with the largest stored number, because "
        "processors round differently."
    )


def what_it_proves() -> Html:
    """Say what a verdict means, and what it does not."""
    return line(
        "A tick says that the files have the bits they had when the model was written, and that "
        "this computer works out what they say. It does not say where they come from: whoever can "
        "change weights can change what lies beside them, so compare a hash with one from a place "
        "that they cannot reach. Nor does it say that the model is good."
    )
