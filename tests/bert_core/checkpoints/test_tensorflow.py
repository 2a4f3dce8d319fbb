"""Checkpoints that `tf.compat.v1.train.Saver` of TensorFlow 2.21.0 wrote, read without TensorFlow.

Beside them, `expected.npz` has the values under the names and in the layout of published PyTorch
checkpoints.
"""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from bert_core import load_tf_weights_in_bert
from bert_core.checkpoints.formats.weights import open_weights
from bert_core.config import BertConfig
from bert_core.errors import CheckpointError, InputError, MissingFileError
from bert_core.model.bert import BertModel
from bert_core.model.heads import (
    BertForMaskedLM,
    BertForNextSentencePrediction,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from tests.tensorflow_files import write_bundle

WRITTEN = Path(__file__).parent / "tensorflow"


def expected_of(folder):
    with np.load(WRITTEN / folder / "expected.npz", allow_pickle=False) as arrays:
        return {name: torch.from_numpy(arrays[name]) for name in arrays}


@pytest.fixture
def copy_of(tmp_path):
    """A copy of a written checkpoint that a test may change."""

    def copy(folder):
        shutil.copytree(WRITTEN / folder, tmp_path / folder)
        (tmp_path / folder / "expected.npz").unlink(missing_ok=True)
        return tmp_path / folder

    return copy


@pytest.fixture
def as_safetensors(tmp_path):
    """The same weights in a folder as `transformers` would leave it."""

    def write(folder):
        place = tmp_path / f"{folder}-safetensors"
        place.mkdir()
        shutil.copy(WRITTEN / folder / "bert_config.json", place / "config.json")
        save_file(expected_of(folder), place / "model.safetensors", metadata={"format": "pt"})
        return place

    return write


@pytest.mark.parametrize("folder", ["pretraining", "classifier", "questions"])
def test_every_tensor_is_read_bit_for_bit(folder):
    expected = expected_of(folder)
    tensors = open_weights(WRITTEN / folder)
    assert set(tensors) == set(expected)
    for name, tensor in tensors.items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, expected[name]), name


@pytest.mark.parametrize(
    ("folder", "cls"),
    [
        ("pretraining", BertForPreTraining),
        ("pretraining", BertForMaskedLM),
        ("pretraining", BertForNextSentencePrediction),
        ("pretraining", BertModel),
        ("classifier", BertForSequenceClassification),
        ("classifier", BertForTokenClassification),
        ("questions", BertForQuestionAnswering),
    ],
)
def test_a_model_answers_as_with_the_same_weights_from_safetensors(folder, cls, as_safetensors):
    options = {"num_labels": 3} if folder == "classifier" else {}
    ours = cls.from_pretrained(WRITTEN / folder, **options)
    peer = cls.from_pretrained(as_safetensors(folder), **options)
    assert not ours.training
    assert ours.load_report.missing == peer.load_report.missing == ()
    assert sorted(ours.load_report.unexpected) == sorted(peer.load_report.unexpected)
    assert ours.load_report.source == str(WRITTEN / folder)
    for name, value in peer.state_dict().items():
        assert torch.equal(ours.state_dict()[name], value), name


def test_from_tf_prefers_the_tensorflow_checkpoint_of_a_folder(copy_of):
    folder = copy_of("pretraining")
    other = BertForPreTraining(BertConfig.from_json_file(folder / "bert_config.json"))
    save_file(
        {k: v.clone() for k, v in other.state_dict().items() if "decoder" not in k},
        folder / "model.safetensors",
    )
    bias = "cls.seq_relationship.bias"
    plain = BertForPreTraining.from_pretrained(folder)
    assert torch.equal(plain.state_dict()[bias], other.state_dict()[bias])
    ours = BertForPreTraining.from_pretrained(folder, from_tf=True)
    assert torch.equal(ours.state_dict()[bias], expected_of("pretraining")[bias])


def test_from_tf_without_a_checkpoint_says_what_was_expected(tiny, write_folder):
    folder = write_folder(tiny.config, tiny.state_dict())
    with pytest.raises(MissingFileError, match=r"no TensorFlow checkpoint.*bert_model.ckpt.index"):
        BertModel.from_pretrained(folder, from_tf=True)


def test_the_file_checkpoint_says_which_of_several_is_meant(copy_of):
    folder = copy_of("classifier")
    later = expected_of("classifier")["classifier.bias"]
    # Training programs write whole paths, of a machine that is not this one.
    for said in ("model.ckpt-12", "/somewhere/run/model.ckpt-12", "gs://a/b/model.ckpt-12"):
        (folder / "checkpoint").write_text(
            f'model_checkpoint_path: "{said}"\nall_model_checkpoint_paths: "model.ckpt-7"\n'
        )
        model = BertForSequenceClassification.from_pretrained(folder, num_labels=3)
        assert torch.equal(model.classifier.bias, later)
    (folder / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-7"\n')
    model = BertForSequenceClassification.from_pretrained(folder, num_labels=3)
    assert not torch.equal(model.classifier.bias, later)


@pytest.mark.parametrize("shard", [0, 1])
def test_a_data_file_that_is_not_there_is_named(copy_of, shard):
    folder = copy_of("questions")
    victim = folder / f"model.ckpt.data-0000{shard}-of-00002"
    victim.unlink()
    with pytest.raises(MissingFileError, match=victim.name):
        BertForQuestionAnswering.from_pretrained(folder)


def test_two_variables_for_one_parameter_are_refused(tmp_path):
    both = {
        "output_weights": torch.ones(2, 3),
        "classifier/output_weights": torch.zeros(2, 3),
    }
    write_bundle(tmp_path / "a.ckpt", both)
    (tmp_path / "bert_config.json").write_text('{"vocab_size": 5}')
    with pytest.raises(CheckpointError, match=r"classifier.weight twice.*output_weights"):
        BertModel.from_pretrained(tmp_path)


@pytest.mark.parametrize("end", ["", "bert_model.ckpt", "bert_model.ckpt.index"])
@pytest.mark.parametrize("as_text", [True, False])
def test_a_model_is_filled_in_place(end, as_text):
    config = BertConfig.from_json_file(WRITTEN / "pretraining" / "bert_config.json")
    model = BertForPreTraining(config)
    before = dict(model.named_parameters())
    path = WRITTEN / "pretraining" / end
    assert load_tf_weights_in_bert(model, str(path) if as_text else path) is model
    for name, parameter in model.named_parameters():
        assert parameter is before[name]
        assert parameter.requires_grad
        assert torch.equal(parameter, expected_of("pretraining")[name])
    assert model.load_report.missing == model.load_report.unexpected == ()
    assert model.load_report.source == str(path)


@pytest.mark.parametrize("path", [None, 5, "", "  ", "a\0b", b"bert_model.ckpt"])
def test_a_path_that_is_none_is_refused(tiny, path):
    with pytest.raises(InputError, match="path of a TensorFlow checkpoint"):
        load_tf_weights_in_bert(tiny, path)
