import torch
from torch import nn

from bert_core.checkpoints.fillable import without_memory
from bert_core.model.heads import BertForPreTraining


def test_models_are_built_with_shapes_and_no_values(make_config):
    with without_memory():
        model = BertForPreTraining(make_config())
    expected = BertForPreTraining(make_config()).state_dict()
    assert {name: value.shape for name, value in model.state_dict().items()} == {
        name: value.shape for name, value in expected.items()
    }
    assert all(value.is_meta for value in model.state_dict().values())
    assert model.cls.predictions.decoder.weight is model.bert.embeddings.word_embeddings.weight


def test_the_random_generator_is_not_touched(make_config):
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    with without_memory():
        BertForPreTraining(make_config())
    assert torch.equal(torch.rand(4), expected)


def test_afterwards_modules_have_values_again():
    with without_memory():
        assert nn.Linear(2, 3).weight.is_meta
    layer = nn.Linear(2, 3)
    assert not layer.weight.is_meta
    assert layer.weight.abs().sum() > 0
