"""The checkpoints that are timed are as TensorFlow itself would have written them."""

from pathlib import Path

import numpy as np
import torch

from benchmarks.tensorflow_files import write_bundle, write_checkpoint
from bert_core.checkpoints.formats.tensorflow_checkpoint import TensorBundle
from bert_core.checkpoints.formats.tensorflow_index import read_index, read_table

WRITTEN = Path(__file__).parents[1] / "bert_core" / "checkpoints" / "tensorflow" / "pretraining"


def test_a_model_is_written_byte_for_byte_as_by_tensorflow(tmp_path: Path) -> None:
    with np.load(WRITTEN / "expected.npz", allow_pickle=False) as arrays:
        weights = {name: torch.from_numpy(arrays[name]) for name in arrays}
    write_checkpoint(tmp_path / "bert_model.ckpt", weights)
    data = "bert_model.ckpt.data-00000-of-00001"
    assert (tmp_path / data).read_bytes() == (WRITTEN / data).read_bytes()
    index = "bert_model.ckpt.index"
    assert read_table(tmp_path / index) == read_table(WRITTEN / index)


def test_half_numbers_and_whole_ones_come_back(tmp_path: Path) -> None:
    written = {
        "a": torch.arange(6.0).view(2, 3).to(torch.bfloat16),
        "b": torch.arange(6.0).to(torch.float16),
        "c": torch.tensor(7),
        "d": torch.zeros(0, 4),
    }
    write_bundle(tmp_path / "x.ckpt", written)
    shards, entries = read_index(tmp_path / "x.ckpt.index")
    assert shards == 1
    assert [entry.name for entry in entries] == ["a", "b", "c", "d"]
    with TensorBundle(tmp_path / "x.ckpt") as bundle:
        for name, tensor in bundle.tensors.items():
            found = torch.empty(tensor.shape, dtype=tensor.dtype)
            tensor.copy_to(found)
            assert torch.equal(found, written[name])
