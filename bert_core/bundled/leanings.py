"""Towards which of two words a model leans, as the file `bias.json` beside its weights tells it.

Measured by paired prompts: once a sentence names an occupation and leaves the pronoun open, once
it names the pronoun and leaves the occupation open. Every number is a log-odds in nats: 0 is even,
0.7 twice as likely, 2.3 ten times, 4.6 a hundred times; above 0 the first word is likelier, below
it the second.
"""

import json
import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from bert_core.errors import CheckpointError
from bert_core.small_files import parse_json, read_small, shown

BIAS = "bias.json"
_LIMIT = 1_000_000  # bytes


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Leaning:
    """Towards which word a model leans in sentences about one occupation.

    Attributes:
        occupation: which.
        log_odds: the mean over all templates, with its interval from resampling them.
        open_word: the mean over templates that name the occupation and leave the word open.
        open_occupation: the mean over templates that name the word and leave the occupation open.
    """

    occupation: str
    log_odds: Estimate
    open_word: float
    open_occupation: float


@dataclass(frozen=True, slots=True)
class Bias:
    """How one-sided a model is about occupations.

    Attributes:
        words: the two words that are compared, first and second.
        templates: the sentences; `{occupation}` and `{word}` are filled, the one that is asked
            for with [MASK].
        leanings: each occupation's, from the first word to the second.
        skew: the mean of the absolute log-odds over all occupations, in nats.
        share_first: the share of occupations that lean to the first word.
        neutral: the log-odds for "person" where the word is left open: how far the model leans
            without an occupation.
    """

    words: tuple[str, str]
    templates: tuple[str, ...]
    leanings: tuple[Leaning, ...]
    skew: Estimate
    share_first: Estimate
    neutral: float


def write_bias(folder: str | Path, bias: Bias) -> None:
    """Write it into a model's folder."""
    text = json.dumps(asdict(bias), indent=1, ensure_ascii=False, allow_nan=False)
    (Path(folder) / BIAS).write_text(text + "\n", encoding="utf-8")


def read_bias(folder: str | Path) -> Bias:
    """Read it from a model's folder.

    Raises:
        MissingFileError: it was not measured, or not written down.
        CheckpointError: the file is damaged.
    """
    found = parse_json(read_small(Path(folder) / BIAS, _LIMIT), BIAS)
    row = _row(found, Bias)
    words, templates = _texts(row["words"]), _texts(row["templates"])
    if len(words) != 2 or not isinstance(row["leanings"], list):
        raise CheckpointError(f"{BIAS} compares {shown(words)}; expected two words.")
    return Bias(
        words=(words[0], words[1]),
        templates=templates,
        leanings=tuple(_leaning(leaning) for leaning in row["leanings"]),
        skew=_estimate(row["skew"]),
        share_first=_estimate(row["share_first"]),
        neutral=_number(row["neutral"]),
    )


def _leaning(value: object) -> Leaning:
    row = _row(value, Leaning)
    return Leaning(
        occupation=_texts([row["occupation"]])[0],
        log_odds=_estimate(row["log_odds"]),
        open_word=_number(row["open_word"]),
        open_occupation=_number(row["open_occupation"]),
    )


def _estimate(value: object) -> Estimate:
    row = _row(value, Estimate)
    return Estimate(*(_number(row[name]) for name in ("value", "low", "high")))


def _row(value: object, kind: type) -> dict[str, Any]:
    """Return an object of the file that has exactly the names of a class."""
    names = {field.name for field in fields(kind)}
    if not isinstance(value, dict) or set(value) != names:
        raise CheckpointError(f"{BIAS} holds {shown(value)}; expected {', '.join(sorted(names))}.")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise CheckpointError(f"{BIAS} holds {shown(value)} where texts should stand.")
    return tuple(value)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise CheckpointError(f"{BIAS} holds {shown(value)} where a number should stand.")
    return float(value)
