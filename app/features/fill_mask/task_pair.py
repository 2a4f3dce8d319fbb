"""Compare two texts that differ in one word: what changes in the gaps, and which is likelier?"""

from functools import partial
from typing import Annotated

import regex
import torch

from app.engine.models import Engine
from app.features.fill_mask.result import Contrast, FillMaskResult, PairResult
from app.features.fill_mask.task import fill_mask, probabilities
from app.features.fill_mask.task_surprise import surprise
from app.records.fields import Field
from bert_core.errors import InputError

_TOP = 5  # candidates of each sentence
_SCORED = 80  # tokens of a sentence that is scored: it is read once for each of its pieces


def fill_mask_pair(
    engine: Engine,
    text: Annotated[str, Field("Text ([MASK] or ___ hides a word)", lines=3)],
    words: Annotated[str, Field("Two words to swap", key="pair", lines=1)],
) -> PairResult:
    """Swap two words; compare what fills each gap, and how much the model expects each text.

    A text of at most 80 tokens has a score, the pseudo-log-likelihood (Salazar et al. 2020): every
    piece is hidden in turn, and the logarithms of the probabilities that the model gives it are
    added up.

    Args:
        engine: the model.
        text: the text, with or without [MASK].
        words: two words with a slash between them; the text contains one or both.

    Raises:
        InputError: the words are not in the text, or it has no [MASK] and is too long for a score.
    """
    return compare(engine, fill_mask(engine, text), read_pair(words))


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
    """Swap two words, and compare the candidates of every mask and the scores of both texts.

    Raises:
        InputError: the text contains neither, a word is or becomes a mask, or there is nothing to
            compare.
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
    most = min(_SCORED, engine.max_length)
    longest = max(len(engine.tokenizer.encode(text)) for text in (first, second))
    if longest > most and not slots:
        raise InputError(
            f"The text has no [MASK] and {longest:,} tokens; texts of at most {most} are "
            "scored. Write [MASK] in place of a word, or shorten the text."
        )
    scored = (first, second) if longest <= most else ()
    scores = tuple(surprise(engine, fill_mask(engine, text)).log_likelihood for text in scored)
    return PairResult(words, (first, second), slots, scores)


def _cased(word: str, old: regex.Match[str]) -> str:
    return word[:1].upper() + word[1:] if old[0][:1].isupper() else word


def _contrasts(engine: Engine, first: torch.Tensor, second: torch.Tensor) -> tuple[Contrast, ...]:
    ids = {id_ for row in (first, second) for id_ in row.topk(min(_TOP, len(row))).indices.tolist()}
    rows = [Contrast(engine.readable(id_), float(first[id_]), float(second[id_])) for id_ in ids]
    return tuple(sorted(rows, key=lambda row: (-row.difference, row.token)))
