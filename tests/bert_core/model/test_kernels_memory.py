"""Blocks of memory are returned when, and only when, they are no longer in use."""

import gc
import threading

import numpy as np
import pytest
import torch

from bert_core.model.kernels import Blocks

LARGE = (3, 1024, 1024)


def test_memory_has_the_shape_and_type_that_was_asked_for():
    blocks = Blocks(keep=2)
    for shape in (LARGE, (2, 3), (0, 5), (1024, 1025)):
        found = blocks.empty(shape)
        assert found.shape == shape
        assert found.dtype == torch.float32
        assert found.is_contiguous()
        assert found.data_ptr() % 64 == 0 or found.numel() == 0
        found.fill_(1.5)
        assert float(found.sum()) == 1.5 * found.numel()


def test_a_block_is_used_again_once_it_is_free():
    blocks = Blocks(keep=2)
    first = blocks.empty(LARGE)
    address = first.data_ptr()
    assert blocks.empty(LARGE).data_ptr() != address
    del first
    gc.collect()
    assert len(blocks) == 2
    assert address in {blocks.empty(LARGE).data_ptr(), blocks.empty(LARGE).data_ptr()}


@pytest.mark.parametrize(
    "view",
    [
        lambda tensor: tensor[1],
        lambda tensor: tensor[0].numpy(),
        lambda tensor: tensor.numpy()[2, 5:, ::3],
        lambda tensor: torch.from_numpy(tensor.numpy()[1]).reshape(-1),
        lambda tensor: memoryview(tensor.numpy()),
        lambda tensor: tensor.detach().permute(2, 0, 1),
    ],
)
def test_a_block_stays_in_use_while_a_view_of_it_exists(view):
    blocks = Blocks(keep=2)
    held = view(blocks.empty(LARGE).fill_(7.0))
    gc.collect()
    assert len(blocks) == 0
    blocks.empty(LARGE).zero_()
    assert (np.asarray(held) == 7.0).all()
    del held
    gc.collect()
    assert len(blocks) > 0


def test_blocks_serve_what_fits_and_nothing_much_smaller():
    blocks = Blocks(keep=4)
    lent = {"first": blocks.empty((8, 1024, 1024))}
    lent.clear()
    assert len(blocks) == 1
    lent["smaller"] = blocks.empty((5, 1024, 1024))
    assert len(blocks) == 0
    lent.clear()
    lent["much smaller"] = blocks.empty((3, 1024, 1024))
    assert len(blocks) == 1
    lent["larger"] = blocks.empty((9, 1024, 1024))
    assert len(blocks) == 1


def test_texts_of_about_the_same_length_serve_each_other():
    blocks = Blocks(keep=2)
    shorter = blocks.empty((12, 505, 505))
    address = shorter.data_ptr()
    del shorter
    assert blocks.empty((12, 512, 512)).data_ptr() == address


def test_no_more_unused_blocks_are_kept_than_was_said():
    blocks = Blocks(keep=2)
    lent = [blocks.empty(LARGE) for _ in range(5)]
    assert len({tensor.data_ptr() for tensor in lent}) == 5
    lent.clear()
    assert len(blocks) == 2


def test_threads_never_share_a_block():
    blocks = Blocks(keep=3)
    wrong = []

    def work(number):
        for _ in range(30):
            mine = blocks.empty((2, 512, 512)).fill_(number)
            if bool((mine != number).any()):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
