"""Score many pairs of sentences, pasted as a table."""

import csv
from typing import Annotated

import torch

from app.engine.compute.recent import RECENT
from app.engine.models import Engine
from app.features.next_sentence.result import IS_NEXT, IS_RANDOM
from app.features.next_sentence.result_pairs import PairScore, PairsResult
from app.records.fields import Field
from app.records.lines import MOST
from bert_core import BertForNextSentencePrediction
from bert_core.errors import InputError
from bert_core.reading.running import Progress
from bert_core.reading.unread import unread

_HEADS = ({"first", "second"}, {"text", "text_pair"}, {"sentence1", "sentence2"})

_LABEL = f"Pairs, one per line (at most {MOST}): two sentences, a tab or comma between"


def next_sentence_pairs(
    engine: Engine,
    pairs: Annotated[str, Field(_LABEL, lines=6)],
    progress: Progress | None = None,
) -> PairsResult:
    """Judge for each of many pairs whether the second sentence follows the first.

    Args:
        engine: the model.
        pairs: one pair per line: two sentences with a tab, or a comma, between them; quotes
            around a sentence that contains commas.
        progress: called after each group of pairs with the number done and the total.

    Raises:
        InputError: the table cannot be read, is empty or too long, or a sentence has no pieces.
    """
    read = read_pairs(pairs)
    rows = RECENT.get(
        ("pairs", engine.provenance.fingerprint, read),
        make=lambda: _score(engine, read, progress),
        size=lambda rows: 4 * len(pairs) + 300 * len(rows),
    )
    return PairsResult(rows)


def read_pairs(table: str) -> tuple[tuple[str, str], ...]:
    r"""Read pairs of sentences: separated by a tab, or by a comma, with quotes around commas.

    A first line that names the columns is left out.

    Raises:
        InputError: a line has not exactly two columns, or there are no lines, or too many.

    >>> read_pairs('first,second\n"Yes, it rained.",We stayed in.')
    (('Yes, it rained.', 'We stayed in.'),)
    """
    lines = table.splitlines()
    try:
        # Tables separated by tabs are rarely quoted; a quotation mark in them is part of the text.
        rows = (
            list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
            if "\t" in table
            else list(csv.reader(lines, skipinitialspace=True))
        )
    except csv.Error as error:
        raise InputError(f"The table cannot be read as CSV: {error}.") from None
    found: list[tuple[str, str]] = []
    for number, row in enumerate(rows, start=1):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if len(cells) != 2 or not all(cells):
            filled = sum(map(bool, cells))
            raise InputError(
                f"Row {number} has {filled} sentence{'s' * (filled != 1)}; expected 2, with a tab "
                "or a comma between them. Put quotes around a sentence that contains commas."
            )
        if found or {cell.lower() for cell in cells} not in _HEADS:
            found.append((cells[0], cells[1]))
    if not 1 <= len(found) <= MOST:
        raise InputError(f"Found {len(found):,} pairs; expected 1 to {MOST}.")
    return tuple(found)


def _score(
    engine: Engine, pairs: tuple[tuple[str, str], ...], progress: Progress | None
) -> tuple[PairScore, ...]:
    """Read all pairs."""
    encodings = [engine.tokenizer.encode(*pair, max_length=engine.max_length) for pair in pairs]
    for number, encoding in enumerate(encodings, start=1):
        if {0, 1} - set(encoding.sequence_ids):
            raise InputError(
                f"In pair {number}, a sentence has no piece that the model reads. Write a word."
            )
    logits = engine.logits(BertForNextSentencePrediction, encodings, progress).double()  # (N, 2)
    scale = engine.calibration(BertForNextSentencePrediction)
    shares = torch.softmax(logits / scale.temperature, dim=-1)[:, IS_NEXT].tolist()
    return tuple(
        PairScore(
            *pair,
            follows=share,
            logits=(row[IS_NEXT], row[IS_RANDOM]),
            cut=encoding.truncated,
            unread=unread(engine.tokenizer, [encoding]).anything,
        )
        for pair, share, row, encoding in zip(
            pairs, shares, logits.tolist(), encodings, strict=True
        )
    )
