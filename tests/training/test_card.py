"""The model card, made from the files of a bundle alone."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from bert_core import BertTokenizer
from bert_core.bundled.figures import read_figures
from bert_core.bundled.leanings import Bias, Estimate, Leaning, read_bias
from bert_core.config import HAS_ANSWER, TEMPERATURES_FITTED_ON, BertConfig
from bert_core.errors import CheckpointError
from bert_core.finetuning import Budget
from tests.training.conftest import SMALL, quiet
from training.aims import calibration
from training.card import write_card
from training.evaluation import Measured
from training.export import describe_bundle, export
from training.lessons import run_stage
from training.long_mixture import LongSettings
from training.recipe_text import describe_stage, time_spent
from training.record import StageRecord, read_record, stage_record, write_record
from training.sources import SOURCES, TASK_SOURCES
from training.stage import SETTINGS, StageSettings
from training.trainer import StageTraining

HEADINGS = ("Licence", "Measured", "Calibration", "Bias", "Limits", "Recipe", "Data", "Hash")
EVEN = Estimate(0.5, 0.4, 0.6)
JOBS = (Leaning("nurse", Estimate(-2.0, -3.0, -1.0), -3.0, -1.0),)
BIAS = Bias(("he", "she"), ("The {occupation} said {word} knew.",), JOBS, EVEN, EVEN, 1.25)


@pytest.fixture
def work(data: Path, encoder: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    trainer = StageTraining(Budget(steps=2), 6e-4, 100)
    settings = StageSettings(data, folder, str(encoder), trainer)
    run_stage("pretrain", settings, SMALL, say=quiet)
    return folder


def stage(**changes: object) -> StageRecord:
    """A stage of two phases as a settings file tells it."""
    mixture = {
        "blocks": 10, "block_length": 100, "long_every": 8, "sentences": 4, "pairs": 6,
        "same_document": 0.4, "swapped": 0.1, "rate": 0.3, "rate_falls": 0.7, "last_rate": 0.15,
        "seed": 5,
    }  # fmt: skip
    trainer = {
        "learning_rate": 6e-4, "warmup_steps": 100, "weight_decay": 0.01, "max_grad_norm": 1.0,
        "bfloat16": True,
    }  # fmt: skip
    later = {**mixture, "blocks": 20, "everyday": 0.25, "masked_pairs_every": 4, **changes}
    phases = [
        {"after_step": 0, "mixture": mixture, "trainer": trainer},
        {
            "after_step": 600,
            "mixture": later,
            "trainer": {**trainer, "layer_decay": 0.9, "average_last": 0.1},
        },
    ]
    return StageRecord({"device": "cpu", "text_tokens": 1000, "phases": phases}, 1000, 630.0)


def test_a_stage_is_told_with_all_it_computed() -> None:
    text = describe_stage(3, stage())
    flat = " ".join(text.split())
    assert "### Stage 3: pretraining" in text
    # 600 steps of 10 blocks and 400 of 20, of 100 tokens each; six pairs in all of them
    assert "1.4 million tokens of running text and 6,000 sentence pairs" in flat
    assert "1,000 steps in 10 minutes" in flat or "1,000 steps in 11 minutes" in flat
    assert "- Steps 1 to 600: 10 packed blocks" in text
    assert "- Steps 601 to 1,000: 20 packed blocks" in text
    assert "(25 % about everyday situations)" in text
    assert "each layer at 0.9 times the rate of the one above it" in text
    assert "averaged over the last 10 % of the stage" in text
    assert "![Training loss of stage 3](curve-3.svg)" in text


def test_rows_of_multiple_choice_are_named_where_there_were_any() -> None:
    tasks = {
        "questions": 24, "unanswerable": 0.18, "short_questions": 0.2, "tags": 20,
        "partial_tags": 12, "sentiment": 20, "max_length": 320, "stride": 96,
    }  # fmt: skip
    assert "multiple choice" not in describe_stage(1, stage(tasks=tasks))
    assert "8 rows of multiple choice" in describe_stage(1, stage(tasks={**tasks, "choices": 8}))
    gapped = describe_stage(1, stage(tasks={**tasks, "gapped": 14}))
    assert "14 sentences of textbooks with a gap" in gapped


def test_the_optimizer_and_the_masked_pairs_are_named() -> None:
    told = stage()
    assert "- AdamW, peak rate" in describe_stage(1, told)
    phase = told.settings["phases"][-1]
    phase["trainer"]["optimizer"] = "muon"
    phase["mixture"]["masked_pairs_every"] = 1
    text = describe_stage(1, told)
    assert "- Muon for the matrices of the layers, AdamW for the rest, peak rate" in text
    assert "all pairs are masked too" in text
    phase["mixture"]["masked_pairs_every"] = 2
    assert "the pairs of every 2nd step are masked too" in describe_stage(1, told)


def test_the_long_pretraining_is_described() -> None:
    long = stage()
    phase = long.settings["phases"][-1]
    phase["mixture"] = asdict(LongSettings())
    phase["trainer"] |= {"decay_share": 0.25}
    text = " ".join(describe_stage(2, long).split())
    assert text.startswith("### Stage 2: long pretraining `python -m training long` in this")
    assert "level, then over the last 25 % in a straight line down to 0" in text
    assert "40 packed blocks of 128 tokens, 200 single sentences (10 % without their" in text
    assert "Of the blocks 50 % have whole words hidden" in text
    assert "Facts in sentences made from templates: 48 in each step." in text


def test_time_is_summed_and_an_unknown_clock_is_said() -> None:
    known = replace(stage(), clock=1200.0)
    assert time_spent([known, known]).splitlines()[-1] == "| all | 2,000 | 21 | 40 | |"
    rows = time_spent([stage(), known]).splitlines()
    assert rows[2].startswith("| 1 | 1,000 | 10 | – |")
    assert rows[-1] == "| all | 2,000 | 21 | – | |"


def test_the_clock_counts_from_the_first_start(work: Path) -> None:
    record = stage_record(work)
    assert record.clock is not None
    assert 0 <= record.clock < 600
    assert "started" not in record.settings
    settings = json.loads((work / SETTINGS).read_text(encoding="utf-8"))
    settings["started"] -= 3600
    (work / SETTINGS).write_text(json.dumps(settings), encoding="utf-8")
    assert stage_record(work).clock == pytest.approx(record.clock + 3600)
    del settings["started"]
    (work / SETTINGS).write_text(json.dumps(settings), encoding="utf-8")
    assert stage_record(work).clock is None


def test_records_of_before_the_clock_are_read(tmp_path: Path) -> None:
    path = tmp_path / "training.json"
    path.write_text('[{"settings": {}, "steps": 3, "seconds": 4.5, "note": "n"}]')
    assert read_record(path) == [StageRecord({}, 3, 4.5, "n", None)]
    write_record(path, read_record(path))
    assert read_record(path)[0].clock is None
    path.write_text('[{"steps": 3}]')
    with pytest.raises(CheckpointError, match="cannot be read"):
        read_record(path)


def test_a_card_says_everything_once(work: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    (work / "note.md").write_text("It rained all day.", encoding="utf-8")
    export(work, folder)
    describe_bundle(folder, Measured((), BIAS, ("sentiment: no trained head",)))
    card = (folder / "README.md").read_text(encoding="utf-8")
    for heading in HEADINGS:
        assert card.count(f"\n## {heading}\n") == 1, heading
    assert "It rained all day." in card
    assert "Not measured: sentiment: no trained head." in card
    assert "| `BertForMaskedLM` | 1.000 | – |" in card
    assert "| nurse | she | 7.4 | -2.00 | -3.00 to -1.00 |" in card
    assert "the log-odds are +1.25" in " ".join(card.split())
    assert all(source.licence in card for source in SOURCES)
    assert "python -m bert_core verify explorer-mini-uncased" in card
    assert "`head-statistics.json` records" in card
    assert read_bias(folder) == BIAS
    assert read_figures(folder) == ()
    (folder / "verification.json").unlink()
    describe_bundle(folder, Measured((), None, ()))
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "verify" not in card  # nothing is stored that could be compared
    assert "## Bias\n\nNot measured." in card
    assert not (folder / "bias.json").exists()


@pytest.mark.slow
def test_what_was_said_of_older_weights_goes_with_them(work: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    export(work, folder)
    describe_bundle(folder, Measured((), BIAS, ()))
    export(work, folder)
    left = {path.name for path in folder.iterdir()}
    assert not left & {"README.md", "figures.json", "bias.json"}
    assert BertTokenizer.from_pretrained(folder).vocab


def test_a_bundle_with_heads_names_their_sources(work: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    export(work, folder)
    for name in ("BertForMultipleChoice", "BertForQuestionAnswering"):
        (folder / "heads" / name).mkdir(parents=True)
        (folder / "heads" / name / "config.json").write_bytes((folder / "config.json").read_bytes())
    facts = {"layers": 2, "heads": 4, "hidden": 32, "vocabulary": 160, "parameters": 0.1}
    facts |= {"size": 1, "sha256": "0" * 64}
    write_card(folder, read_record(folder / "training.json"), Measured((), BIAS, ()), facts)
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "answers questions about a passage and chooses between continuations" in (
        " ".join(card.split())
    )
    assert all(f"| {source.text} | {source.origin} |" in card for source in TASK_SOURCES)
    for said in ("ODC-BY 1.0", "the repository states none", "Multiple choice is answered by"):
        assert said in card


def test_calibration_is_told_with_what_was_fitted_and_what_it_brought(
    work: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "bundle"
    export(work, folder)
    config = BertConfig(str(folder / "config.json"))
    config.temperatures = {"BertForMaskedLM": 1.25}
    config.extra[TEMPERATURES_FITTED_ON] = {"BertForMaskedLM": "rows kept apart"}
    config.to_json_file(folder / "config.json")
    aim = calibration("masked word", "a file")
    figure = replace(aim.found(0.021, (0.01, 0.03), 90), meaning=f"{aim.meaning}. Before, 7.0 %")
    describe_bundle(folder, Measured((figure,), None, ()))
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "| `BertForMaskedLM` | 1.250 | rows kept apart |" in card
    assert "| `BertForNextSentencePrediction` | 1.000 | – |" in card
    assert "- calibration error, masked word, a file: Before, 7.0 %." in card
    assert f"- calibration error, masked word: {aim.meaning}.\n" in card
    assert "| ≤ 4 %, reached | ≤ 2 %, not reached |" in card


def test_both_temperatures_of_question_answering_stand_in_the_card(
    work: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "bundle"
    export(work, folder)
    own = folder / "heads" / "BertForQuestionAnswering" / "config.json"
    own.parent.mkdir(parents=True)
    config = BertConfig(str(folder / "config.json"))
    for temperatures, rows in (
        ({"BertForQuestionAnswering": 0.9}, ["| `BertForQuestionAnswering` | 0.900 | – |"]),
        (
            {"BertForQuestionAnswering": 0.9, HAS_ANSWER: 2.5},
            [
                "| `BertForQuestionAnswering` | 0.900 | – |",
                f"| `{HAS_ANSWER}` | 2.500 | both kinds of rows |",
            ],
        ),
    ):
        config.temperatures = temperatures
        config.extra[TEMPERATURES_FITTED_ON] = {HAS_ANSWER: "both kinds of rows"}
        config.to_json_file(own)
        describe_bundle(folder, Measured((), None, ()))
        card = (folder / "README.md").read_text(encoding="utf-8")
        found = [line for line in card.splitlines() if line.startswith("| `BertForQuestionAnsw")]
        assert found == rows


@pytest.mark.slow
def test_what_a_reader_saw_is_told_of_these_weights_alone(work: Path, tmp_path: Path) -> None:
    folder = tmp_path / "read"
    export(work, folder)
    describe_bundle(folder, Measured((), None, ()))
    assert "Answers read" not in (folder / "README.md").read_text(encoding="utf-8")
    (folder / "reading.md").write_text("Most of {it} was fine.\n", encoding="utf-8")
    describe_bundle(folder, Measured((), None, ()))
    limits = (folder / "README.md").read_text(encoding="utf-8").partition("## Limits")[2]
    assert "### Answers read by a person\n\nMost of {it} was fine.\n\n## Recipe" in limits
    export(work, folder)  # other weights
    assert not (folder / "reading.md").exists()
