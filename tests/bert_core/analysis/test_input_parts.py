"""The parts of the input add up to what the model's embeddings compute."""

import pytest
import torch

from bert_core import BertForQuestionAnswering, BertModel
from bert_core.analysis.input_parts import input_parts
from bert_core.errors import InputError


@pytest.mark.parametrize("cls", [BertModel, BertForQuestionAnswering])
def test_the_last_part_is_the_first_hidden_state(make_pair, batch, cls):
    ours, _ = make_pair(cls)
    for ids, types in zip(batch.input_ids, batch.token_type_ids, strict=True):
        with torch.inference_mode():
            parts = input_parts(ours, ids, types)
            states = ours.run(ids[None], types[None], hidden_states=True).hidden_states
            alone = ours.encoder_model.embeddings(ids[None], types[None])
        torch.testing.assert_close(parts.normalised, alone[0], rtol=0, atol=1e-6)
        torch.testing.assert_close(parts.normalised, states[0][0], rtol=0, atol=1e-6)


def test_the_parts_are_those_of_the_reference(make_pair, batch):
    ours, peer = make_pair(BertModel)
    ids, types = batch.input_ids[0], batch.token_type_ids[0]
    with torch.inference_mode():
        parts = input_parts(ours, ids, types)
        theirs = peer.embeddings(input_ids=ids[None], token_type_ids=types[None])[0]
    torch.testing.assert_close(parts.normalised, theirs, rtol=0, atol=1e-6)
    assert torch.equal(parts.word, peer.embeddings.word_embeddings.weight[ids])
    assert torch.equal(parts.position, peer.embeddings.position_embeddings.weight[:7])
    assert torch.equal(parts.segment, peer.embeddings.token_type_embeddings.weight[types])
    assert types.unique().tolist() == [0, 1]  # both rows of the table were compared


def test_layer_norm_can_be_redone_from_the_parts(make_pair, batch):
    ours, _ = make_pair(BertModel, layer_norm_eps=0.01)
    parts = input_parts(ours, batch.input_ids[0])
    assert parts.epsilon == 0.01
    total = parts.word + parts.position + parts.segment
    assert torch.equal(parts.sum, total)
    assert parts.mean.shape == parts.variance.shape == (7,)
    deviation = (parts.variance[:, None] + parts.epsilon).sqrt()
    redone = (total - parts.mean[:, None]) / deviation * parts.scale + parts.shift
    torch.testing.assert_close(redone, parts.normalised, rtol=0, atol=1e-6)


def test_what_the_model_does_not_have_is_refused(make_pair):
    ours, _ = make_pair(BertModel)
    with pytest.raises(InputError, match=r"\(2, 3\)"):
        input_parts(ours, torch.ones(2, 3, dtype=torch.long))
    with pytest.raises(InputError, match="99"):
        input_parts(ours, torch.tensor([99]))
    with pytest.raises(InputError, match="20 tokens"):
        input_parts(ours, torch.ones(20, dtype=torch.long))
