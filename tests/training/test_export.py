"""What an export leaves beside the weights is about these weights."""

from pathlib import Path

import pytest
import torch

from bert_core.analysis.statistics_file import read_head_statistics, stale_because
from bert_core.errors import CheckpointError, InputError
from bert_core.model.heads import BertForPreTraining
from bert_core.verification import verify
from tests.training.conftest import SMALL, quiet, settings
from training.__main__ import main
from training.blend import Blend, blended
from training.export import export
from training.lessons import run_stage


def train(data: Path, work: Path, init: Path | str, steps: int) -> None:
    run_stage("pretrain", settings(data, work, init, steps), SMALL, say=quiet)


@pytest.mark.slow
def test_a_bundle_brings_what_it_is_verified_with_and_an_older_one_is_replaced(
    data: Path, encoder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "bundle"
    hashes = set()
    for steps in (1, 2):
        train(data, tmp_path / str(steps), encoder, steps)
        bundle = export(tmp_path / str(steps), folder)
        report = verify(folder)
        digests = {file.path: file.found for file in report.files}
        assert report.ok and digests["model.safetensors"] == bundle.sha256
        assert {check.class_name for check in report.outputs} == {
            "BertModel",
            "BertForMaskedLM",
            "BertForNextSentencePrediction",
        }
        assert stale_because(read_head_statistics(folder), folder) == ""
        hashes.add(bundle.sha256)
    assert len(hashes) == 2


@pytest.mark.slow
def test_a_blend_lies_on_the_line_between_a_training_and_what_it_began_with(
    data: Path, encoder: Path, tmp_path: Path
) -> None:
    train(data, tmp_path / "one", encoder, 1)
    export(tmp_path / "one", tmp_path / "first")
    train(data, tmp_path / "two", tmp_path / "first", 2)
    export(tmp_path / "two", tmp_path / "second")
    arguments = ["--work", str(tmp_path / "two"), "--target", str(tmp_path / "mixed")]
    blend = ["--blend", str(tmp_path / "first"), "--share", "0.25"]
    assert main(["export", *arguments, *blend]) == 0
    first, second, mixed = (
        dict(BertForPreTraining.from_pretrained(tmp_path / name).named_parameters())
        for name in ("first", "second", "mixed")
    )
    moved = 0.0
    for name, value in mixed.items():
        expected = 0.75 * second[name] + 0.25 * first[name]
        assert torch.allclose(value, expected, atol=2e-3), name  # both ends and it are float16
        moved = max(moved, float((value - second[name]).detach().abs().max()))
    assert moved > 1e-3
    assert verify(tmp_path / "mixed").ok


def test_only_a_model_of_the_same_parameters_and_a_share_are_taken(encoder: Path) -> None:
    with pytest.raises(InputError, match="give one from 0"):
        Blend(str(encoder), 1.5)
    with pytest.raises(CheckpointError, match="Name the model that it began with"):
        blended({"bert.pooler.dense.bias": torch.zeros(3)}, Blend(str(encoder), 0.5))
