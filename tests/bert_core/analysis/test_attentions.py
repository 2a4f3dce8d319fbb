"""Attention alone is the attention of the whole pass."""

import pytest
import torch

from bert_core import BertConfig, BertForQuestionAnswering, BertModel
from bert_core.analysis.forward import attention_maps, queries_and_keys
from bert_core.errors import InputError
from bert_core.model.pretrained import BertPreTrainedModel


def tiny(cls: type[BertPreTrainedModel], layers: int) -> BertPreTrainedModel:
    torch.manual_seed(1)
    return cls(
        BertConfig(
            99,
            hidden_size=32,
            num_hidden_layers=layers,
            num_attention_heads=4,
            intermediate_size=37,
            max_position_embeddings=400,
        )
    ).eval()


@pytest.mark.parametrize("cls", [BertModel, BertForQuestionAnswering])
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("length", [7, 350])
def test_attention_alone_is_that_of_the_whole_pass(
    cls: type[BertPreTrainedModel], layers: int, length: int
) -> None:
    model = tiny(cls, layers)
    ids = torch.randint(0, 99, (2, length))
    types = torch.randint(0, 2, (2, length))
    mask = torch.ones(2, length, dtype=torch.long)
    mask[1, 5:] = 0
    with torch.inference_mode():
        alone = attention_maps(model, ids, types, mask)
        whole = model.run(ids, types, mask).attentions
    assert whole is not None
    assert len(alone) == layers
    for mine, theirs in zip(alone, whole, strict=True):
        assert torch.equal(mine, theirs)


def test_bad_inputs_are_refused_before_any_arithmetic() -> None:
    model = tiny(BertModel, 2)
    with pytest.raises(InputError, match="401"):
        attention_maps(model, torch.zeros(1, 401, dtype=torch.long))
    with pytest.raises(InputError):
        attention_maps(model, torch.tensor([[99]]))


@pytest.mark.parametrize("length", [7, 350])
def test_queries_and_keys_give_the_attention_of_their_layer(length: int) -> None:
    model = tiny(BertForQuestionAnswering, 3)
    ids, types = torch.randint(0, 99, (2, length)), torch.randint(0, 2, (2, length))
    mask = torch.ones(2, length, dtype=torch.long)
    mask[1, 5:] = 0
    with torch.inference_mode():
        maps = attention_maps(model, ids, types, mask)
        for layer, wanted in enumerate(maps):
            query, key = queries_and_keys(model, layer, ids, types, mask)
            assert query.shape == key.shape == (2, 4, length, 8)
            scores = query.double() @ key.double().transpose(-1, -2) / 8**0.5
            scores = scores.masked_fill(mask[:, None, None, :] == 0, float("-inf"))
            assert (scores.softmax(-1) - wanted).abs().max() < 1e-6


@pytest.mark.parametrize("layer", [-1, 3])
def test_queries_of_a_layer_that_does_not_exist_are_refused(layer: int) -> None:
    with pytest.raises(InputError, match="layers 0 to 2"):
        queries_and_keys(tiny(BertModel, 3), layer, torch.tensor([[1, 2]]))
