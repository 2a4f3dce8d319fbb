"""Folders that are no model of their family: each gives one clear sentence, and no model."""

import json
import re

import pytest
import torch
from safetensors.torch import load_file, save_file

import bert_core
from bert_core.checkpoints.plan import survey
from bert_core.config import BertConfig
from bert_core.errors import BertError, CheckpointError, ConfigError, InputError
from bert_core.families import FAMILIES
from bert_core.model.heads import BertForMaskedLM, BertForMultipleChoice, BertModel
from bert_core.model.kinds import ALL_KINDS

# family, what is changed in the config, what is said
SETTINGS = [
    ("roberta", {"model_type": "gpt2"}, "type 'gpt2'; implemented are bert, roberta, xlm-rob"),
    ("roberta", {"model_type": "deberta-v2"}, "type 'deberta-v2'; implemented are bert"),
    ("roberta", {"model_type": 5}, "type 5; implemented are bert"),
    ("roberta", {"model_type": ["roberta"]}, r"type \['roberta'\]; implemented are"),
    ("roberta", {"model_type": None}, "names no model_type, and the class 'RobertaForMaskedLM'"),
    ("roberta", {"pad_token_id": None}, "pad_token_id is None; expected 0 to 17: RoBERTa counts"),
    ("camembert", {"pad_token_id": -1}, "pad_token_id is -1; expected 0 to 17: CamemBERT counts"),
    ("xlm-roberta", {"pad_token_id": 18}, "pad_token_id is 18; expected 0 to 17: XLM-RoBERTa"),
    ("roberta", {"position_embedding_type": "relative_key"}, "_key'; expected 'absolute'"),
    ("electra", {"position_embedding_type": "relative_key_query"}, "y'; expected 'absolute'"),
    ("roberta", {"is_decoder": True}, "is_decoder is True; expected false: only BERT"),
    ("electra", {"embedding_size": 0}, "embedding_size is 0; expected a whole number of at"),
    ("electra", {"embedding_size": 14}, "word_embeddings.weight has the shape .99, 13.*99, 14"),
    ("albert", {"embedding_size": "13"}, "embedding_size is '13'; expected a whole number"),
    ("albert", {"inner_group_num": 2}, "inner_group_num is 2; expected 1; other models cannot"),
    ("albert", {"num_hidden_groups": 4}, "num_hidden_groups is 4; expected 1 to 3, the number"),
    ("albert", {"num_hidden_groups": 0}, "num_hidden_groups is 0; expected 1 to 3"),
    ("albert", {"num_hidden_groups": 3}, "states 3 layers; the weights contain 2 of them"),
    ("albert", {"pruned_heads": {"1": [2]}}, "The layers of ALBERT share their weights"),
    ("albert", {"vocab_size": 98}, "shape .99, 13. in the checkpoint and .98, 13. in BertForM"),
    ("distilbert", {"dim": 64}, "word_embeddings.weight has the shape .99, 32"),
    ("distilbert", {"n_layers": 4}, "states 4 layers; the weights contain 3 of them"),
    ("distilbert", {"n_heads": 0}, "num_attention_heads is 0; expected a whole number of at"),
    ("distilbert", {"n_heads": 5}, "hidden_size is 32; expected a multiple of num_attention"),
    ("distilbert", {"activation": "relu6"}, "hidden_act is 'relu6'; expected one of"),
    ("distilbert", {"dropout": 2}, "hidden_dropout_prob is 2; expected a number from 0 to 1"),
    ("distilbert", {"seq_classif_dropout": "x"}, "seq_classif_dropout is 'x'; expected a number"),
    ("distilbert", {"vocab_size": True}, "vocab_size is True; expected a whole number"),
]  # fmt: skip


def says(sentence, kind=BertError):
    return pytest.raises(kind, match=sentence)


@pytest.mark.parametrize(("family", "changes", "sentence"), SETTINGS)
def test_a_setting_that_cannot_be_computed_is_refused_in_words(saved, family, changes, sentence):
    _, folder = saved(family, "BertForMaskedLM")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changes}))
    with says(sentence):
        BertForMaskedLM.from_pretrained(folder)


@pytest.mark.parametrize("other", FAMILIES)
@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert", "electra", "albert"])
def test_weights_with_the_names_of_another_family_are_refused(saved, family, other):
    if FAMILIES[family].prefix == FAMILIES[other].prefix:
        return
    peer, folder = saved(other, "BertForMaskedLM")
    config = BertConfig(99, 32, 3, 4, 37, max_position_embeddings=19, model_type=family)
    config.to_json_file(folder / "config.json")
    sentence = f"no part of {FAMILIES[family].title}'s encoder.* names of "
    with says(sentence, CheckpointError):
        BertForMaskedLM.from_pretrained(folder)
    with says(f"no part of {FAMILIES[family].title}'s encoder", CheckpointError):
        survey(folder, [BertModel])
    if other != "bert":  # BERT's are our own names
        with says("lack .*Expected all tensors", CheckpointError):
            BertForMaskedLM.from_pretrained(folder, state_dict=peer.state_dict())


@pytest.mark.parametrize(
    ("family", "name"),
    [
        ("roberta", "lm_head.decoder.weight"),
        ("distilbert", "vocab_projector.weight"),
        ("electra", "generator_lm_head.weight"),
        ("albert", "predictions.decoder.weight"),
    ],
)
def test_a_decoder_that_is_not_tied_is_refused(saved, family, name):
    _, folder = saved(family, "BertForMaskedLM")
    tensors = load_file(folder / "model.safetensors")
    place = f"{FAMILIES[family].prefix}embeddings.word_embeddings.weight"
    save_file({**tensors, name: tensors[place] + 1}, folder / "model.safetensors")
    with says(f"{re.escape(name)} differs from embeddings.word_embeddings.weight"):
        BertForMaskedLM.from_pretrained(folder)
    assert BertModel.from_pretrained(folder).load_report.unexpected != ()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "tie_word_embeddings": False}))
    save_file(tensors, folder / "model.safetensors")
    with says("tie_word_embeddings is false"):
        BertForMaskedLM.from_pretrained(folder)


@pytest.mark.parametrize("family", ["roberta", "albert"])  # with separate and with shared layers
def test_files_that_are_cut_off_or_incomplete_are_refused(saved, family):
    _, folder = saved(family, "BertModel")
    whole = (folder / "model.safetensors").read_bytes()
    for size in (0, 7, 100, len(whole) // 2, len(whole) - 1):
        (folder / "model.safetensors").write_bytes(whole[:size])
        with pytest.raises(CheckpointError):
            BertModel.from_pretrained(folder)
    (folder / "model.safetensors").write_bytes(whole)
    tensors = load_file(folder / "model.safetensors")
    for name, tensor in [*tensors.items()][::4]:
        if name.startswith("pooler"):
            continue
        rest = {key: each for key, each in tensors.items() if key != name}
        save_file(rest, folder / "model.safetensors")
        with says("lack|layers", CheckpointError):
            BertModel.from_pretrained(folder)
        save_file({**rest, name: tensor * float("nan")}, folder / "model.safetensors")
        with says("NaN or infinite", CheckpointError):
            BertModel.from_pretrained(folder)


def test_a_class_without_its_head_says_so(saved):
    for family, row in FAMILIES.items():
        config = BertConfig(99, 32, 3, 4, 37, model_type=family)
        for name in ALL_KINDS:
            if not row.has(name):
                with says(f"{row.title} has no head for {name}.*expected one of", ConfigError):
                    getattr(bert_core, name)(config)
    _, folder = saved("electra", "BertForReplacedTokenDetection")
    with says("ELECTRA has no head for BertForNextSentencePrediction", ConfigError):
        bert_core.BertForNextSentencePrediction.from_pretrained(folder)
    model = bert_core.BertForPreTraining.from_pretrained(folder)
    with says("next_sentence_label was given; ELECTRA has no head", InputError):
        model(torch.full((1, 3), 7), next_sentence_label=torch.tensor([0]))


@pytest.mark.parametrize(
    "changes",
    [{"summary_type": "mean"}, {"summary_use_proj": False}, {"summary_activation": "nothing"}],
)
def test_another_summary_of_choices_is_refused(changes):
    config = BertConfig(99, 32, 3, 4, 37, model_type="electra", **changes)
    with says(next(iter(changes)) if "activation" not in next(iter(changes)) else "'nothing'"):
        BertForMultipleChoice(config)


def test_other_families_have_no_tensorflow_checkpoints(tmp_path):
    model = BertModel(BertConfig(99, 32, 3, 4, 37, model_type="roberta"))
    with says("read for BERT only; this model is of the family RoBERTa", CheckpointError):
        bert_core.load_tf_weights_in_bert(model, tmp_path / "bert_model.ckpt")


def test_layers_of_a_state_dict_that_should_be_one_are_refused(saved):
    _, folder = saved("albert", "BertModel")
    state = BertModel.from_pretrained(folder).state_dict()
    name = "encoder.layer.1.attention.self.query.weight"
    state[name] = state[name] + 1
    with says("layer.1.attention.self.query.weight differs from encoder.layer.0", CheckpointError):
        BertModel.from_pretrained(folder, state_dict=state)
