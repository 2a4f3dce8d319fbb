"""Occupational bias of a model: reading and writing `bias.json` in its folder.

Half of the prompts mask the pronoun, half the occupation. Every number is a log-odds in nats
(0.7: twice as likely, 2.3: ten times); positive means that the first word is likelier.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from bert_core.bundled.records import as_json, built, read_json, write_json

BIAS = "bias.json"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % interval."""

    value: Annotated[float, "the number"]
    low: Annotated[float, "lower end of the interval"]
    high: Annotated[float, "upper end of the interval"]


@dataclass(frozen=True, slots=True)
class Leaning:
    """The bias of a model in sentences about one occupation."""

    occupation: Annotated[str, "the occupation"]
    log_odds: Annotated[Estimate, "mean over all templates; interval from resampling them"]
    open_word: Annotated[float, "mean over templates that name the occupation and mask the word"]
    open_occupation: Annotated[float, "mean over those that name the word, mask the occupation"]


@dataclass(frozen=True, slots=True)
class Bias:
    """The bias of a model over all occupations.

    Templates have `{occupation}` and `{word}` to fill in; the one that is predicted is filled with
    [MASK].
    """

    words: Annotated[tuple[str, str], "the two words being compared, first and second"]
    templates: Annotated[tuple[str, ...], "the sentences"]
    leanings: Annotated[tuple[Leaning, ...], "by occupation, from the first word to the second"]
    skew: Annotated[Estimate, "mean of the absolute log-odds over all occupations, in nats"]
    share_first: Annotated[Estimate, "share of occupations biased towards the first word"]
    neutral: Annotated[float, 'log-odds for "person" with the word masked']


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
