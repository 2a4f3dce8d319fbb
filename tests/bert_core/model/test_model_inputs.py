"""Every refusal of the contract, with the numbers a person needs to put it right."""

import pytest
import torch

from bert_core.errors import BertError, InputError
from bert_core.model.bert import BertModel
from bert_core.model.heads import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForSequenceClassification,
)

IDS = torch.ones(2, 5, dtype=torch.long)


@pytest.fixture
def model(make_config):
    return BertModel(make_config()).eval()


@pytest.mark.parametrize(
    ("ids", "says"),
    [
        (IDS.float(), "float32"),
        (IDS.bool(), "bool"),
        (IDS.to(torch.complex64), "complex64"),
        ([[1, 2, 3]], "list"),
        (None, "NoneType"),
        (IDS[0], r"\(5,\)"),
        (IDS[None], r"\(1, 2, 5\)"),
        (torch.tensor(3), r"\(\)"),
        (IDS[:, :0], r"\(2, 0\)"),
        (IDS[:0], r"\(0, 5\)"),
        (torch.ones(1, 20, dtype=torch.long), "20 tokens.*19"),
        (IDS * 99, "99.*0 to 98"),
        (IDS * -1, "-1.*0 to 98"),
        (IDS * 2**40, "1099511627776"),
    ],
)
def test_input_ids_that_cannot_be_used_are_refused(model, ids, says):
    with pytest.raises(InputError, match=says):
        model(ids)
    with pytest.raises(InputError, match=says):
        model.run(ids)


def test_the_longest_input_is_read(model):
    assert model.run(torch.ones(1, 19, dtype=torch.long)).last_hidden_state.shape == (1, 19, 32)


@pytest.mark.parametrize(
    ("types", "says"),
    [
        (IDS + 1, "token_type_ids.*2.*0 to 1"),
        (IDS - 2, "token_type_ids.*-1"),
        (IDS[:, :4], r"\(2, 4\).*\(2, 5\)"),
        (IDS.float(), "token_type_ids.*float32"),
        ("segments", "str"),
    ],
)
def test_token_types_that_cannot_be_used_are_refused(model, types, says):
    with pytest.raises(InputError, match=says):
        model(IDS, types)


@pytest.mark.parametrize(
    "mask", [IDS[:, :4], IDS[0], IDS[:, :, None], torch.ones(2, 5, 4), torch.ones(3, 5, 5), [1] * 5]
)
def test_an_attention_mask_that_cannot_be_used_is_refused(model, mask):
    with pytest.raises(InputError, match="attention_mask"):
        model(IDS, attention_mask=mask)


@pytest.mark.parametrize("shape", [(3,), (4, 4), (2, 3), (1, 2, 4), (2, 4, 1)])
def test_a_head_mask_of_another_shape_is_refused(model, shape):
    with pytest.raises(InputError, match=r"head_mask.*\(4,\).*\(2, 4\)"):
        model(IDS, head_mask=torch.ones(shape))


def test_multiple_choice_wants_three_axes(make_config):
    model = BertForMultipleChoice(make_config()).eval()
    for refused in (IDS, IDS[0], IDS[None, None]):
        with pytest.raises(InputError, match=r"batch, choices, tokens"):
            model(refused)
        with pytest.raises(InputError, match=r"batch, choices, tokens"):
            model.run(refused)
    assert model(IDS[:, None].expand(2, 4, 5)).shape == (2, 4)
    with pytest.raises(InputError, match="token_type_ids"):
        model(IDS[None], IDS)
    with pytest.raises(InputError, match="attention_mask"):
        model(IDS[None], None, IDS)
    with pytest.raises(InputError, match="20 tokens"):
        model(torch.ones(1, 2, 20, dtype=torch.long))
    with pytest.raises(InputError, match="99"):
        model(IDS[None] * 99)


@pytest.mark.parametrize("count", [0, -1, 2.5, "two", True])
def test_a_number_of_labels_that_cannot_be_is_refused(make_config, count):
    with pytest.raises(BertError, match="labels"):
        BertForSequenceClassification(make_config(), num_labels=count)


def test_a_model_is_built_from_a_config_and_says_so():
    with pytest.raises(ValueError, match="from_pretrained"):
        BertModel("some-folder")


@pytest.mark.parametrize(
    ("positions", "says"),
    [
        (torch.tensor([[5]] * 2), "5.*0 to 4"),
        (torch.tensor([[-1]] * 2), "-1.*0 to 4"),
        (torch.tensor([1, 2]), r"\(2,\)"),
        (torch.tensor([[1]]), r"\(1, 1\)"),
        (torch.ones(2, 1), "whole numbers"),
        ([[1]], "whole numbers"),
    ],
)
def test_positions_outside_the_input_are_refused(make_config, positions, says):
    model = BertForMaskedLM(make_config()).eval()
    with pytest.raises(InputError, match=says):
        model.scores_at(IDS, positions)
