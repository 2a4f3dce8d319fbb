import json

import pytest
import transformers

from bert_core.config import HAS_ANSWER, BertConfig
from bert_core.errors import BertError, ConfigError, MissingFileError
from bert_core.model.bert import BertModel
from bert_core.model.heads import BertForMaskedLM, BertForTokenClassification

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
         "intermediate_size": 37}  # fmt: skip
BASE = {
    "vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 3072, "hidden_act": "gelu", "hidden_dropout_prob": 0.1,
    "attention_probs_dropout_prob": 0.1, "max_position_embeddings": 512, "type_vocab_size": 2,
    "initializer_range": 0.02,
}  # fmt: skip


def written(config, folder):
    """Write a config and read it again."""
    config.to_json_file(folder / "config.json")
    return BertConfig.from_json_file(folder / "config.json")


def test_the_defaults_are_those_of_bert_base_and_arguments_may_be_given_by_position():
    config = BertConfig(30522)
    assert {name: getattr(config, name) for name in BASE} == BASE
    assert (config.layer_norm_eps, config.num_labels) == (1e-12, 2)
    given = (99, 32, 5, 4, 37, "relu", 0.2, 0.3, 19, 3, 0.01)
    assert tuple(getattr(BertConfig(*given), name) for name in BASE) == given


@pytest.mark.parametrize("first", [None, 1.5, ["config.json"], True, {"vocab_size": 3}])
def test_another_kind_of_first_argument_is_a_value_error(first):
    with pytest.raises(ValueError, match="expected a vocabulary size"):
        BertConfig(first)


def test_the_first_argument_may_be_the_path_of_a_json_file(tmp_path):
    path = tmp_path / "bert_config.json"
    path.write_text('{"vocab_size": 99, "hidden_size": 32, "type_vocab_size": 3}')
    for config in (BertConfig(str(path)), BertConfig(path), BertConfig.from_json_file(str(path))):
        assert config.vocab_size == 99
        assert config.hidden_size == 32
        assert config.type_vocab_size == 3
        assert config.num_hidden_layers == 12


def test_a_missing_file_is_a_file_not_found_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent\.json"):
        BertConfig(str(tmp_path / "absent.json"))
    with pytest.raises(MissingFileError):
        BertConfig.from_json_file(tmp_path / "absent.json")


def test_unknown_keys_survive_a_round_trip_and_do_nothing(tmp_path):
    values = {"vocab_size": 99, "language": "english", "task": {"a": [1, 2]}, "use_cache": True}
    config = BertConfig.from_dict(values)
    again = written(config, tmp_path)
    assert again == config
    assert again.to_dict().items() >= {"language": "english", "task": {"a": [1, 2]}}.items()
    values["task"]["a"].append(3)
    assert config.to_dict()["task"] == {"a": [1, 2]}


def test_from_dict_and_to_dict_are_inverse_and_the_json_text_shows_in_repr():
    config = BertConfig(99, hidden_size=32, num_attention_heads=4, layer_norm_eps=1e-7)
    assert BertConfig.from_dict(json_object=config.to_dict()) == config
    assert config != BertConfig(98, hidden_size=32, num_attention_heads=4, layer_norm_eps=1e-7)
    assert config != "a text"
    assert config.to_json_string().endswith("}\n")
    assert json.loads(config.to_json_string())["vocab_size"] == 99
    assert '"vocab_size": 99' in repr(config)


@pytest.mark.parametrize(
    "labels",
    [
        {"label2id": {"no": 0, "yes": 1}},
        {"label2id": {"no": "0", "yes": "1"}, "id2label": None},
        {"id2label": ["no", "yes"]},
        {"id2label": {"0": "no", "1": "yes"}, "num_labels": "many"},
        {"id2label": {"1": "yes", "0": "no"}, "label2id": {"yes": 0}},
    ],
)
def test_labels_are_read_in_every_form_that_says_what_they_are(labels):
    assert BertConfig.from_dict({"vocab_size": 9, **labels}).id2label == {0: "no", 1: "yes"}


def test_setting_another_number_of_labels_drops_names_that_no_longer_fit():
    config = BertConfig.from_dict({"vocab_size": 9, "id2label": {"0": "O", "1": "B"}})
    config.num_labels = 2
    assert config.id2label == {0: "O", 1: "B"}
    config.num_labels = 3
    assert config.num_labels == 3
    assert config.label_name(2) == "LABEL_2"


@pytest.mark.parametrize(
    ("key", "allowed", "refused"),
    [
        ("position_embedding_type", "absolute", "relative_key"),
        ("is_decoder", False, True),
        ("add_cross_attention", False, True),
    ],
)
def test_what_is_not_implemented_is_refused(key, allowed, refused):
    assert BertConfig.from_dict({"vocab_size": 9, key: allowed})
    with pytest.raises(ConfigError, match=rf"{key} is '?{refused}'?; expected"):
        BertConfig.from_dict({"vocab_size": 9, key: refused})


def test_a_hidden_size_the_heads_do_not_divide_is_refused_when_a_model_is_built():
    config = BertConfig(99, hidden_size=30, num_attention_heads=4)
    with pytest.raises(ConfigError, match=r"30.*4"):
        BertModel(config)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("vocab_size", 0),
        ("hidden_size", -1),
        ("hidden_size", "many"),
        ("hidden_size", 2.5),
        ("num_attention_heads", None),
        ("num_hidden_layers", 10**12),
        ("intermediate_size", 10**30),
        ("hidden_dropout_prob", 2),
        ("hidden_dropout_prob", float("nan")),
        ("layer_norm_eps", "small"),
        ("hidden_act", 3),
        ("pad_token_id", "[PAD]"),
        ("pad_token_id", 2.5),
        ("classifier_dropout", "none"),
        ("classifier_dropout", 10**400),
        ("classifier_dropout", [0.1]),
    ],
)
def test_a_value_that_cannot_be_is_a_config_error_that_names_the_key(key, value):
    with pytest.raises(ConfigError, match=f"{key} is .*expected") as refusal:
        BertConfig.from_dict({"vocab_size": 99, key: value})
    assert isinstance(refusal.value, BertError) and isinstance(refusal.value, ValueError)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1, 2]", "null", '"text"', "[" * 100_000, '{"hidden_size": 32}', "\udcff"],
)
def test_a_file_that_is_no_configuration_ends_in_a_config_error(text, tmp_path):
    path = tmp_path / "config.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError):
        BertConfig.from_json_file(path)


UNUSABLE = [
    {"id2label": {"1": "a", "2": "b"}},
    {"id2label": {"0": "a", "5": "b"}},
    {"id2label": {"zero": "a"}},
    {"id2label": {"0": "O", "00": "B-PER"}},
    {"id2label": "a,b"},
    {"label2id": {"a": 0, "b": 0}},
    {"label2id": {"a": 1, "b": 2}},
    {"label2id": {"a": None}},
    {"num_labels": -3},
    {"num_labels": "3"},
    *(
        {"id2label": {"0": "O", "1": each}}
        for each in (None, [], ["a"], {"a": 1}, [[["deep"]]] * 999)
    ),
]


@pytest.mark.parametrize("labels", UNUSABLE)
def test_labels_that_cannot_be_used_stop_only_classes_with_labels(labels, make_config, tmp_path):
    [key] = labels
    config = BertConfig.from_dict({**make_config().to_dict(), **labels})
    with pytest.raises(ConfigError, match=rf"{key}.*expected"):
        BertForTokenClassification(config)
    BertForMaskedLM(config).save_pretrained(tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())[key] == labels[key]  # as they were
    with pytest.raises(ConfigError, match=key):
        BertConfig(99, **labels)  # at once, to a caller
    again = BertForTokenClassification(config, num_labels=3)
    assert again.config.label_name(2) == "LABEL_2"


def test_transformers_reads_the_json_we_write_and_we_theirs(tmp_path, make_config):
    config = make_config(id2label={0: "no", 1: "yes", 2: "perhaps"}, layer_norm_eps=1e-6)
    config.to_json_file(tmp_path / "config.json")
    peer = transformers.BertConfig.from_json_file(str(tmp_path / "config.json"))
    assert (peer.vocab_size, peer.hidden_size, peer.num_hidden_layers) == (99, 32, 2)
    assert (peer.layer_norm_eps, peer.id2label) == (1e-6, config.id2label)
    transformers.BertConfig(vocab_size=99, hidden_size=36, num_labels=3).save_pretrained(tmp_path)
    theirs = BertConfig.from_json_file(tmp_path / "config.json")
    assert (theirs.vocab_size, theirs.hidden_size, theirs.num_labels) == (99, 36, 3)


def test_temperatures_are_read_and_survive_a_round_trip(tmp_path):
    values = {"vocab_size": 99, "temperatures": {"BertForMaskedLM": 1.25, "BertModel": 2}}
    config = BertConfig.from_dict(values)
    again = written(config, tmp_path)
    assert again == config
    assert again.to_dict()["temperatures"] == {"BertForMaskedLM": 1.25, "BertModel": 2.0}
    values["temperatures"]["BertForMaskedLM"] = 7.0
    names = ("BertForMaskedLM", "BertModel", "BertForQuestionAnswering")
    assert [config.temperature(name) for name in names] == [1.25, 2.0, 1.0]


def test_having_an_answer_has_the_temperature_of_its_class_or_one_of_its_own():
    name = "BertForQuestionAnswering"
    assert f"{name}.has_answer" == HAS_ANSWER
    assert BertConfig(99).temperature(HAS_ANSWER) == 1.0
    one = BertConfig(99, temperatures={name: 0.9})
    assert one.temperature(HAS_ANSWER) == one.temperature(name) == 0.9
    assert one.temperature_key(HAS_ANSWER) == name
    two = BertConfig.from_dict(BertConfig(99, temperatures={name: 0.9, HAS_ANSWER: 2.5}).to_dict())
    assert (two.temperature(name), two.temperature(HAS_ANSWER)) == (0.9, 2.5)
    assert two.temperature_key(HAS_ANSWER) == HAS_ANSWER
    assert BertConfig(99, temperatures={HAS_ANSWER: 2.5}).temperature(name) == 1.0
    assert two.without_temperatures().temperature(HAS_ANSWER) == 1.0


def test_weights_without_some_heads_have_lost_their_temperatures():
    config = BertConfig(99, **SIZES, temperatures={"BertForMaskedLM": 2.5})
    model = BertForMaskedLM(config)
    model.prune_heads({0: [1]})
    assert model.config.temperature("BertForMaskedLM") == 1.0
    assert config.temperature("BertForMaskedLM") == 2.5
