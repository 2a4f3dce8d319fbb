"""Tensors beside those that a class computes with: harmless, refused by name, or only wrapped."""

import re

import pytest
import torch
from safetensors.torch import load_file, save_file

from bert_core import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
)
from bert_core.checkpoints.loading import load_sharing
from bert_core.checkpoints.plan import survey
from bert_core.errors import CheckpointError
from bert_core.families import FAMILIES
from bert_core.model.pretrained import BertPreTrainedModel
from tests.bert_core.families.conftest import make_peer

LAYER = "bert.encoder.layer.0."
IDS = torch.tensor([[1, 7, 9, 2]])


@pytest.fixture
def written(make_config, write_folder):
    """Write a model of a class with more tensors than it has."""

    def write(cls, more=(), *, rename=str, name="model", **changes):
        torch.manual_seed(5)
        model = cls(make_config(**changes)).eval()
        state = {rename(key): value for key, value in model.state_dict().items()}
        state.update({key: torch.ones(3) for key in more})
        return model, write_folder(
            {**model.config.to_dict(), "architectures": [cls.__name__]}, state, name=name
        )

    return write


@pytest.fixture
def saved_family(tmp_path):
    """Save masked-word weights of a family as `transformers` does."""

    def save(family):
        make_peer(family, "BertForMaskedLM").save_pretrained(tmp_path / family)
        return tmp_path / family

    return save


def refused(cls, folder, name, **options):
    with pytest.raises(CheckpointError, match=re.escape(name)):
        cls.from_pretrained(folder, **options)


# -- inside ---------------------------------------------------------------------------------------

INSIDE = [
    (f"{LAYER}attention.self.query.lora_A.weight", "merge_and_unload"),
    (f"{LAYER}attention.self.query.lora_B.default.weight", "merge_and_unload"),
    (f"{LAYER}attention.self.query.base_layer.weight", "merge_and_unload"),
    (f"{LAYER}attention.self.key.ia3_l.default", "merge_and_unload"),
    (f"{LAYER}attention.self.value.hada_w1_a.default", "merge_and_unload"),
    (f"{LAYER}output.adapters.sst2.adapter_down.0.weight", "Adapters"),
    (f"{LAYER}attention.self.prefix_tuning.past_key_values", "Adapters"),
    ("prefix_encoder.embedding.weight", "Adapters"),
    ("prompt_embeddings", "Adapters"),
    (f"{LAYER}crossattention.self.query.weight", "BERT"),
    (f"{LAYER}attention.self.distance_embedding.weight", "BERT"),
    (f"{LAYER}attention.self.rotary_emb.inv_freq", "BERT"),
    (f"{LAYER}attention.LayerNorm.weight", "BERT"),
    (f"{LAYER}output.dense.SCB", "quantised"),
    (f"{LAYER}output.dense.qweight", "quantised"),
    (f"{LAYER}output.dense.weight_scale", "quantised"),
    (f"{LAYER}output.dense.weight_g", "remove_parametrizations"),
    (f"{LAYER}output.dense.parametrizations.weight.original0", "remove_parametrizations"),
    ("bert.embeddings.word_embeddings.bias", "BERT"),
    ("bert.embeddings.projection.weight", "BERT"),
    ("bert.embeddings.task_type_embeddings.weight", "BERT"),
    ("bert.img_embedding.weight", "BERT"),
    ("bert.encoder.layer.2.output.dense.weight", "num_hidden_layers=2"),
]


@pytest.mark.parametrize(("name", "advice"), INSIDE)
def test_what_is_inside_the_layers_and_not_computed_is_refused_by_name(written, name, advice):
    _, folder = written(BertForMaskedLM, [name])
    for cls in (BertModel, BertForMaskedLM, BertForSequenceClassification):
        with pytest.raises(CheckpointError, match=rf"{re.escape(name)}.*{advice}"):
            cls.from_pretrained(folder)
    with pytest.raises(CheckpointError, match=re.escape(name)):
        survey(folder, [BertForMaskedLM])
    state = load_file(folder / "model.safetensors")
    refused(BertModel, folder, name, state_dict=state)


@pytest.mark.parametrize("family", FAMILIES)
def test_it_is_refused_whatever_the_family_calls_its_layers(saved_family, family):
    folder = saved_family(family)
    state = load_file(folder / "model.safetensors")
    query = next(name for name in state if re.search(r"(query|q_lin)\.weight", name))
    for more in (query.replace(".weight", ".lora_A.weight"), query.replace(".weight", ".SCB")):
        save_file({**state, more: torch.ones(2)}, folder / "model.safetensors")
        refused(BertForMaskedLM, folder, more)
        bare = {name.removeprefix(FAMILIES[family].prefix): each for name, each in state.items()}
        more = more.removeprefix(FAMILIES[family].prefix)
        save_file({**bare, more: torch.ones(2)}, folder / "model.safetensors")
        refused(BertModel, folder, more)


# -- above the encoder ----------------------------------------------------------------------------

ABOVE = [
    (BertForTokenClassification, "crf.transitions", "CRF"),
    (BertForTokenClassification, "crf.start_transitions", "CRF"),
    (BertForTokenClassification, "lstm.weight_ih_l0", "recurrent"),
    (BertForTokenClassification, "bilstm.weight_hh_l0_reverse", "recurrent"),
    (BertForTokenClassification, "classifier.LayerNorm.weight", "head"),
    (BertForTokenClassification, "slot_classifier.weight", "head"),
    (BertForSequenceClassification, "pre_classifier.weight", "head"),
    (BertForSequenceClassification, "classifier.dense.weight", "head"),
    (BertForSequenceClassification, "pooler.LayerNorm.weight", "head"),
    (BertForSequenceClassification, "classifier.weight_scale", "quantised"),
    (BertForSequenceClassification, "logit_scale", "head"),
    (BertForMultipleChoice, "attention_pooling.weight", "head"),
    (BertForQuestionAnswering, "highway.0.weight", "head"),
    (BertForMaskedLM, "cls.predictions.extra.weight", "head"),
]


@pytest.mark.parametrize(("cls", "name", "advice"), ABOVE)
def test_what_is_between_the_encoder_and_a_head_is_refused_for_this_head_alone(
    written, cls, name, advice
):
    _, folder = written(cls, [name])
    with pytest.raises(CheckpointError, match=rf"{re.escape(name)}.*{cls.__name__}.*{advice}"):
        cls.from_pretrained(folder)
    found = survey(folder, [cls, BertForPreTraining])
    assert name in found.classes[cls.__name__].refusal
    if "cls." not in name and "pooler." not in name:
        base = BertForPreTraining.from_pretrained(folder)
        assert name in base.load_report.unexpected
        assert not found.classes["BertForPreTraining"].refusal
        with pytest.raises(CheckpointError, match=re.escape(name)):
            load_sharing(cls, base, folder)


@pytest.mark.parametrize("name", ["classifier.0.weight", "classifier.out_proj.weight"])
def test_a_classifier_that_is_made_otherwise_is_no_fresh_one_unless_the_caller_wants_it(
    written, name
):
    _, folder = written(BertModel, [name])
    refused(BertForSequenceClassification, folder, name)
    anew = BertForSequenceClassification.from_pretrained(folder, ignore_mismatched_sizes=True)
    assert anew.load_report.missing == ("classifier.weight", "classifier.bias")
    assert name in BertForMaskedLM.from_pretrained(folder).load_report.unexpected


# -- harmless -------------------------------------------------------------------------------------

HARMLESS = [
    "cls.seq_relationship.weight",
    "cls.predictions.transform.dense.weight",
    "lm_head.dense.weight",
    "lm_head.bias",
    "vocab_transform.weight",
    "vocab_projector.bias",
    "generator_lm_head.weight",
    "discriminator_predictions.dense.weight",
    "sop_classifier.classifier.weight",
    "predictions.dense.weight",
    "loss_fct.weight",
    "n_averaged",
    "bert.embeddings.position_ids",
]


@pytest.mark.parametrize("cls", [BertModel, BertForTokenClassification, BertForQuestionAnswering])
def test_heads_of_other_tasks_and_buffers_change_nothing(written, cls):
    model, folder = written(cls, HARMLESS)
    found = cls.from_pretrained(folder)
    assert found.load_report.missing == ()
    assert set(found.load_report.unexpected) <= {*HARMLESS}
    first, again = model(IDS), found(IDS)
    first, again = (each if torch.is_tensor(each) else each[-1] for each in (first, again))
    assert torch.equal(first, again)


# -- wrappers -------------------------------------------------------------------------------------

WRAPPED = [
    "module.{}",
    "_orig_mod.{}",
    "model.{}",
    "module._orig_mod.model.{}",
    "base_model.model.{}",
    "0.auto_model.{}",
    "bert.{}",
    "net.bert.{}",
]


@pytest.mark.parametrize("around", WRAPPED)
def test_what_is_around_the_whole_model_is_taken_off(written, around):
    for number, cls in enumerate((BertModel, BertForMaskedLM, BertForTokenClassification)):
        model, folder = written(cls, rename=around.format, name=f"m{number}")
        found = cls.from_pretrained(folder)
        assert found.load_report.missing == found.load_report.unexpected == ()
        expected = model.state_dict()
        assert all(torch.equal(each, expected[key]) for key, each in found.state_dict().items())


@pytest.mark.parametrize("family", FAMILIES)
def test_an_encoder_of_a_class_of_ones_own_is_named_unless_it_is_only_wrapped(saved_family, family):
    folder = saved_family(family)
    path, prefix = folder / "model.safetensors", FAMILIES[family].prefix
    state = load_file(path)
    save_file({f"module.{key}": each for key, each in state.items()}, path)
    report = BertForMaskedLM.from_pretrained(folder).load_report
    assert report.missing == report.unexpected == ()
    for name in ("encoder.", "backbone.", "bert.model."):
        save_file({re.sub(f"^{prefix}", name, key): each for key, each in state.items()}, path)
        for cls in (BertModel, BertForMaskedLM):
            refused(cls, folder, f"An encoder's names begin with '{name}'")


# -- classes of one's own -------------------------------------------------------------------------


def of_ones_own(**attributes):
    class Own(BertPreTrainedModel):
        def __init__(self, config):
            super().__init__(config)
            for name in attributes.get("encoders", ("encoder",)):
                setattr(self, name, BertModel(config))
            self.scorer = torch.nn.Linear(config.hidden_size, 1)

    return Own


@pytest.mark.parametrize("encoders", [("encoder",), ("model",), ("bert", "teacher")])
def test_an_encoder_under_another_name_is_an_error_that_names_both_prefixes(written, encoders):
    own = of_ones_own(encoders=encoders)
    for number, cls in enumerate((BertModel, BertForMaskedLM)):
        _, folder = written(cls, name=f"m{number}")
        with pytest.raises(CheckpointError, match=rf"'{encoders[-1]}\.'.*self\.bert"):
            own.from_pretrained(folder)
        with pytest.raises(CheckpointError, match=rf"'{encoders[-1]}\.'"):
            own.from_model(cls.from_pretrained(folder))
