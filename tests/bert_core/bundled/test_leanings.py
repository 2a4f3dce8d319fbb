"""The file of a model's leanings: written, read, and refused where it is damaged."""

from pathlib import Path

from bert_core.bundled.leanings import Bias, Estimate, Leaning, read_bias, write_bias

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
