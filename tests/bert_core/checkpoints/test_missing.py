"""Weights that lack part of BERT's embeddings or layers are refused; heads and poolers may lack."""

import re

import pytest
import torch

from bert_core import load_tf_weights_in_bert
from bert_core.errors import CheckpointError
from bert_core.model.bert import BertModel
from bert_core.model.heads import BertForMaskedLM, BertForPreTraining
from bert_core.model.kinds import KINDS
from tests.tensorflow_files import write_checkpoint

CLASSES = [kind.cls for kind in KINDS.values()]
WORDS = "embeddings.word_embeddings.weight"
SHARED_NAMES = (WORDS, "embeddings.LayerNorm.bias", "encoder.layer.1.attention.self.value.weight")


@pytest.fixture
def full(make_config):
    torch.manual_seed(3)
    return BertForPreTraining(make_config()).eval()


def without(model, *bare_names):
    """The weights of a model, less those of some bare names, and less tied copies."""
    dropped = {*bare_names, "cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}
    state = model.state_dict().items()
    return {name: value for name, value in state if name.removeprefix("bert.") not in dropped}


def lacks(*names):
    return pytest.raises(CheckpointError, match=r" lack " + re.escape(", ".join(names)))


@pytest.mark.parametrize("name", SHARED_NAMES)
@pytest.mark.parametrize("cls", CLASSES)
def test_every_class_names_what_is_missing_as_it_calls_it(cls, name, full, write_folder):
    folder = write_folder(full.config, without(full, name))
    with lacks(name if cls is BertModel else f"bert.{name}"):
        cls.from_pretrained(folder)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_pooler_and_a_head_may_be_missing(cls, full, write_folder):
    encoder = {name: value for name, value in without(full).items() if not name.startswith("cls.")}
    bare = {name: value for name, value in encoder.items() if ".pooler." not in name}
    report = cls.from_pretrained(write_folder(full.config, bare)).load_report
    shared = set(bare)
    model = cls(full.config)
    prefix = "bert." if cls is BertModel else ""
    assert set(report.missing) == {
        name for name, _ in model.named_parameters() if prefix + name not in shared
    }


def test_the_rule_holds_for_weights_that_a_caller_gives(tiny, write_folder):
    folder = write_folder(tiny.config)
    with lacks(WORDS):
        BertModel.from_pretrained(folder, state_dict=without(tiny, WORDS))
    with lacks(WORDS):  # random weights come from BertModel(config)
        BertModel.from_pretrained(folder, state_dict={})


def test_a_model_is_not_touched_by_a_tensorflow_checkpoint_that_lacks_something(tiny, tmp_path):
    write_checkpoint(tmp_path / "bert_model.ckpt", without(tiny, SHARED_NAMES[2]))
    model = BertModel(tiny.config)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with lacks(SHARED_NAMES[2]):
        load_tf_weights_in_bert(model, tmp_path)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_a_head_folder_may_supply_what_the_root_lacks(full, write_folder, make_config):
    name = "encoder.layer.1.output.dense.bias"
    folder = write_folder(full.config, without(full, name))
    (folder / "heads").mkdir()
    own = {f"bert.{name}": torch.rand(32)}
    write_folder(make_config(), own, name="model/heads/BertForMaskedLM")
    assert BertForMaskedLM.from_pretrained(folder).load_report.missing == ()
    with lacks(f"bert.{name}"):
        BertForPreTraining.from_pretrained(folder)


def test_weights_of_nothing_are_refused(tiny, write_folder):
    with pytest.raises(CheckpointError, match="no part of BERT's encoder"):
        BertModel.from_pretrained(write_folder(tiny.config, {"classifier.bias": torch.ones(2)}))
    with pytest.raises(CheckpointError, match="nothing"):
        BertModel.from_pretrained(write_folder(tiny.config, {}, pickle=True, name="empty"))


def test_what_a_class_of_ones_own_adds_to_a_layer_starts_afresh(tiny, write_folder):
    class Adapted(BertModel):
        def __init__(self, config, *inputs, **arguments):
            super().__init__(config, *inputs, **arguments)
            self.encoder.layer[0].output.adapter = torch.nn.Linear(32, 32)

    found = Adapted.from_pretrained(write_folder(tiny.config, tiny.state_dict()))
    place = "encoder.layer.0.output.adapter"
    assert found.load_report.missing == (f"{place}.weight", f"{place}.bias")
