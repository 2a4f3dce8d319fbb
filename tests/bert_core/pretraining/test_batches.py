"""The batches of a pretraining: every row once per epoch, masks by step, pairs with labels."""

import pytest
import torch

from bert_core.errors import InputError
from bert_core.pretraining import PretrainingBatches

VOCABULARY = {
    token: number
    for number, token in enumerate(
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijkl", "##m", "##n"]
    )
}
DOCUMENTS = [[[5, 6, 7], [8, 9]], [[10, 11, 12, 13], [14, 15, 16]], [[5, 9, 17, 18], [6, 8]]]


def batches(**options: object) -> PretrainingBatches:
    given = {"batch_size": 3, "next_sentence": False, **options}
    return PretrainingBatches(DOCUMENTS, VOCABULARY, **given)  # type: ignore[arg-type]


def test_every_row_comes_once_per_epoch_in_a_new_order() -> None:
    source = batches()
    orders = [torch.cat([source.masked(step)[2] for step in (2 * e, 2 * e + 1)]) for e in (0, 1)]
    assert all(sorted(order.tolist()) == list(range(6)) for order in orders)
    assert orders[0].tolist() != orders[1].tolist()


def test_a_step_depends_only_on_the_seed_and_its_number() -> None:
    first, second = batches(seed=5), batches(seed=5)
    for step in range(4):
        second(step)
    assert torch.equal(first(3)[0].input_ids, second(3)[0].input_ids)
    assert torch.equal(first(0)[0].input_ids, second(0)[0].input_ids)
    ids = [torch.cat([batches(seed=s)(n)[0].input_ids.flatten() for n in (0, 1)]) for s in (5, 6)]
    assert ids[0].tolist() != ids[1].tolist()


def test_rows_are_cut_to_the_longest_of_their_batch() -> None:
    source = batches(batch_size=1)
    for step in range(6):
        batch = source(step)[0]
        assert batch.attention_mask is not None
        assert batch.attention_mask.all()
    assert source.rows.input_ids.shape == (6, 6)


def test_pairs_have_segments_and_the_label_of_their_row() -> None:
    source = batches(next_sentence=True, batch_size=4)
    following = {(5, 6, 7, 8, 9), (10, 11, 12, 13, 14, 15, 16), (5, 9, 17, 18, 6, 8)}
    assert source.labels is not None
    for step in range(3):
        rows, _, chosen = source.masked(step)
        batch = source(step)[0]
        assert batch.next_sentence_label is not None
        assert batch.token_type_ids is not None
        assert torch.equal(batch.next_sentence_label, source.labels[chosen])
        for ids, label in zip(rows.input_ids, batch.next_sentence_label, strict=True):
            words = tuple(int(each) for each in ids if each > 4)
            assert (words in following) == (label == 0)


@pytest.mark.parametrize("options", [{"batch_size": 0}, {"mask_rate": 1.5}])
def test_values_out_of_range_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(InputError):
        batches(**options)(0)
