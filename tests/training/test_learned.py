"""What a bundle says its heads were trained on."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.settings import BUNDLED_MODEL
from bert_core.bundled import bundled_folder
from bert_core.bundled.trained_on import TRAINED_ON, read_trained_on, write_trained_on
from bert_core.errors import CheckpointError, MissingFileError
from training.learned import describe_training, drilled
from training.record import RECORD, StageRecord, read_record

MIXTURE = {"blocks": 10, "block_length": 100, "same_document": 0.4, "swapped": 0.25}
STAGE = StageRecord(
    {
        "phases": [
            {"after_step": 0, "mixture": {**MIXTURE, "same_document": 0.1}},
            {"after_step": 1000, "mixture": {**MIXTURE, "blocks": 20}},
        ]
    },
    steps=3000,
    seconds=1.0,
)


def test_pairs_are_those_of_the_last_stage_and_tokens_those_of_all(tmp_path: Path) -> None:
    (tmp_path / "heads" / "BertForSequenceClassification").mkdir(parents=True)
    describe_training(tmp_path, [STAGE, STAGE])
    found = read_trained_on(tmp_path)
    assert set(found) == {"BertModel", "BertForMaskedLM", "BertForNextSentencePrediction",
                          "BertForSequenceClassification"}  # fmt: skip
    assert "then 10 million tokens" in found["BertModel"]
    assert (
        "40 % were from one text, 25 % neighbours in reverse, 35 % from two texts"
        in (found["BertForNextSentencePrediction"])
    )
    assert found["BertForSequenceClassification"] == "sentences of film reviews (SST-2)"


def test_facts_are_named_where_a_stage_had_them(tmp_path: Path) -> None:
    phases = [{"after_step": 0, "mixture": {**MIXTURE, "relations": 29}}]
    taught = replace(STAGE, settings={"phases": phases})
    for stages, told in (([STAGE], False), ([taught, STAGE], True)):
        describe_training(tmp_path, stages)
        assert drilled(stages) is told
        assert ("facts in sentences" in read_trained_on(tmp_path)["BertForMaskedLM"]) is told


def test_rows_made_from_frames_are_named_where_a_stage_had_them(tmp_path: Path) -> None:
    (tmp_path / "heads" / "BertForSequenceClassification").mkdir(parents=True)
    phases = [{"after_step": 0, "mixture": {**MIXTURE, "tasks": {"feelings": 10, "reviews": 5}}}]
    describe_training(tmp_path, [replace(STAGE, settings={"phases": phases}), STAGE])
    found = read_trained_on(tmp_path)["BertForSequenceClassification"]
    assert found.startswith("sentences of film reviews (SST-2), of reviews of products")
    assert "negation" in found


def test_the_bundled_file_is_what_its_record_says(tmp_path: Path) -> None:
    bundle = bundled_folder(BUNDLED_MODEL)
    for head in bundle.glob("heads/*"):
        (tmp_path / "heads" / head.name).mkdir(parents=True)
    describe_training(tmp_path, read_record(bundle / RECORD))
    assert read_trained_on(bundle) == read_trained_on(tmp_path)


@pytest.mark.parametrize("damaged", ["[]", '{"a": 1}', '{"a": ""}', f'{{"a": "{"x" * 401}"}}'])
def test_a_damaged_file_is_refused(tmp_path: Path, damaged: str) -> None:
    with pytest.raises(MissingFileError):
        read_trained_on(tmp_path)
    write_trained_on(tmp_path, {})
    (tmp_path / TRAINED_ON).write_text(damaged, encoding="utf-8")
    with pytest.raises(CheckpointError, match="phrases of at most"):
        read_trained_on(tmp_path)
