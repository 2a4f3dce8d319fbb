"""Reading a TensorFlow checkpoint of base size with all checksums, compared with copying it."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import torch

from benchmarks.measure import Goal, Row, alternate
from benchmarks.tensorflow_files import write_checkpoint
from bert_core import BertConfig, BertForPreTraining

TITLE = "TensorFlow checkpoints"
NOTES = (
    "Read: `BertForPreTraining.from_pretrained(folder, from_tf=True)`, from opening the files to a "
    "model in evaluation mode; copied: the data file alone with `shutil.copyfile`. The file is in "
    "the system's cache for both, nothing is forced to the disk.",
)


def rows(*, quick: bool = False) -> Iterator[Row]:
    """Measure; a quick run has fewer rounds."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        config = BertConfig(30_522)
        torch.manual_seed(0)
        model = BertForPreTraining(config)
        weights = dict(model.state_dict())
        write_checkpoint(folder / "bert_model.ckpt", weights)
        (folder / "bert_config.json").write_text(config.to_json_string(), encoding="utf-8")
        loaded = BertForPreTraining.from_pretrained(folder, from_tf=True)
        if not all(
            torch.equal(value, weights[name]) for name, value in loaded.state_dict().items()
        ):
            raise SystemExit("The weights that were read differ from those that were written.")
        del model, weights, loaded
        data = next(folder.glob("*.data-*"))
        found = alternate(
            lambda: BertForPreTraining.from_pretrained(folder, from_tf=True),
            lambda: shutil.copyfile(data, folder / "copy"),
            rounds=3 if quick else 15,
        )
        megabytes = round(data.stat().st_size / 1e6)
        yield Row(
            f"read a TensorFlow checkpoint of base size ({megabytes} MB)",
            "copying its data file",
            Goal("time", 2.0),
            found,
        )
