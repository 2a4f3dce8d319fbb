"""What a bundle says its heads were trained on."""

from pathlib import Path

from app.settings import BUNDLED_MODEL
from bert_core.bundled import bundled_folder
from bert_core.bundled.trained_on import read_trained_on
from training.learned import describe_training
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


def test_the_bundled_file_is_what_its_record_says(tmp_path: Path) -> None:
    bundle = bundled_folder(BUNDLED_MODEL)
    for head in bundle.glob("heads/*"):
        (tmp_path / "heads" / head.name).mkdir(parents=True)
    describe_training(tmp_path, read_record(bundle / RECORD))
    assert read_trained_on(bundle) == read_trained_on(tmp_path)
