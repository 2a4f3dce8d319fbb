"""Head masks and pruning. No peer has them any more, so algebra is the judge."""

import pytest
import torch

from bert_core.errors import InputError
from bert_core.model.bert import BertModel
from bert_core.model.heads import BertForMaskedLM


def without_columns(peer, layer, heads):
    """Zero what the output projection reads from some heads."""
    dense = peer.encoder.layer[layer].attention.output.dense
    with torch.no_grad():
        for head in heads:
            dense.weight[:, head * 8 : (head + 1) * 8] = 0
    return peer


def test_a_head_switched_off_equals_zeroing_its_columns(make_pair, batch, assert_close):
    ours, peer = make_pair(BertModel)
    mask = torch.tensor([[1, 0, 1, 1], [0, 1, 1, 0]])
    for layer, heads in ((0, [1]), (1, [0, 3])):
        without_columns(peer, layer, heads)
    expected = peer(**vars(batch))
    for kind in (torch.float32, torch.long, torch.bool):
        _, pooled = ours(**vars(batch), head_mask=mask.to(kind))
        assert_close(pooled, expected.pooler_output)
    assert_close(
        ours.run(**vars(batch), head_mask=mask).last_hidden_state, expected.last_hidden_state
    )


def test_a_row_of_a_head_mask_counts_for_every_layer_and_never_for_attentions(
    make_pair, batch, assert_close
):
    ours, peer = make_pair(BertModel)
    plain = ours.run(**vars(batch))
    for mask, equal in ((torch.ones(2, 4), True), (torch.zeros(4), False)):
        found = ours.run(**vars(batch), head_mask=mask)
        assert_close(found.attentions[0], plain.attentions[0])
        if equal:
            assert_close(found.last_hidden_state, plain.last_hidden_state)
    for layer in range(2):
        without_columns(peer, layer, [2])
    _, pooled = ours(**vars(batch), head_mask=torch.tensor([1.0, 1.0, 0.0, 1.0]))
    assert_close(pooled, peer(**vars(batch)).pooler_output)


@pytest.mark.parametrize(
    ("calls", "mask"),
    [
        ([{0: [1, 3], -1: [3]}], [[1, 0, 1, 0], [1, 1, 1, 0]]),
        ([{0: [0]}, {0: [0, 2]}, {-2: [-4]}, {}], [[0, 1, 0, 1], [1, 1, 1, 1]]),  # twice is once
        ([{0: range(4)}], [[0] * 4, [1] * 4]),
    ],
)
def test_pruned_equals_masked(make_pair, batch, assert_close, calls, mask):
    ours, _ = make_pair(BertModel)
    expected = ours.run(**vars(batch), head_mask=torch.tensor(mask))
    for heads in calls:
        ours.prune_heads(heads)
    for inference in (True, False):
        with torch.inference_mode(inference):
            hidden = ours.run(**vars(batch), attentions=False).last_hidden_state
            found = ours.run(**vars(batch))
        assert_close(hidden, expected.last_hidden_state)
        assert_close(found.last_hidden_state, expected.last_hidden_state)
        for mine, whole, row in zip(found.attentions, expected.attentions, mask, strict=True):
            assert_close(mine, whole[:, torch.tensor(row).bool()])


def test_a_head_mask_keeps_the_numbers_of_the_whole_model_after_pruning(
    make_pair, batch, assert_close
):
    ours, _ = make_pair(BertModel)
    both = torch.tensor([[0, 1, 1, 0], [1, 1, 1, 1]])
    expected = ours.run(**vars(batch), head_mask=both).last_hidden_state
    ours.prune_heads({0: [0]})
    later = torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1]])
    assert_close(ours.run(**vars(batch), head_mask=later).last_hidden_state, expected)
    attention = ours.encoder.layer[0].attention  # it is smaller now
    assert attention.self.query.weight.shape == (24, 32)
    assert attention.self.value.bias.shape == (24,)
    assert attention.output.dense.weight.shape == (32, 24)


@pytest.mark.parametrize("heads", [{2: [0]}, {-3: [0]}, {0: [4]}, {0: [-5]}])
def test_heads_the_model_never_had_are_refused_and_nothing_is_pruned(make_config, heads):
    model = BertModel(make_config())
    with pytest.raises(InputError, match="There is no"):
        model.prune_heads({1: [0], **heads})
    assert model.encoder.layer[1].attention.self.query.weight.shape == (32, 32)


def test_a_pruned_model_is_saved_and_loaded(make_pair, batch, tmp_path, assert_close):
    ours, _ = make_pair(BertForMaskedLM)
    ours.prune_heads({0: [1, 3], 1: [0]})
    ours.save_pretrained(tmp_path)
    again = BertForMaskedLM.from_pretrained(tmp_path)
    assert again.load_report.missing == ()
    assert again.encoder_model.encoder.layer[0].attention.self.heads == [0, 2]
    assert_close(again(**vars(batch)), ours(**vars(batch)))
    encoder = BertModel.from_pretrained(tmp_path)
    encoder.prune_heads({0: [1]})
    assert encoder.encoder.layer[0].attention.self.query.weight.shape == (16, 32)
