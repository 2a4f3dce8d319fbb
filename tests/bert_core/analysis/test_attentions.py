"""Attention alone is the attention of the whole pass."""

import pytest
import torch

from bert_core import BertConfig, BertForQuestionAnswering, BertModel
from bert_core.analysis.attentions import attention_maps
from bert_core.errors import InputError
from bert_core.model.bert import BertPreTrainedModel


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
