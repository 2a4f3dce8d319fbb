"""The model card, made from the files of a bundle alone."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from app.settings import BUNDLED_MODEL, ROOT
from bert_core.bundled import bundled_folder
from bert_core.bundled.figures import Bin, Figure, read_figures
from bert_core.bundled.leanings import Bias, Estimate, Leaning, read_bias
from bert_core.config import HAS_ANSWER, TEMPERATURES_FITTED_ON, BertConfig
from tests.training.conftest import SMALL, quiet, settings
from training.card import figure_table, reached, sources
from training.evaluation import Measured
from training.export import describe_bundle, export
from training.lessons import run_stage
from training.record import RECORD, read_record
from training.scores import error_aim

HEADINGS = (
    *("Uses", "Limits", "Bias", "Evaluation", "Calibration", "Training", "Licence", "Files"),
)
EVEN = Estimate(0.5, 0.4, 0.6)
JOBS = (Leaning("nurse", Estimate(-2.0, -3.0, -1.0), -3.0, -1.0),)
BIAS = Bias(("he", "she"), ("The {occupation} said {word} knew.",), JOBS, EVEN, EVEN, 1.25)
FIGURES = (
    Figure("a", "b", 0.617, 0.595, 0.638, 2000, "right", floor=0.62, goal=0.61),
    Figure("choice", "c", 0.31, 0.26, 0.38, 200, "chosen", 0.25, 0.45, chance=0.25),
    Figure("error", "d", 0.03, 0.02, 0.05, 50, "off", 0.04, 0.02, lower_is_better=True),
    Figure("reported", "e", 0.5, 0.4, 0.6, 90, "right"),
)


@pytest.fixture
def work(data: Path, encoder: Path, tmp_path: Path) -> Path:
    run_stage("pretrain", settings(data, tmp_path / "work", encoder, 2), SMALL, say=quiet)
    return tmp_path / "work"


@pytest.fixture
def bundle(work: Path, tmp_path: Path) -> Path:
    export(work, tmp_path / "bundle")
    return tmp_path / "bundle"


def card_of(folder: Path, measured: Measured) -> str:
    describe_bundle(folder, measured)
    return (folder / "README.md").read_text(encoding="utf-8")


def test_the_table_shows_cases_intervals_and_chance() -> None:
    lines = figure_table(FIGURES).splitlines()
    assert lines[2:4] == [
        "| a | b | 2,000 | 61.7 % (59.5–63.8) |",
        "| choice | c | 200 | 31.0 % (26.0–38.0), chance 25 % |",
    ]
    assert reached(FIGURES) == (
        "2 of 3 figures reach the minimum set before training, 1 of 3 their goal."
    )


def test_a_card_says_everything_once(bundle: Path) -> None:
    (bundle / "reading.md").write_text("### Read\n\nIt rained all day.", encoding="utf-8")
    (bundle / "verification.json").touch()
    card = card_of(bundle, Measured((), BIAS, ("sentiment: no trained head",)))
    for heading in HEADINGS:
        assert card.count(f"\n## {heading}\n") == 1, heading
    for text in (
        "It rained all day.",
        "Not measured: sentiment: no trained head.",
        "| `BertForMaskedLM` | 1.000 | – |",
        "| nurse | she | 7.4 | -2.00 | -3.00 to -1.00 |",
        "python -m bert_core verify explorer-mini-uncased",
        "| 1 | pretraining | 2 |",
    ):
        assert text in card
    assert "the log-odds are +1.25" in " ".join(card.split())
    assert all(f"| {each.text} | {each.origin} |" in card for each in sources("Texts"))
    assert read_bias(bundle) == BIAS and read_figures(bundle) == ()
    (bundle / "verification.json").unlink()
    card = card_of(bundle, Measured((), None, ()))
    assert "verify" not in card  # nothing is stored that could be compared
    assert "## Bias\n\nNot measured." in card and not (bundle / "bias.json").exists()


def test_heads_are_named_with_their_sources_and_temperatures(bundle: Path) -> None:
    config = BertConfig(str(bundle / "config.json"))
    config.temperatures = {"BertForQuestionAnswering": 0.9, HAS_ANSWER: 2.5}
    config.extra[TEMPERATURES_FITTED_ON] = {HAS_ANSWER: "both kinds of rows"}
    for name in ("BertForMultipleChoice", "BertForQuestionAnswering"):
        (bundle / "heads" / name).mkdir(parents=True)
        config.to_json_file(bundle / "heads" / name / "config.json")
    aim = error_aim("best span", "a file")
    figure = replace(aim.found(0.021, (0.01, 0.03), 90), bins=(Bin(90, 0.7, 0.6),))
    card = card_of(bundle, Measured((figure,), BIAS, ()))
    flat = " ".join(card.split())
    assert "answers questions about a passage and chooses between continuations" in flat
    assert all(f"| {each.text} | {each.origin} |" in card for each in sources("Labelled rows"))
    for text in (
        "ODC-BY 1.0",
        "the repository states none",
        "| `BertForQuestionAnswering` | 0.900 | – |",
        f"| `{HAS_ANSWER}` | 2.500 | both kinds of rows |",
        "| best span | a file | 2.1 % (1.0–3.0) | 70.0 % | 60.0 % |",
    ):
        assert text in card


def test_the_bundled_card_and_the_notice_name_every_source() -> None:
    bundle = bundled_folder(BUNDLED_MODEL)
    card = (bundle / "README.md").read_text(encoding="utf-8")
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    found = [*sources("Texts"), *sources("Labelled rows")]
    assert len(found) > 25
    for each in found:
        assert f"| {each.text} | {each.origin} | {each.licence} |" in card
    for each in sources("Evaluation only"):
        for repository in re.findall(r"[\w.-]+/[\w.-]+(?= @)", each.origin):
            assert repository in notice, repository
    assert f"{(bundle / 'README.md').relative_to(ROOT)}" in notice
    assert "Copyright (c) 2026 Matt" in notice and "2006 by Princeton University" in notice
    stages = read_record(bundle / RECORD)
    assert card.count("| pretraining | ") + card.count("| all tasks | ") == len(stages)
