"""What an export leaves beside the weights is about these weights."""

from pathlib import Path

from bert_core.finetuning import Budget
from bert_core.head_statistics import read_head_statistics, stale_because
from bert_core.verification import verify
from training.export import export
from training.mixture import MixtureSettings
from training.pretrain import pretrain
from training.stage import StageSettings

SMALL = MixtureSettings(blocks=4, block_length=32, long_every=4, sentences=2, pairs=4, splits=2)


def train(data: Path, work: Path, init: Path | str, steps: int) -> None:
    settings = StageSettings(data, work, str(init), Budget(steps=steps), 5e-3, 2, bfloat16=False)
    pretrain(settings, SMALL, say=lambda line: None)


def test_a_bundle_brings_what_it_is_verified_with_and_an_older_one_is_replaced(
    data: Path, encoder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "bundle"
    hashes = set()
    for steps in (1, 2):
        train(data, tmp_path / str(steps), encoder, steps)
        bundle = export(tmp_path / str(steps), folder)
        report = verify(folder)
        assert report.ok and report.sha256 == bundle.sha256
        assert {check.class_name for check in report.outputs} == {
            "BertModel",
            "BertForMaskedLM",
            "BertForNextSentencePrediction",
        }
        assert stale_because(read_head_statistics(folder), folder) == ""
        hashes.add(bundle.sha256)
    assert len(hashes) == 2
