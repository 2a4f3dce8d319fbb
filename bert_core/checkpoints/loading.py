"""From a name to a model in evaluation mode, and an honest report of what was filled.

The model is built without memory first, so that every name and shape of the checkpoint can be
compared before anything is reserved; then the parameters get their values, see `filling`.
"""

import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bert_core.checkpoints.filling import fill
from bert_core.checkpoints.formats.pickle_file import from_state_dict
from bert_core.checkpoints.formats.weights import has_weights, open_weights
from bert_core.checkpoints.keys import Found, by_bare_name
from bert_core.checkpoints.matching import check_layers, check_memory, check_repeats, match
from bert_core.checkpoints.ownership import without_foreign_head
from bert_core.checkpoints.report import LoadReport
from bert_core.checkpoints.settings import (
    check_positional,
    read_config,
    split_options,
    wanted_dtype,
)
from bert_core.checkpoints.skeleton import without_memory
from bert_core.checkpoints.sources.hub_names import Part
from bert_core.checkpoints.sources.resolve import resolve

if TYPE_CHECKING:
    from bert_core.model.bert import BertPreTrainedModel

M = TypeVar("M", bound="BertPreTrainedModel")


def load_pretrained(
    cls: type[M],
    name_or_path: str | os.PathLike[str],
    *inputs: Any,
    cache_dir: str | os.PathLike[str] | None = None,
    state_dict: Mapping[str, Any] | None = None,
    from_tf: bool = False,
    revision: str | None = None,
    **options: Any,
) -> M:
    """Build `cls` and fill it from a checkpoint.

    Args:
        cls: one of the eight model classes.
        name_or_path: what `resolve` takes: a folder, an archive or its address, the name of a
            bundled model, an id on the Hub.
        *inputs: more positional arguments of the class (num_labels, num_choices).
        cache_dir: where downloads are kept.
        state_dict: weights to use instead of those of the folder. They are taken as weights of
            this class; a folder's `classifier` is left out where the folder says that it belongs
            to another class (see `ownership`).
        from_tf: read the folder's TensorFlow checkpoint even where it has other weights.
        revision: the version to load, where the source has versions.
        **options: keyword arguments of the class (`output_attentions`, `num_labels` ...); fields
            of the config to override; `config`, a BertConfig to use instead of the file;
            `dtype` or `torch_dtype`, a torch.dtype, its name, or "auto" for the file's own
            (default float32); `ignore_mismatched_sizes=True` to start a head afresh where the
            checkpoint's has another shape; `allow_nonfinite=True` to load weights that are NaN
            or infinite, for instance to find out where a training diverged.

    Returns:
        The model, in evaluation mode, with its `load_report`.

    Raises:
        InputError: an option that is not known, or one of loading given by position.
        ConfigError: a configuration no model can be built from, or of another architecture.
        CheckpointError: weights that are damaged, hostile, not finite or do not fit.
            MissingFileError where something is not there at all.
    """
    check_positional(cls, inputs)
    part = Part.TENSORFLOW if from_tf else Part.MODEL
    part = part if state_dict is None else Part.CONFIG
    folder = resolve(name_or_path, cache_dir=cache_dir, revision=revision, part=part)
    arguments, overrides, load = split_options(cls, options)
    head = head_folder(folder, cls)
    config = load.config or read_config(head or folder, overrides)
    with ExitStack() as stack:
        if state_dict is None:
            found, repeats = by_bare_name(
                stack.enter_context(open_weights(folder, from_tf=from_tf))
            )
            told = load.config or read_config(folder, {})
            found = without_foreign_head(cls, told, found, keep_untold=True)
            found |= _open_head(head, stack)
            check_layers(config.num_hidden_layers, found, os.fspath(name_or_path))
        else:
            found, repeats = by_bare_name(from_state_dict(dict(state_dict), "state_dict"))
        with without_memory():
            model = cls(config, *inputs, **arguments)
        plan = match(model, found, ignore_mismatched_sizes=load.ignore_mismatched_sizes)
        if state_dict is None:
            check_memory(model, plan)
        dtype = wanted_dtype(load.dtype, (entry.tensor for entry in plan.stored.values()))
        fill(model, plan, dtype, allow_nonfinite=load.allow_nonfinite)
        check_repeats(model, plan, repeats)
    model.load_report = LoadReport(
        plan.missing, plan.unexpected, plan.mismatched, os.fspath(name_or_path)
    )
    return model.eval()


def head_folder(folder: Path, cls: type[Any]) -> Path | None:
    """Return `heads/<ClassName>`, which holds what this class changes of the root."""
    head = folder / "heads" / cls.__name__
    return head if os.path.isfile(head / "config.json") else None


def _open_head(head: Path | None, stack: ExitStack) -> dict[str, Found]:
    """Open the weights of a head, if it has any."""
    if head is None or not has_weights(head):
        return {}
    return by_bare_name(stack.enter_context(open_weights(head)))[0]
