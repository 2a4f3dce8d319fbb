import json
import os

import pytest
import torch
from safetensors.torch import load_file

from bert_core.checkpoints.formats.safetensors_file import open_safetensors, write_safetensors
from bert_core.errors import CheckpointError
from bert_core.model.bert import BertModel
from bert_core.model.heads import (
    BertForMaskedLM,
    BertForPreTraining,
    BertForTokenClassification,
)


def test_a_saved_model_comes_back_the_same(make_config, tmp_path):
    torch.manual_seed(0)
    model = BertForPreTraining(make_config()).eval()
    model.save_pretrained(tmp_path / "deep" / "folder")
    again = BertForPreTraining.from_pretrained(str(tmp_path / "deep" / "folder"))
    assert again.load_report.missing == ()
    assert again.load_report.unexpected == ()
    for name, value in model.state_dict().items():
        assert torch.equal(again.state_dict()[name], value)
    assert sorted(os.listdir(tmp_path / "deep" / "folder")) == ["config.json", "model.safetensors"]


def test_tied_parameters_are_written_once(make_config, tmp_path):
    BertForMaskedLM(make_config()).save_pretrained(tmp_path)
    names = set(load_file(tmp_path / "model.safetensors"))
    assert "bert.embeddings.word_embeddings.weight" in names
    assert "cls.predictions.bias" in names
    assert not any(".decoder." in name for name in names)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float64])
def test_number_types_are_kept_and_named(make_config, tmp_path, kind):
    model = BertModel(make_config()).to(kind)
    model.save_pretrained(tmp_path)
    again = BertModel.from_pretrained(tmp_path, dtype="auto")
    assert again.dtype == kind
    for name, value in model.state_dict().items():
        assert torch.equal(again.state_dict()[name], value)
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["dtype"] == str(kind).removeprefix("torch.")


def test_the_config_names_type_class_and_labels(make_config, tmp_path):
    config = make_config(id2label={0: "O", 1: "PER", 2: "LOC"}, torch_dtype="float16", language="x")
    model = BertForTokenClassification(config)
    model.save_pretrained(tmp_path)
    saved = json.loads((tmp_path / "config.json").read_text())
    assert saved["model_type"] == "bert"
    assert saved["architectures"] == ["BertForTokenClassification"]
    assert saved["id2label"] == {"0": "O", "1": "PER", "2": "LOC"}
    assert saved["language"] == "x"
    assert "torch_dtype" not in saved
    assert "model_type" not in config.extra


def test_saving_over_the_folder_a_model_came_from_works(make_config, tmp_path):
    BertModel(make_config()).save_pretrained(tmp_path)
    model = BertModel.from_pretrained(tmp_path)
    with torch.no_grad():
        model.pooler.dense.bias.fill_(3)
    model.save_pretrained(tmp_path)
    assert torch.equal(
        BertModel.from_pretrained(tmp_path).pooler.dense.bias, torch.full((32,), 3.0)
    )


def test_an_interrupted_save_leaves_the_old_files(make_config, tmp_path, monkeypatch):
    model = BertModel(make_config())
    model.save_pretrained(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with torch.no_grad():
        model.pooler.dense.bias.fill_(3)
    with pytest.raises(CheckpointError, match="No space left"):
        model.save_pretrained(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_tensors_of_any_layout_and_size_are_written(tmp_path):
    tensors = {
        "turned": torch.arange(6.0).view(2, 3).T,
        "part": torch.arange(10.0)[2:5],
        "number": torch.tensor(2.5),
        "none": torch.zeros(0, 3),
        "flags": torch.tensor([True, False, True]),
        "spread": torch.ones(1).expand(4),
        "whole": torch.tensor([1, 2], dtype=torch.int64),
    }
    write_safetensors(tmp_path / "a.safetensors", tensors)
    found = load_file(tmp_path / "a.safetensors")
    assert set(found) == set(tensors)
    for name, value in tensors.items():
        assert torch.equal(found[name], value)
    found = open_safetensors(tmp_path / "a.safetensors")
    assert all(torch.equal(found[name], value) for name, value in tensors.items())
