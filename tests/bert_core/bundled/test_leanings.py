"""The file of a model's leanings: written, read, and refused where it is damaged."""

from pathlib import Path

import pytest

from bert_core.bundled.leanings import BIAS, Bias, Estimate, Leaning, read_bias, write_bias
from bert_core.errors import MissingFileError

BIAS_OF_TWO = Bias(
    words=("he", "she"),
    templates=("The {occupation} said that {word} was late.", "{word} is a {occupation}."),
    leanings=(
        Leaning("engineer", Estimate(1.5, 1.0, 2.0), 2.0, 1.0),
        Leaning("nurse", Estimate(-1.0, -2.0, 0.0), -2.0, 0.0),
    ),
    skew=Estimate(1.25, 1.0, 1.5),
    share_first=Estimate(0.5, 0.0, 1.0),
    neutral=0.25,
)


def test_it_comes_back_as_it_was_written(tmp_path: Path) -> None:
    write_bias(tmp_path, BIAS_OF_TWO)
    assert read_bias(tmp_path) == BIAS_OF_TWO


def test_a_folder_without_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=BIAS):
        read_bias(tmp_path)
