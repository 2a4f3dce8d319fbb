"""The file of a model's leanings: written, read, and refused where it is damaged."""

import json
from pathlib import Path
from typing import Any

import pytest

from bert_core.bundled.leanings import BIAS, Bias, Estimate, Leaning, read_bias, write_bias
from bert_core.errors import CheckpointError, MissingFileError

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


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("words", ["he"]),
        ("words", "he"),
        ("templates", [1]),
        ("leanings", None),
        ("leanings", [{}]),
        ("skew", {"value": 1}),
        ("skew", {"value": 1, "low": None, "high": 2}),
        ("neutral", True),
        ("more", 1),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, name: str, value: Any) -> None:
    write_bias(tmp_path, BIAS_OF_TWO)
    row = json.loads((tmp_path / BIAS).read_text(encoding="utf-8"))
    row[name] = value
    (tmp_path / BIAS).write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(CheckpointError, match=BIAS):
        read_bias(tmp_path)


def test_a_folder_without_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=BIAS):
        read_bias(tmp_path)
