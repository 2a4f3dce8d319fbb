"""Guess the hidden words of many sentences, and count the guesses that are wanted."""

from typing import Annotated

from torch import Tensor

from app.engine.compute.recent import RECENT
from app.engine.models import Engine
from app.features.fill_mask.result_lines import Gap, GapsResult
from app.features.fill_mask.task import masks_of, probabilities
from app.records.counted import Share, reliability
from app.records.fields import Field
from app.records.lines import MOST, Line, alternatives, read_lines
from bert_core import BertForMaskedLM
from bert_core.errors import InputError
from bert_core.reading.gaps import read_signs, written_before
from bert_core.reading.running import Progress

_LABEL = f"Sentences with a gap, one per line (at most {MOST}); the wanted word after a tab or |"


def fill_mask_lines(
    engine: Engine,
    gaps: Annotated[str, Field(_LABEL, lines=6)],
    progress: Progress | None = None,
) -> GapsResult:
    """Guess the hidden words of many sentences, and count the guesses that are the wanted word.

    Args:
        engine: the model.
        gaps: one sentence with [MASK] per line; after a tab or a vertical bar the word that is
            wanted, others that count as right after further bars; commas between several gaps.
        progress: called after each line with the number done and the total.

    Raises:
        InputError: there are no lines, or more than 500 lines or gaps, or one has no gap or other
            than one wanted word for each gap.
    """
    read = read_lines(gaps, "sentences")
    rows = RECENT.get(
        ("gaps", engine.provenance.fingerprint, read),
        make=lambda: _fill(engine, read, progress),
        size=lambda rows: 4 * len(gaps) + 300 * len(rows),
    )
    counted = [(row.probability, row.right) for row in rows if row.right is not None]
    return GapsResult(
        rows,
        Share.of([right for _, right in counted]),
        reliability("your gaps", counted) if counted else None,
        engine.calibration(BertForMaskedLM),
    )


def _fill(engine: Engine, lines: tuple[Line, ...], progress: Progress | None) -> tuple[Gap, ...]:
    """Fill the gaps of all lines, one line after the other."""
    rows: list[Gap] = []
    for done, line in enumerate(lines, start=1):
        text, _ = read_signs(line.text, engine.tokenizer.mask_token)
        found = probabilities(engine, text)
        wanted = line.more.split(",") if line.more else [""] * len(found)
        if not found:
            raise InputError(
                f"Line {line.number} has no gap. Write [MASK] or ___ in place of a word."
            )
        if len(found) != len(wanted):
            raise InputError(
                f"Line {line.number} has {len(found)} gap{'s' * (len(found) > 1)} and "
                f"{len(wanted)} wanted word{'s' * (len(wanted) > 1)}; expected one word for each "
                "gap. Put commas between the words of several gaps, and bars between words that "
                "are all right."
            )
        whole = engine.tokenizer.encode(text)
        befores = [written_before(whole, mask) for mask in masks_of(engine, whole)]
        rows += [
            _gap(engine, Line(line.number, text, words.strip()), number, shares, before)
            for number, (shares, words, before) in enumerate(
                zip(found, wanted, befores, strict=True), start=1
            )
        ]
        if len(rows) > MOST:
            raise InputError(f"Found more than {MOST} gaps by line {line.number}. Remove some.")
        if progress is not None:
            progress(done, len(lines))
    return tuple(rows)


def _gap(engine: Engine, line: Line, number: int, shares: Tensor, before: str) -> Gap:
    """Compare the probabilities (V,) of a gap with the words that are wanted in a line."""
    guess = int(shares.argmax())
    named = (engine.entry(word, before) for word in alternatives(line.more))
    best = max((float(shares[id_]) for id_ in named if id_ is not None), default=None)
    rank = None if best is None else int((shares > best).sum()) + 1
    word, right = engine.readable(guess), None if rank is None else rank == 1
    own = float(shares[guess])
    return Gap(line.number, number, line.text, word, own, line.more, best, rank, right)
