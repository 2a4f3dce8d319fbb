"""The checkpoints that are timed are as TensorFlow itself would have written them."""

from pathlib import Path

import numpy as np
import torch

from bert_core.checkpoints.formats.tensorflow_checkpoint import read_variables
from tests.tensorflow_files import write_bundle, write_checkpoint

WRITTEN = Path(__file__).parent / "tensorflow" / "pretraining"


def test_a_model_is_written_as_by_tensorflow(tmp_path: Path) -> None:
    with np.load(WRITTEN / "expected.npz", allow_pickle=False) as arrays:
        weights = {name: torch.from_numpy(arrays[name]) for name in arrays}
    write_checkpoint(tmp_path / "bert_model.ckpt", weights)
    data = "bert_model.ckpt.data-00000-of-00001"
    assert (tmp_path / data).read_bytes() == (WRITTEN / data).read_bytes()
    ours, theirs = (read_variables(each / "bert_model.ckpt") for each in (tmp_path, WRITTEN))
    assert list(ours) == list(theirs)
    assert all(torch.equal(ours[name], value) for name, value in theirs.items())


def test_half_numbers_and_whole_ones_come_back(tmp_path: Path) -> None:
    written = {
        "a": torch.arange(6.0).view(2, 3).to(torch.bfloat16),
        "b": torch.arange(6.0).to(torch.float16),
        "c": torch.tensor(7),
        "d": torch.zeros(0, 4),
    }
    write_bundle(tmp_path / "x.ckpt", written)
    found = read_variables(tmp_path / "x.ckpt")
    assert found.keys() == written.keys()
    assert all(torch.equal(found[name], value) for name, value in written.items())
