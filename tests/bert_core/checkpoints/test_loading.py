"""From a folder to a model: formats, key rules, labels, number types, the report."""

import json

import pytest
import torch

from bert_core.bundled import bundled_names
from bert_core.errors import CheckpointError, ConfigError, InputError, MissingFileError
from bert_core.model.bert import BertModel
from bert_core.model.heads import (
    BertForMaskedLM,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.model.kinds import KINDS

HEADS = [kind.cls for kind in KINDS.values() if kind.cls is not BertModel]
IDS = torch.tensor([[1, 5, 98, 0, 3]])
CLASSIFIER = ("classifier.weight", "classifier.bias")


@pytest.fixture
def folder(tiny, write_folder):
    """The tiny encoder as `model.safetensors`."""
    return write_folder(tiny.config, tiny.state_dict())


def same(model, weights):
    found = model.state_dict()
    assert all(torch.equal(found[name], value) for name, value in weights.items())


# -- formats ------------------------------------------------------------------------------------


@pytest.mark.parametrize("pickle", [False, True])
def test_a_folder_is_loaded(tiny, write_folder, pickle):
    folder = write_folder(tiny.config, tiny.state_dict(), pickle=pickle)
    model = BertModel.from_pretrained(folder)
    assert type(model) is BertModel and not model.training
    report = model.load_report
    assert (report.missing, report.unexpected, report.mismatched) == ((), (), ())
    assert report.source == str(folder)
    same(model, tiny.state_dict())
    assert all(parameter.requires_grad for parameter in model.parameters())
    assert torch.equal(model(IDS)[1], tiny(IDS)[1])


def test_safetensors_win_over_a_pickle_and_config_json_over_the_first_releases_name(tiny, folder):
    (folder / "pytorch_model.bin").write_bytes(b"never looked at")
    same(BertModel.from_pretrained(folder), tiny.state_dict())
    (folder / "config.json").rename(folder / "bert_config.json")
    same(BertModel.from_pretrained(folder), tiny.state_dict())
    (folder / "config.json").write_text(tiny.config.to_json_string())
    (folder / "bert_config.json").write_text("{}")
    same(BertModel.from_pretrained(folder), tiny.state_dict())


# -- key rules ----------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", HEADS)
def test_an_encoder_alone_is_put_into_every_head(cls, tiny, folder):
    model = cls.from_pretrained(folder)
    found = model.bert.state_dict()
    assert all(torch.equal(value, tiny.state_dict()[name]) for name, value in found.items())
    assert model.load_report.missing
    assert not any(name.startswith("bert.") for name in model.load_report.missing)
    assert all(torch.isfinite(parameter).all() for parameter in model.parameters())
    left = {name for name in tiny.state_dict() if name.startswith("pooler")}
    assert set(model.load_report.unexpected) == (set() if model.bert.pooler else left)


@pytest.mark.parametrize("name", ["cls.predictions.decoder.weight", "cls.predictions.decoder.bias"])
def test_a_decoder_that_is_not_tied_is_refused(make_config, write_folder, name):
    full = BertForMaskedLM(make_config())
    weights = dict(full.state_dict())
    weights[name] = weights[name] + 1
    folder = write_folder(full.config, weights)
    with pytest.raises(CheckpointError, match=rf"{name}.*differs.*tied"):
        BertForMaskedLM.from_pretrained(folder)
    assert BertModel.from_pretrained(folder).load_report.missing  # no pooler, but no decoder


@pytest.mark.parametrize("bias", ["cls.predictions.decoder.bias", "cls.predictions.bias"])
@pytest.mark.parametrize(
    "words", ["cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"]
)
def test_one_name_of_a_tied_parameter_is_enough(make_config, write_folder, words, bias):
    full = BertForPreTraining(make_config())
    names = ("cls.predictions.decoder", "cls.predictions.bias", "bert.embeddings.word_embeddings")
    weights = {
        name: value for name, value in full.state_dict().items() if not name.startswith(names)
    }
    weights |= {words: torch.rand(99, 32), bias: torch.rand(99)}
    folder = write_folder(full.config, weights)
    model = BertForMaskedLM.from_pretrained(folder)
    assert model.load_report.missing == ()
    assert torch.equal(model.cls.predictions.bias, weights[bias])
    assert torch.equal(model.cls.predictions.decoder.bias, weights[bias])
    for cls in (*HEADS, BertModel):
        found = cls.from_pretrained(folder).encoder_model.embeddings.word_embeddings.weight
        assert torch.equal(found, weights[words])


# -- the report ---------------------------------------------------------------------------------


def test_missing_and_unexpected_names_are_reported(tiny, write_folder):
    weights = dict(tiny.state_dict())
    del weights["pooler.dense.weight"]
    weights["classifier.weight"] = torch.zeros(2, 32)
    model = BertModel.from_pretrained(write_folder(tiny.config, weights))
    assert model.load_report.missing == ("pooler.dense.weight",)
    assert model.load_report.unexpected == ("classifier.weight",)
    assert torch.equal(model.pooler.dense.bias, tiny.pooler.dense.bias)
    assert 0 < model.pooler.dense.weight.std() < 0.05


def test_more_layers_than_the_config_has_are_left_out_only_where_the_caller_says_so(
    tiny, make_config, write_folder
):
    folder = write_folder(make_config(num_hidden_layers=1), tiny.state_dict())
    with pytest.raises(CheckpointError, match=r"1 layers.*encoder\.layer\.1\.attention"):
        BertModel.from_pretrained(folder)
    model = BertModel.from_pretrained(folder, num_hidden_layers=1)
    assert len(model.encoder.layer) == 1
    assert all(name.startswith("encoder.layer.1.") for name in model.load_report.unexpected)
    assert len(BertModel.from_pretrained(folder, num_hidden_layers=2).encoder.layer) == 2


# -- labels -------------------------------------------------------------------------------------


@pytest.fixture
def tagger(make_config, write_folder):
    torch.manual_seed(0)
    model = BertForTokenClassification(make_config(id2label={0: "O", 1: "PER", 2: "LOC"}))
    return model, write_folder(model.config, model.state_dict(), name="tagger")


def test_the_number_of_labels_comes_from_the_config(tagger):
    model, folder = tagger
    found = BertForTokenClassification.from_pretrained(folder)
    assert (found.num_labels, found.config.id2label) == (3, {0: "O", 1: "PER", 2: "LOC"})
    same(found, model.state_dict())
    assert BertForTokenClassification.from_pretrained(folder, 3).num_labels == 3
    assert BertForTokenClassification.from_pretrained(folder, num_labels=3).num_labels == 3


@pytest.mark.parametrize(
    ("inputs", "options"),
    [((), {"num_labels": 5}), ((), {"id2label": {i: str(i) for i in range(5)}}), ((5,), {})],
)
def test_a_number_of_labels_that_contradicts_the_weights_names_both_shapes(tagger, inputs, options):
    with pytest.raises(CheckpointError, match=r"classifier.weight.*\(3, 32\).*\(5, 32\)"):
        BertForTokenClassification.from_pretrained(tagger[1], *inputs, **options)


def test_a_head_of_another_width_starts_afresh_where_asked(tagger):
    model = BertForTokenClassification.from_pretrained(
        tagger[1], num_labels=5, ignore_mismatched_sizes=True
    )
    assert model.classifier.weight.shape == (5, 32) and model.classifier.weight.std() > 0
    assert model.load_report.mismatched == model.load_report.missing == CLASSIFIER


# -- options ------------------------------------------------------------------------------------


def test_options_of_the_class_the_config_and_downloads_are_taken(tiny, folder, make_config):
    model = BertModel.from_pretrained(folder, output_attentions=True, keep_multihead_output=True)
    attentions, _, _ = model(IDS)
    assert len(attentions) == 2
    assert model.get_multihead_outputs()[1].shape == (1, 4, 5, 8)
    assert BertModel.from_pretrained(folder, add_pooling_layer=False).pooler is None
    config = BertModel.from_pretrained(folder, hidden_dropout_prob=0.0, hidden_act="relu").config
    assert (config.hidden_dropout_prob, config.hidden_act) == (0.0, "relu")
    given = make_config(layer_norm_eps=0.5)
    assert BertModel.from_pretrained(folder, config=given).config.layer_norm_eps == 0.5
    cache = folder.parent / "cache"
    same(BertModel.from_pretrained(folder, cache_dir=cache, revision="main"), tiny.state_dict())
    assert not cache.exists()


@pytest.mark.parametrize(
    ("cls", "options", "error", "says"),
    [
        (BertModel, {"output_atentions": True}, InputError, "output_atentions"),
        (BertForTokenClassification, {"num_choices": 3}, InputError, "num_choices"),
        (BertModel, {"hidden_dropout_prob": 7}, ConfigError, "hidden_dropout_prob"),
        (BertModel, {"config": {"vocab_size": 99}}, ConfigError, "BertConfig"),
        (BertModel, {"dtype": "float8"}, InputError, "dtype"),
        (BertModel, {"dtype": torch.int64}, InputError, "dtype"),
        (BertModel, {"dtype": 16}, InputError, "dtype"),
        (BertModel, {"pretrained_model_name_or_path": "x"}, InputError, "given 2 models"),
    ],
)
def test_an_option_that_cannot_be_obeyed_is_refused_by_name(folder, cls, options, error, says):
    with pytest.raises(error, match=says):
        cls.from_pretrained(folder, **options)


def test_a_config_and_changes_to_it_are_not_both_taken(folder, make_config):
    with pytest.raises(InputError, match="hidden_act"):
        BertModel.from_pretrained(folder, config=make_config(), hidden_act="relu")
    with pytest.raises(InputError, match=r"given 0 models.*pretrained_model_name_or_path="):
        BertModel.from_pretrained()


def test_a_state_dict_replaces_the_weights_of_the_folder(tiny, make_config, write_folder, folder):
    torch.manual_seed(99)
    other = BertModel(make_config())
    model = BertModel.from_pretrained(folder, state_dict=other.state_dict())
    same(model, other.state_dict())
    without = write_folder(tiny.config, name="no-weights")
    same(BertModel.from_pretrained(without, state_dict=other.state_dict()), other.state_dict())
    with torch.no_grad():
        other.pooler.dense.bias.fill_(5)
    assert model.pooler.dense.bias.abs().max() < 5


# -- number types -------------------------------------------------------------------------------


@pytest.mark.parametrize("pickle", [False, True])
@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_any_number_type_is_read_as_float32_in_memory_of_its_own(tiny, write_folder, kind, pickle):
    stored = {name: value.to(kind) for name, value in tiny.state_dict().items()}
    model = BertModel.from_pretrained(write_folder(tiny.config, stored, pickle=pickle))
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    same(model, {name: value.float() for name, value in stored.items()})
    assert all(each.untyped_storage().nbytes() == each.nbytes for each in model.parameters())


@pytest.mark.parametrize("choice", [torch.float16, "float16", "torch.float16", "auto", None])
@pytest.mark.parametrize("option", ["dtype", "torch_dtype"])
def test_another_number_type_is_given_where_asked(tiny, write_folder, choice, option):
    stored = {name: value.half() for name, value in tiny.state_dict().items()}
    model = BertForMaskedLM.from_pretrained(write_folder(tiny.config, stored), **{option: choice})
    wanted = torch.float16 if choice else torch.float32
    assert {parameter.dtype for parameter in model.parameters()} == {wanted}
    words = model.bert.embeddings.word_embeddings.weight
    assert model.cls.predictions.decoder.weight is words
    assert torch.equal(words, stored["embeddings.word_embeddings.weight"].to(wanted))


# -- weights that are not finite ------------------------------------------------------------------

NAN, INF = float("nan"), float("inf")


def spoilt(model, *values, name="encoder.layer.0.output.dense.weight"):
    """The weights of a model with a few values that are no numbers."""
    state = {key: value.clone() for key, value in model.state_dict().items()}
    state[name].view(-1)[: len(values)] = torch.tensor(values)
    return state


@pytest.mark.parametrize(
    ("values", "dtype"),
    [((NAN,), None), ((-INF,), "float16"), ((INF, -INF), "bfloat16"), ((NAN, INF, NAN), "float64")],
)
def test_weights_that_are_not_finite_are_refused_by_name_and_number(
    tiny, write_folder, values, dtype
):
    state = {name: value.half() for name, value in spoilt(tiny, *values).items()}
    folder = write_folder(tiny.config, state)
    says = rf"encoder\.layer\.0\.output\.dense\.weight \({len(values)} of 1,184 values"
    for options in ({"dtype": dtype}, {"dtype": dtype, "state_dict": state}):
        with pytest.raises(CheckpointError, match=says):
            BertModel.from_pretrained(folder, **options)


def test_large_finite_weights_are_fine_unless_the_wanted_type_cannot_hold_them(tiny, write_folder):
    large = torch.finfo(torch.float32).max
    folder = write_folder(tiny.config, spoilt(tiny, large, large, -large))
    assert BertModel.from_pretrained(folder).load_report.missing == ()
    with pytest.raises(CheckpointError, match=r"3 of 1,184 values as torch\.float16"):
        BertModel.from_pretrained(folder, dtype="float16")


# -- layered folders: one encoder, several heads ------------------------------------------------


@pytest.fixture
def layered(make_config, write_folder):
    """A root for pre-training with a tagger's head and a classifier that moved the last layer."""
    torch.manual_seed(0)
    root = BertForPreTraining(make_config()).eval()
    folder = write_folder(root.config, root.state_dict())
    tagger = BertForTokenClassification.from_model(root, 3)
    config = make_config(id2label={0: "O", 1: "PER", 2: "LOC"})
    (folder / "heads").mkdir()
    head = {f"classifier.{name}": value for name, value in tagger.classifier.state_dict().items()}
    write_folder(config, head, name="model/heads/BertForTokenClassification")
    moved = {
        "classifier.weight": torch.rand(2, 32),
        "classifier.bias": torch.rand(2),
        "bert.encoder.layer.1.output.dense.bias": torch.rand(32),
    }
    config = make_config(id2label={0: "negative", 1: "positive"})
    write_folder(config, moved, name="model/heads/BertForSequenceClassification", pickle=True)
    write_folder(make_config(hidden_dropout_prob=0.25), name="model/heads/BertForQuestionAnswering")
    return folder, root, tagger, moved


def test_root_and_head_are_put_together(layered, monkeypatch):
    folder, root, tagger, moved = layered
    found = BertForSequenceClassification.from_pretrained(folder)
    assert found.load_report.missing == ()
    assert found.config.id2label[1] == "positive"
    same(found, {**root.bert.state_dict(prefix="bert."), **moved})
    answers = BertForQuestionAnswering.from_pretrained(folder)  # its folder has no weights
    assert answers.config.hidden_dropout_prob == 0.25
    assert answers.load_report.missing == ("qa_outputs.weight", "qa_outputs.bias")
    monkeypatch.setattr("bert_core.bundled._ROOT", folder.parent)
    assert bundled_names() == ("model",)  # a bundled name is loaded like its folder
    for place in (folder, "model"):
        found = BertForTokenClassification.from_pretrained(place)
        assert (found.load_report.missing, found.load_report.source) == ((), str(place))
        assert found.config.id2label == {0: "O", 1: "PER", 2: "LOC"}
        same(found, tagger.state_dict())
        same(BertForPreTraining.from_pretrained(place), root.state_dict())
        same(BertModel.from_pretrained(place), root.bert.state_dict())


# -- other architectures, folders that lack something -------------------------------------------


def test_a_model_type_may_be_absent_but_no_other(tiny, write_folder):
    values = {key: value for key, value in tiny.config.to_dict().items() if key != "model_type"}
    for extra in ({}, {"architectures": ["BertForMaskedLM"]}, {"model_type": "bert"}):
        folder = write_folder({**values, **extra}, tiny.state_dict())
        assert BertModel.from_pretrained(folder).load_report.missing == ()
    for extra in ({"model_type": "gpt2"}, {"architectures": ["DistilBertModel"]}):
        folder = write_folder({**values, **extra}, tiny.state_dict())
        with pytest.raises(ConfigError, match=r"gpt2|DistilBertModel"):
            BertModel.from_pretrained(folder)


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ((), r"no config.json or bert_config.json.*nothing"),
        (("config.json", "vocab.txt"), r"no weights.*config.json, vocab.txt"),
        (("model.safetensors",), r"no config.json.*model.safetensors"),
    ],
)
def test_a_folder_says_what_it_lacks_and_what_is_there(folder, names, says):
    (folder / "vocab.txt").write_text("[UNK]\n")
    for path in folder.iterdir():
        if path.name not in names:
            path.unlink()
    with pytest.raises(MissingFileError, match=says):
        BertModel.from_pretrained(folder)


def test_a_real_trained_encoder_is_loaded(minilm):
    model = BertModel.from_pretrained(minilm)
    assert model.load_report.missing == ()
    config = json.loads((minilm / "config.json").read_text())
    assert model.config.num_hidden_layers == config["num_hidden_layers"] == 6
