"""Small imitations of well-known checkpoints, each with the oddities of the real one, on a Hub.

What they hold and lack was taken from their file lists; sizes and numbers are made up.
"""

import json
import pickle

import pytest
import torch
from safetensors.torch import save_file

from bert_core import (
    BertForMaskedLM,
    BertForPreTraining,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertTokenizer,
)

VOCABULARY = "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "The", "cat"]) + "\n"
TAGS = ["O", "B-MISC", "I-MISC", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC"]


@pytest.fixture
def publish(loopback, make_config, tmp_path):
    """Put a model of a class on the Hub as another program saved it."""

    def publish(name, cls, /, *, drop=(), keys=None, weights="safetensors", files=None, **changes):
        torch.manual_seed(3)
        model = cls(make_config(vocab_size=8)).eval()
        if "id2label" in changes:
            torch.manual_seed(3)
            model = cls(make_config(vocab_size=8), num_labels=len(changes["id2label"])).eval()
        folder = tmp_path / name.replace("/", "--")
        folder.mkdir()
        values = {**model.config.to_dict(), **changes}
        values = {key: value for key, value in values.items() if key not in drop}
        (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")
        (folder / "vocab.txt").write_text(VOCABULARY, encoding="utf-8")
        state = {(keys or str)(key): value.clone() for key, value in model.state_dict().items()}
        state = {key: value for key, value in state.items() if not key.endswith(tuple(drop) or "?")}
        if weights == "safetensors":
            save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
        else:
            torch.save(state, folder / "pytorch_model.bin", _use_new_zipfile_serialization=False)
        for file, data in (files or {}).items():
            (folder / file).write_bytes(
                data if isinstance(data, bytes) else json.dumps(data).encode()
            )
        loopback.add_model(name, folder)
        return model

    return publish


def assert_loaded(cls, name, model, cache, tokens):
    found = cls.from_pretrained(name, cache_dir=cache)
    assert found.load_report.missing == ()
    assert found.load_report.unexpected == ()
    expected = model.state_dict()
    assert all(torch.equal(value, expected[key]) for key, value in found.state_dict().items())
    tokenizer = BertTokenizer.from_pretrained(name, cache_dir=cache)
    assert tokenizer.tokenize("The cat") == tokens
    return found


def old_names(key):
    return key.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
        "LayerNorm.bias", "LayerNorm.beta"
    )


@pytest.mark.parametrize(
    ("short", "tokens"),
    [("bert-base-uncased", ["the", "cat"]), ("bert-base-cased", ["The", "cat"])],
)
def test_the_first_release_has_old_names_a_tied_decoder_and_no_decoder_bias(
    publish, tmp_path, short, tokens
):
    model = publish(
        f"google-bert/{short}",
        BertForPreTraining,
        keys=old_names,
        drop=("decoder.bias", "layer_norm_eps"),
        files={"tokenizer_config.json": {"do_lower_case": "uncased" in short}},
        architectures=["BertForMaskedLM"],
        gradient_checkpointing=False,
    )
    assert_loaded(BertForPreTraining, short, model, tmp_path / "cache", tokens)
    masked = BertForMaskedLM.from_pretrained(short, cache_dir=tmp_path / "cache")
    assert masked.load_report.missing == ()
    assert masked.config.layer_norm_eps == 1e-12


def test_named_entities_with_labels_under_string_keys_and_no_kind_of_model(publish, tmp_path):
    model = publish(
        "dslim/bert-base-NER",
        BertForTokenClassification,
        drop=("model_type", "num_labels"),
        id2label={str(number): tag for number, tag in enumerate(TAGS)},
        label2id={tag: number for number, tag in enumerate(TAGS)},
        architectures=["BertForTokenClassification"],
        files={"tokenizer_config.json": {"do_lower_case": False, "max_len": 512}},
        _num_labels=9,
        output_past=True,
    )
    found = assert_loaded(
        BertForTokenClassification, "dslim/bert-base-NER", model, tmp_path / "cache", ["The", "cat"]
    )
    assert found.config.id2label == dict(enumerate(TAGS))


class Runs:
    def __reduce__(self):
        return (exec, ("import pathlib; pathlib.Path('ran').touch()",))


def test_a_classifier_in_an_old_pickle_without_labels_beside_one_that_is_refused(
    publish, loopback, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    name = "textattack/bert-base-uncased-SST-2"
    model = publish(
        name,
        BertForSequenceClassification,
        weights="pickle",
        drop=("id2label", "label2id", "num_labels"),
        files={"training_args.bin": pickle.dumps(Runs())},
    )
    found = assert_loaded(
        BertForSequenceClassification, name, model, tmp_path / "cache", ["the", "cat"]
    )
    assert (found.num_labels, found.config.id2label) == (2, {})
    assert not any("training_args" in path for path in loopback.asked())
    assert not (tmp_path / "ran").exists()


def test_the_smaller_models_say_their_case_in_the_name_alone(publish, tmp_path):
    name = "google/bert_uncased_L-4_H-256_A-4"
    kept = {
        "hidden_size",
        "hidden_act",
        "initializer_range",
        "vocab_size",
        "hidden_dropout_prob",
        "num_attention_heads",
        "type_vocab_size",
        "max_position_embeddings",
        "num_hidden_layers",
        "intermediate_size",
        "attention_probs_dropout_prob",
    }
    dropped = (
        "model_type",
        "layer_norm_eps",
        "num_labels",
        "id2label",
        "label2id",
        "architectures",
    )
    model = publish(name, BertForPreTraining, weights="pickle", drop=dropped, keys=old_names)
    assert_loaded(BertForPreTraining, name, model, tmp_path / "cache", ["the", "cat"])
    config = json.loads((tmp_path / name.replace("/", "--") / "config.json").read_text())
    assert kept <= config.keys()
    assert not set(dropped) & config.keys()


def test_buffers_of_years_ago_and_an_encoder_without_its_prefix(publish, loopback, tmp_path):
    name = "someone/old-bert"
    publish(name, BertForMaskedLM, weights="pickle")
    folder = tmp_path / name.replace("/", "--")
    state = torch.load(folder / "pytorch_model.bin", weights_only=True)
    state = {key.removeprefix("bert."): value for key, value in state.items()}
    state["embeddings.position_ids"] = torch.arange(19)[None]
    state["bert.embeddings.token_type_ids"] = torch.zeros(1, 19, dtype=torch.long)
    torch.save(state, folder / "pytorch_model.bin")
    loopback.add_model(name, folder)
    report = BertForMaskedLM.from_pretrained(name, cache_dir=tmp_path / "cache").load_report
    assert (report.missing, report.unexpected) == ((), ())
