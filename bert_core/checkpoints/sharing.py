"""Further classes on the encoder of a model that is already loaded.

A folder may serve several classes (its root, and `heads/<ClassName>` where a class differs). Loaded
one by one, each would bring a copy of the encoder. Here a class takes over every parameter that
the files give it as they gave it to the loaded model, and reads only the rest.
"""

import copy
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import torch

from bert_core.checkpoints.filling import fill
from bert_core.checkpoints.formats.weights import has_weights, open_weights
from bert_core.checkpoints.keys import Found, Repeat, bare_name, by_bare_name
from bert_core.checkpoints.loading import head_folder
from bert_core.checkpoints.matching import Match, check_memory, check_repeats, match
from bert_core.checkpoints.ownership import without_foreign_head
from bert_core.checkpoints.report import LoadReport
from bert_core.checkpoints.settings import read_config
from bert_core.checkpoints.skeleton import without_memory
from bert_core.config import BertConfig

if TYPE_CHECKING:
    from bert_core.model.bert import BertPreTrainedModel

M = TypeVar("M", bound="BertPreTrainedModel")

_PROJECTION = ".attention.self."


def load_sharing(cls: type[M], base: "BertPreTrainedModel", folder: Path) -> M:
    """Build `cls` from a folder on the parameters of a model loaded from the same folder.

    Parameters that come from the root's files are those of `base`, not copies; what
    `heads/<ClassName>` holds, or what `base` has no place for, is read and belongs to the new
    model alone. A head that was trained for another class is not taken over, even where names
    and shapes agree (see `ownership`).

    Args:
        cls: the class to build.
        base: a model of any class, loaded from the root of the folder.
        folder: the folder.

    Returns:
        The model, in evaluation mode, with its `load_report`.

    Raises:
        BertError: as `load_pretrained`.
    """
    head = head_folder(folder, cls)
    with ExitStack() as stack:
        own: dict[str, Found] = {}
        repeats: tuple[Repeat, ...] = ()
        if head is not None and has_weights(head):
            own, repeats = by_bare_name(stack.enter_context(open_weights(head)))
        root, _ = by_bare_name(stack.enter_context(open_weights(folder)))
        root = without_foreign_head(cls, read_config(folder, {}), root)
        found = root | own
        config = with_counted_labels(read_config(head or folder, {}), found)
        with without_memory():
            model = cls(config)
        plan = match(model, found)
        check_memory(model, plan)
        shared = _shared(base, plan, own)
        fill(model, _without(plan, shared), base.dtype)
        for name, parameter in shared.items():
            owner, _, leaf = name.rpartition(".")
            setattr(model.get_submodule(owner), leaf, parameter)
        model.tie_weights()
        check_repeats(model, plan, repeats)
    source = base.load_report.source if base.load_report else str(folder)
    model.load_report = LoadReport(plan.missing, plan.unexpected, plan.mismatched, source)
    if base.device.type != "cpu":
        model.to(base.device)  # what was read; what is shared is there and stays shared
    return model.eval()


def with_counted_labels(config: BertConfig, found: dict[str, Found]) -> BertConfig:
    """Take the number of labels from the classifier itself where the config says none."""
    head = found.get("classifier.weight")
    if head is None or config.has_declared_labels or len(head.tensor.shape) != 2:
        return config
    config = copy.deepcopy(config)
    config.num_labels = head.tensor.shape[0]
    return config


def _shared(
    base: "BertPreTrainedModel", plan: Match, own: dict[str, Found]
) -> dict[str, torch.nn.Parameter]:
    """Return which parameters of the new model are the base's.

    The projections of one layer share one storage, so they are taken over together or not at
    all: to lay out anew what is half the base's would move the base's own.
    """
    unfilled = {bare_name(name) for name in (base.load_report or LoadReport()).missing}
    theirs = {
        bare_name(name): parameter
        for name, parameter in base.named_parameters()
        if bare_name(name) not in unfilled
    }
    apart = {_block(bare_name(name)) for name in own} - {None}
    shared = {}
    for name in plan.stored:
        bare = bare_name(name)
        if bare in theirs and bare not in own and _block(bare) not in apart:
            shared[name] = theirs[bare]
    return shared


def _block(bare: str) -> str | None:
    """Return which layer's projections a parameter belongs to, if to any.

    >>> _block("encoder.layer.3.attention.self.query.bias")
    'encoder.layer.3'
    """
    return bare.partition(_PROJECTION)[0] if _PROJECTION in bare else None


def _without(plan: Match, names: dict[str, torch.nn.Parameter]) -> Match:
    """Return a plan that leaves out some parameters."""
    stored = {name: found for name, found in plan.stored.items() if name not in names}
    return Match(stored, plan.missing, plan.unexpected, plan.mismatched)
