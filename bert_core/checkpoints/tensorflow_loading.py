"""`load_tf_weights_in_bert`: a model that exists already, filled from a TensorFlow checkpoint."""

import os
from pathlib import Path
from typing import TypeVar

from bert_core.checkpoints.filling import check_finite
from bert_core.checkpoints.formats.tensorflow_folder import need_checkpoint, open_checkpoint
from bert_core.checkpoints.keys import by_bare_name
from bert_core.checkpoints.matching import check_layers, match
from bert_core.checkpoints.report import LoadReport
from bert_core.errors import InputError
from bert_core.model.bert import BertPreTrainedModel

M = TypeVar("M", bound=BertPreTrainedModel)


def load_tf_weights_in_bert(
    model: M, tf_checkpoint_path: str | os.PathLike[str], *, allow_nonfinite: bool = False
) -> M:
    """Fill a model with the weights of a TensorFlow checkpoint; TensorFlow is not needed.

    Parameters that the checkpoint does not hold keep their values and are listed in
    `model.load_report.missing`; variables of an optimizer are passed over.

    Args:
        model: a model of any of the eight classes, on any device.
        tf_checkpoint_path: what its files have in common (`.../bert_model.ckpt`), the file that
            ends in `.index`, or their folder.
        allow_nonfinite: whether weights may be NaN or infinite.

    Returns:
        The same model.

    Raises:
        InputError: the path is not a text or a path, or the model none of this package.
        CheckpointError: the files are damaged, hostile, not finite, or do not fit;
            MissingFileError where one is not there. Names and shapes are compared before anything
            is changed, checksums while reading: after a wrong one the model is filled in part.
            Weights that are not finite are found at the end, when the model is filled with them.
    """
    if not isinstance(model, BertPreTrainedModel):
        raise InputError(f"Expected a model of this package to fill; got a {type(model).__name__}.")
    prefix = _prefix(tf_checkpoint_path)
    with open_checkpoint(prefix) as tensors:
        found, _ = by_bare_name(tensors)
        check_layers(model.config.num_hidden_layers, found, prefix.name)
        plan = match(model, found)
        filled = [(each, model.get_parameter(name)) for name, each in plan.stored.items()]
        for entry, parameter in filled:
            entry.tensor.copy_to(parameter)
    if not allow_nonfinite:
        check_finite([(entry, parameter.detach()) for entry, parameter in filled])
    model.load_report = LoadReport(
        plan.missing, plan.unexpected, plan.mismatched, os.fspath(tf_checkpoint_path)
    )
    return model


def _prefix(path: str | os.PathLike[str]) -> Path:
    """Return what the names of a checkpoint's files have in common."""
    try:
        text = os.fspath(path)
    except TypeError:
        text = None
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        raise InputError(f"Expected the path of a TensorFlow checkpoint; got {path!r}.")
    place = Path(text.removesuffix(".index")).expanduser()
    return need_checkpoint(place) if place.is_dir() else place
