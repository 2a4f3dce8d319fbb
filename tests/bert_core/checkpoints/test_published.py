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
NO_KIND = {"model_type", "layer_norm_eps", "num_labels", "id2label", "label2id", "architectures"}
CASED = {"tokenizer_config.json": {"do_lower_case": False, "max_len": 512}}


class Runs:
    def __reduce__(self):
        return (exec, ("import pathlib; pathlib.Path('ran').touch()",))


def old_names(key):
    for leaf, old in (("weight", "gamma"), ("bias", "beta")):
        key = key.replace(f"LayerNorm.{leaf}", f"LayerNorm.{old}")
    return key


def old_buffers(state):
    state = {key.removeprefix("bert."): value for key, value in state.items()}
    zeros = torch.zeros(1, 19, dtype=torch.long)
    return state | {"embeddings.position_ids": zeros, "bert.embeddings.token_type_ids": zeros}


def first_release(state):
    return {old_names(key): each for key, each in state.items() if "decoder.bias" not in key}


LABELS = {
    "id2label": {str(number): tag for number, tag in enumerate(TAGS)},
    "label2id": {tag: number for number, tag in enumerate(TAGS)},
    "_num_labels": 9,
}
EPS, MASKED = {"layer_norm_eps"}, {"architectures": ["BertForMaskedLM"]}
COUNTS = {"id2label", "label2id", "num_labels"}
BAD = {"training_args.bin": pickle.dumps(Runs())}
# class, changes of the config, what it lacks, other files, its weights, as a pickle, lower case
PUBLISHED = {
    "bert-base-uncased": (BertForPreTraining, MASKED, EPS, {}, first_release, False, True),
    "bert-base-cased": (BertForPreTraining, MASKED, EPS, CASED, first_release, False, False),
    "dslim/bert-base-NER":  # labels under string keys, and no kind of model
    (BertForTokenClassification, LABELS, {"model_type", "num_labels"}, CASED, dict, False, False),
    "textattack/bert-base-uncased-SST-2":  # an old pickle beside one that is never fetched
    (BertForSequenceClassification, {}, COUNTS, BAD, dict, True, True),
    "google/bert_uncased_L-4_H-256_A-4":  # says its case in the name alone
    (BertForPreTraining, {}, NO_KIND, {}, first_release, True, True),
    "someone/old-bert": (BertForMaskedLM, {}, set(), {}, old_buffers, True, True),
}  # fmt: skip


@pytest.mark.parametrize("short", PUBLISHED)
def test_it_is_loaded_whole_with_its_tokenizer(short, loopback, make_config, tmp_path, monkeypatch):
    cls, changes, lacks, files, weights, pickled, lower = PUBLISHED[short]
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(3)
    labels = len(changes.get("id2label", ())) or None
    inputs = () if cls in (BertForPreTraining, BertForMaskedLM) else (labels,)
    model = cls(make_config(vocab_size=8), *inputs).eval()
    folder = tmp_path / "published"
    folder.mkdir()
    values = {**model.config.to_dict(), **changes}
    values = {key: value for key, value in values.items() if key not in lacks}
    (folder / "vocab.txt").write_text(VOCABULARY, encoding="utf-8")
    for file, data in {"config.json": values, **files}.items():
        raw = data if isinstance(data, bytes) else json.dumps(data).encode()
        (folder / file).write_bytes(raw)
    state = weights({key: value.clone() for key, value in model.state_dict().items()})
    if pickled:
        torch.save(state, folder / "pytorch_model.bin", _use_new_zipfile_serialization=False)
    else:
        save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    loopback.add_model(short if "/" in short else f"google-bert/{short}", folder)
    found = cls.from_pretrained(short, cache_dir=tmp_path / "cache")
    assert (found.load_report.missing, found.load_report.unexpected) == ((), ())
    expected = model.state_dict()
    assert all(torch.equal(value, expected[key]) for key, value in found.state_dict().items())
    assert found.config.layer_norm_eps == 1e-12
    if cls is BertForTokenClassification:
        assert found.config.id2label == dict(enumerate(TAGS))
    if cls is BertForSequenceClassification:
        assert (found.num_labels, found.config.id2label) == (2, {})
    tokenizer = BertTokenizer.from_pretrained(short, cache_dir=tmp_path / "cache")
    assert tokenizer.tokenize("The cat") == ["the" if lower else "The", "cat"]
    assert not any("training_args" in path for path in loopback.asked())
    assert not (tmp_path / "ran").exists()
