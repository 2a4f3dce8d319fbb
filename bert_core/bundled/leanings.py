"""Occupational bias of a model: reading and writing `bias.json` in its folder.

It is measured with two kinds of prompts: sentences that name an occupation and mask the pronoun,
and sentences that name the pronoun and mask the occupation. Every number is a log-odds in nats: 0
is even, 0.7 twice as likely, 2.3 ten times, 4.6 a hundred times; positive means that the first word
is likelier, negative the second.
"""

from dataclasses import asdict, dataclass
from pathlib import Path

from bert_core.bundled.records import as_json, built, read_json, write_json

BIAS = "bias.json"


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
    write_json(folder, BIAS, as_json(asdict(bias)))


def read_bias(folder: str | Path) -> Bias:
    """Read the bias of a model from its folder.

    Raises:
        MissingFileError: the folder has no `bias.json`.
        CheckpointError: the file is damaged.
    """
    return built(Bias, read_json(folder, BIAS), BIAS)
