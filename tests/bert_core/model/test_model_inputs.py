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


REFUSED = [
    *(({"input_ids": ids}, says) for ids, says in (
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
    )),
    *(({"input_ids": IDS, "token_type_ids": types}, says) for types, says in (
        (IDS + 1, "token_type_ids.*2.*0 to 1"),
        (IDS - 2, "token_type_ids.*-1"),
        (IDS[:, :4], r"\(2, 4\).*\(2, 5\)"),
        (IDS.float(), "token_type_ids.*float32"),
        ("segments", "str"),
    )),
    *(({"input_ids": IDS, "attention_mask": mask}, "attention_mask") for mask in (
        IDS[:, :4], IDS[0], IDS[:, :, None], torch.ones(2, 5, 4), torch.ones(3, 5, 5), [1] * 5,
    )),
    *(({"input_ids": IDS, "head_mask": torch.ones(shape)}, r"head_mask.*\(4,\).*\(2, 4\)")
      for shape in ((3,), (4, 4), (2, 3), (1, 2, 4), (2, 4, 1))),
]  # fmt: skip


@pytest.mark.parametrize(("inputs", "says"), REFUSED)
def test_inputs_that_cannot_be_used_are_refused(model, inputs, says):
    for call in (model, model.run):
        with pytest.raises(InputError, match=says):
            call(**inputs)


def test_multiple_choice_wants_three_axes(make_config):
    model = BertForMultipleChoice(make_config()).eval()
    for refused in (IDS, IDS[0], IDS[None, None]):
        with pytest.raises(InputError, match=r"batch, choices, tokens"):
            model(refused)
        with pytest.raises(InputError, match=r"batch, choices, tokens"):
            model.run(refused)
    assert model(IDS[:, None].expand(2, 4, 5)).shape == (2, 4)
    for inputs, says in (
        ((IDS[None], IDS), "token_type_ids"),
        ((IDS[None], None, IDS), "attention_mask"),
        ((torch.ones(1, 2, 20, dtype=torch.long),), "20 tokens"),
        ((IDS[None] * 99,), "99"),
    ):
        with pytest.raises(InputError, match=says):
            model(*inputs)


@pytest.mark.parametrize("count", [0, -1, 2.5, "two", True])
def test_a_number_of_labels_that_cannot_be_is_refused(make_config, count):
    with pytest.raises(BertError, match="labels"):
        BertForSequenceClassification(make_config(), num_labels=count)


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
