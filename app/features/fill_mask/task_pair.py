"""Compare two sentences that differ in one word: what changes at the mask?"""

from functools import partial
from typing import Annotated

import regex
import torch

from app.engine.models import Engine
from app.features.fill_mask.result import Contrast, FillMaskResult, PairResult
from app.features.fill_mask.task import probabilities, with_masks
from app.records.fields import Field
from bert_core.errors import InputError

_TOP = 5  # candidates of each sentence


def fill_mask_pair(
    engine: Engine,
    text: Annotated[str, Field("Text ([MASK] or ___ hides a word)", lines=3)],
    words: Annotated[str, Field("Two words to swap", key="pair", lines=1)],
) -> PairResult:
    """Swap two words, and compare what the model writes at each [MASK].

    Args:
        engine: the model.
        text: the text, with at least one [MASK].
        words: two words with a slash between them; the text contains one or both.

    Raises:
        InputError: there is no [MASK], or the words are not in the text.
    """
    return compare(engine, with_masks(engine, text), read_pair(words))


def read_pair(typed: str) -> tuple[str, str]:
    """Read two words, separated by a slash or a comma.

    Raises:
        InputError: these are not two different words.

    >>> read_pair("he / she")
    ('he', 'she')
    """
    words = [word.strip() for word in regex.split(r"[/,]", typed)]
    if len(words) != 2 or not all(words) or words[0].lower() == words[1].lower():
        raise InputError("Expected two different words with a slash between them, as in: he / she.")
    return words[0], words[1]


def compare(engine: Engine, found: FillMaskResult, words: tuple[str, str]) -> PairResult:
    """Swap two words, and compare the candidates of every mask.

    Args:
        engine: the model.
        found: the answer for the text as it is; at least one mask.
        words: two words, of which the text contains one or both.

    Raises:
        InputError: the text contains neither, or a word is or becomes a mask.
    """
    either = regex.compile(
        rf"(?<![\w\[])(?:{regex.escape(words[0])}|{regex.escape(words[1])})(?!\w)", regex.IGNORECASE
    )
    if not either.search(found.text):
        raise InputError(
            f"The text contains neither “{words[0][:40]}” nor “{words[1][:40]}”. Name a word in "
            "the text and one to replace it."
        )
    first, second = (either.sub(partial(_cased, word), found.text) for word in words)
    rows = [probabilities(engine, text) for text in (first, second)]
    if {len(row) for row in rows} != {len(found.slots)}:
        raise InputError("These words change the gaps of the text. Name words without [MASK].")
    slots = tuple(_contrasts(engine, a, b) for a, b in zip(*rows, strict=True))
    return PairResult(words=words, texts=(first, second), slots=slots)


def _cased(word: str, old: regex.Match[str]) -> str:
    """Write a word with a capital where the one in its place has it."""
    return word[:1].upper() + word[1:] if old[0][:1].isupper() else word


def _contrasts(engine: Engine, first: torch.Tensor, second: torch.Tensor) -> tuple[Contrast, ...]:
    """Compare the best candidates of both sentences."""
    ids = {id_ for row in (first, second) for id_ in row.topk(min(_TOP, len(row))).indices.tolist()}
    rows = [Contrast(engine.readable(id_), float(first[id_]), float(second[id_])) for id_ in ids]
    return tuple(sorted(rows, key=lambda row: (-row.difference, row.token)))
