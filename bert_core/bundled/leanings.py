"""Occupational bias of a model: reading and writing `bias.json` in its folder.

It is measured with two kinds of prompts: sentences that name an occupation and mask the pronoun,
and sentences that name the pronoun and mask the occupation. Every number is a log-odds in nats: 0
is even, 0.7 twice as likely, 2.3 ten times, 4.6 a hundred times; positive means that the first word
is likelier, negative the second.
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
    """A number with its 95 % interval.

    Attributes:
        value: the number.
        low: lower end of the interval.
        high: upper end of the interval.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Leaning:
    """The bias of a model in sentences about one occupation.

    Attributes:
        occupation: the occupation.
        log_odds: mean over all templates, with an interval from resampling the templates.
        open_word: mean over the templates that name the occupation and mask the word.
        open_occupation: mean over the templates that name the word and mask the occupation.
    """

    occupation: str
    log_odds: Estimate
    open_word: float
    open_occupation: float


@dataclass(frozen=True, slots=True)
class Bias:
    """The bias of a model over all occupations.

    Attributes:
        words: the two words being compared, first and second.
        templates: the sentences, with `{occupation}` and `{word}` to fill in; the one that is
            predicted is filled with [MASK].
        leanings: one per occupation, ordered from the first word to the second.
        skew: mean of the absolute log-odds over all occupations, in nats.
        share_first: share of the occupations biased towards the first word.
        neutral: log-odds for "person" with the word masked: the bias without an occupation.
    """

    words: tuple[str, str]
    templates: tuple[str, ...]
    leanings: tuple[Leaning, ...]
    skew: Estimate
    share_first: Estimate
    neutral: float


def write_bias(folder: str | Path, bias: Bias) -> None:
    """Write the bias of a model to its folder."""
    text = json.dumps(asdict(bias), indent=1, ensure_ascii=False, allow_nan=False)
    (Path(folder) / BIAS).write_text(text + "\n", encoding="utf-8")


def read_bias(folder: str | Path) -> Bias:
    """Read the bias of a model from its folder.

    Raises:
        MissingFileError: the folder has no `bias.json`.
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
    """Return a JSON object whose keys are exactly the fields of a class."""
    names = {field.name for field in fields(kind)}
    if not isinstance(value, dict) or set(value) != names:
        raise CheckpointError(
            f"{BIAS} contains {shown(value)}; expected the keys {', '.join(sorted(names))}."
        )
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise CheckpointError(f"{BIAS} contains {shown(value)}; expected a list of texts.")
    return tuple(value)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise CheckpointError(f"{BIAS} contains {shown(value)}; expected a finite number.")
    return float(value)
