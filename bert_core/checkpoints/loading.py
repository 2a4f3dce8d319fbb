"""Load models: from a name, sharing another model's parameters, or into an existing one."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import nn

from bert_core.checkpoints.fillable import Fillable, LoadReport, M
from bert_core.checkpoints.filling import check_finite, fill, fill_fresh, set_parameters
from bert_core.checkpoints.formats.tensorflow_checkpoint import open_checkpoint
from bert_core.checkpoints.formats.weights import open_weights
from bert_core.checkpoints.keys import Found, bare_name, by_bare_name
from bert_core.checkpoints.ownership import PARTS, head_class
from bert_core.checkpoints.plan import check_layers, match, open_folder
from bert_core.checkpoints.settings import LoadOptions, chosen_options, wanted_dtype
from bert_core.checkpoints.sources.hub_names import Part
from bert_core.checkpoints.sources.resolve import resolve
from bert_core.errors import CheckpointError, InputError
from bert_core.families import BERT
from bert_core.small_files import text_of


def load_pretrained(
    cls: type[M],
    name_or_path: str | os.PathLike[str],
    *inputs: Any,
    cache_dir: str | os.PathLike[str] | None = None,
    state_dict: Mapping[str, Any] | None = None,
    from_tf: bool = False,
    revision: str | None = None,
    force_download: bool = False,
    **options: Any,
) -> M:
    """Build `cls`, fill it from a checkpoint, and return it in evaluation mode with a report.

    Args:
        name_or_path: a folder, an archive or its address, the name of a bundled model, or an id
            on the Hub; see `resolve`.
        state_dict: weights to use instead of those of the folder, with all embeddings and layers.
            They are taken as weights of this class; a folder's `classifier` is left out if the
            folder declares that it belongs to another class (see `ownership`).
        from_tf: read the folder's TensorFlow checkpoint even if it has other weights.
        force_download: fetch a model on the Hub again, because the copy that is here is damaged.
        **options: keyword arguments of the class (`output_attentions`, `num_labels` ...); fields
            of the config to override; `config`, a BertConfig to use instead of the file;
            `dtype` or `torch_dtype`, a torch.dtype, its name, or "auto" for the file's own
            (default float32; for "bfloat16" see docs/bfloat16.md);
            `ignore_mismatched_sizes=True` for a fresh head if the checkpoint's has another shape.

    Raises:
        InputError: an option is unknown, or a loading option is given by position.
        ConfigError: no model can be built from the configuration, or it is of another
            architecture.
        CheckpointError: the weights are damaged, malicious, not finite or do not fit, or lack part
            of the embeddings or layers. MissingFileError if a file is missing.
    """
    wanted = chosen_options(cls, inputs, options)
    part = Part.TENSORFLOW if from_tf else Part.MODEL
    part = part if state_dict is None else Part.CONFIG
    files = open_folder(
        resolve(
            name_or_path,
            cache_dir=cache_dir,
            revision=revision,
            part=part,
            force_download=force_download,
        ),
        os.fspath(name_or_path),
        config=wanted.config,
        from_tf=from_tf,
        state_dict=state_dict,
    )
    plan = files.plan(cls, wanted)
    dtype = wanted_dtype(wanted.dtype, (found.tensor for found in plan.stored.values()))
    return fill(plan, dtype)


def load_sharing(cls: type[M], base: Fillable, folder: Path) -> M:
    """Build `cls` from a folder, sharing the parameters of a model loaded from that folder.

    Loaded separately, each class would have its own copy of the encoder. Here, parameters that the
    folder has for every class alike are those of `base`, not copies. Those in `heads/<ClassName>`,
    or that `base` lacks, are read and belong only to the new model. A head trained for another
    class is not used, even if names and shapes match (see `ownership`).

    Raises:
        BertError: as `load_pretrained`.
    """
    report = base.load_report or LoadReport(source=str(folder))
    first = next(base.parameters())
    plan = open_folder(folder, report.source, values=False).plan(cls)
    not_shared = {bare_name(name) for name in report.missing} | plan.own
    theirs = {bare: each for bare, each in _by_bare_name(base).items() if bare not in not_shared}
    places = {name: bare_name(name) for name in plan.stored}
    shared = {name: theirs[bare] for name, bare in places.items() if bare in theirs}
    if not {bare for name, bare in places.items() if name not in shared} <= plan.own:
        plan = open_folder(folder, report.source).plan(cls)  # needs more than the head
    model = fill(plan, first.dtype, shared=shared)
    # Move new parameters to the base's device; shared ones are there already and stay shared.
    return model if first.device.type == "cpu" else model.to(first.device)


def share_parameters(model: M, base: Fillable) -> M:
    """Give a model without memory the parameters of another; see `from_model` of the models."""
    report, first = base.load_report or LoadReport(), next(base.parameters())
    theirs, unfilled = _by_bare_name(base), {bare_name(name) for name in report.missing}
    ours, owner = head_class(type(model)), head_class(type(base))
    if ours and owner and ours != owner:
        theirs = {bare: each for bare, each in theirs.items() if not bare.startswith(PARTS)}
    found = {bare: Found(bare, value.detach()) for bare, value in theirs.items()}
    plan = match(model, found, report.source, LoadOptions(ignore_mismatched_sizes=True))
    fill_fresh(model, plan.report.missing, first.dtype, first.device)
    set_parameters(model, {name: theirs[bare_name(name)] for name in plan.stored})
    missing = {*plan.report.missing, *(name for name in plan.stored if bare_name(name) in unfilled)}
    in_order = (name for name, _ in model.named_parameters() if name in missing)
    model.load_report = LoadReport(tuple(in_order), source=report.source)
    return model


def _by_bare_name(model: Fillable) -> dict[str, nn.Parameter]:
    return {bare_name(name): parameter for name, parameter in model.named_parameters()}


def load_tf_weights_in_bert(model: M, tf_checkpoint_path: str | os.PathLike[str]) -> M:
    """Fill a model with the weights of a TensorFlow checkpoint, without TensorFlow; return it.

    The path is the common prefix of the files (`.../bert_model.ckpt`), the `.index` file, or their
    folder. A pooler or head that the checkpoint does not contain keeps its values and is listed in
    `model.load_report.missing`; optimizer variables are ignored.

    Raises:
        InputError: the path is not a string or a path, or the model is not from this package.
        CheckpointError: the files are damaged, malicious, not finite, or do not fit;
            MissingFileError if one is missing. The model is as it was before.
    """
    if not hasattr(model, "tied_keys"):
        raise InputError(f"Expected a model of this package to fill; got a {type(model).__name__}.")
    if model.config.family is not BERT:
        raise CheckpointError(
            f"TensorFlow checkpoints are read for BERT only; this model is of the family "
            f"{model.config.family.title}. Convert the checkpoint with `transformers` first."
        )
    source = text_of(tf_checkpoint_path)
    if source is None:
        raise InputError(
            f"Expected the path of a TensorFlow checkpoint; got {tf_checkpoint_path!r}."
        )
    place = Path(source.removesuffix(".index")).expanduser()
    tensors = open_weights(place, from_tf=True) if place.is_dir() else open_checkpoint(place)
    found, _ = by_bare_name(tensors, model.config)
    check_layers(model.config, found, source)
    plan = match(model, found, source, LoadOptions(config=model.config))
    if plan.refusal:
        raise CheckpointError(plan.refusal)
    dtype, stored = next(model.parameters()).dtype, plan.stored.values()
    check_finite((each.file_name, each.tensor, each.tensor.to(dtype)) for each in stored)
    for name, entry in plan.stored.items():
        model.get_parameter(name).detach().copy_(entry.tensor)
    model.load_report = plan.report
    return model
