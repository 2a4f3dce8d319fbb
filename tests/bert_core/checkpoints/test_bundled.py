"""The models that come with the package: they load, and `transformers` agrees with them."""

import pytest
import torch
import transformers

from bert_core.bundled import bundled_folder, bundled_names
from bert_core.model.bert import BertModel
from bert_core.model.heads import BertForMaskedLM, BertForNextSentencePrediction, BertForPreTraining

NAMES = bundled_names()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "cls", [BertModel, BertForPreTraining, BertForMaskedLM, BertForNextSentencePrediction]
)
def test_classes_of_pre_training_are_filled_completely(cls, name):
    model = cls.from_pretrained(name)
    assert model.load_report.missing == ()
    assert model.load_report.source == name
    assert model.dtype == torch.float32


@pytest.mark.parametrize("name", NAMES)
def test_transformers_opens_the_root_and_gives_the_same_scores(name, assert_close):
    ours = BertForPreTraining.from_pretrained(name)
    peer, info = transformers.BertForPreTraining.from_pretrained(
        str(bundled_folder(name)), output_loading_info=True, dtype=torch.float32
    )
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]
    ids = torch.tensor([[101, 1996, 4937, 2938, 2006, 1996, 103, 1012, 102, 2009, 2001, 102]])
    types = torch.tensor([[0] * 9 + [1] * 3])
    with torch.inference_mode():
        words, sentences = ours(ids, types)
        expected = peer.eval()(ids, token_type_ids=types)
    assert_close(words, expected.prediction_logits, 2e-5)
    assert_close(sentences, expected.seq_relationship_logits, 2e-5)
