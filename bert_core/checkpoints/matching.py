"""Which stored tensor fills which parameter; what is left over on either side."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from bert_core.checkpoints.keys import Found, Repeat, bare_name, has_encoder, layers_held
from bert_core.errors import CheckpointError, ConfigError

if TYPE_CHECKING:
    from bert_core.model.bert import BertPreTrainedModel

# Fresh values for a head are a few MB. A config that asks for more fresh values than this, and
# for more than the file fills, lies about its sizes.
_MAX_FRESH = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Match:
    """The plan of filling a model.

    Attributes:
        stored: parameter -> the tensor that fills it.
        missing: parameters that need fresh values, tied copies left out.
        unexpected: the file's names that fill nothing.
        mismatched: those of `missing` whose tensor has another shape.
    """

    stored: dict[str, Found]
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    mismatched: tuple[str, ...]


def match(
    model: "BertPreTrainedModel",
    found: Mapping[str, Found],
    *,
    ignore_mismatched_sizes: bool = False,
) -> Match:
    """Compare a model that has no memory yet with a checkpoint, by bare names.

    Raises:
        CheckpointError: a tensor of another shape (unless ignored) or of whole numbers.
    """
    tied = set(model.tied_keys())
    stored: dict[str, Found] = {}
    missing, mismatched, complaints = [], [], []
    left = dict(found)
    for name, parameter in model.named_parameters(remove_duplicate=False):
        if name in tied:
            continue
        entry = left.pop(bare_name(name), None)
        if entry is None:
            missing.append(name)
        elif entry.tensor.shape != tuple(parameter.shape):
            missing.append(name)
            mismatched.append(name)
            complaints.append(
                f"{name} has the shape {entry.tensor.shape} in the checkpoint and "
                f"{tuple(parameter.shape)} in {type(model).__name__}"
            )
        elif not entry.tensor.dtype.is_floating_point:
            raise CheckpointError(
                f"{entry.file_name} holds {entry.tensor.dtype}; expected floating-point weights. "
                "Quantised checkpoints cannot be loaded."
            )
        else:
            stored[name] = entry
    if complaints and not ignore_mismatched_sizes:
        raise CheckpointError(_shapes_differ(complaints, mismatched))
    return Match(
        stored,
        tuple(missing),
        tuple(entry.file_name for entry in left.values()),
        tuple(mismatched),
    )


def check_layers(layers: int, found: Mapping[str, Found], source: str) -> None:
    """Refuse a file without an encoder, or with fewer layers than the config promises.

    Args:
        layers: L of the config.
        found: the checkpoint by bare names.
        source: what to call the checkpoint in an error.

    Raises:
        CheckpointError: the weights are not BERT's, or belong to another config.
    """
    if not has_encoder(found):
        some = ", ".join(entry.file_name for entry in list(found.values())[:4]) or "nothing"
        raise CheckpointError(
            f"The weights of {source} hold no part of BERT's encoder. Found: {some}. Expected "
            "names such as bert.encoder.layer.0.output.dense.weight."
        )
    held = len(layers_held(found) & set(range(layers)))
    if held < layers:
        raise CheckpointError(
            f"The config of {source} promises {layers} layers; the weights hold {held} of them. "
            "They do not belong together."
        )


def check_memory(model: "BertPreTrainedModel", plan: Match) -> None:
    """Refuse a config whose unfilled part is absurdly large.

    Raises:
        ConfigError: the model has far more parameters than the checkpoint fills.
    """
    sizes = {name: parameter.numel() for name, parameter in model.named_parameters()}
    fresh = sum(sizes[name] for name in plan.missing)
    filled = sum(math.prod(found.tensor.shape) for found in plan.stored.values())
    if fresh > max(filled, _MAX_FRESH):
        raise ConfigError(
            f"The config describes {fresh:,} numbers that the weights do not hold, beside "
            f"{filled:,} that they do. Its sizes cannot be right."
        )


def check_repeats(model: "BertPreTrainedModel", plan: Match, repeats: Sequence[Repeat]) -> None:
    """Refuse a checkpoint whose tied copies differ from their originals.

    A model of this package holds both once, so it would score with the wrong numbers.

    Raises:
        CheckpointError: the decoder of the masked-word head is not tied.
    """
    if not model.tied_keys():
        return
    places = {bare_name(name): name for name in plan.stored}
    for repeat in repeats:
        original = model.get_parameter(places[repeat.original]).detach()
        same = repeat.copy.tensor.shape == tuple(original.shape)
        if same:
            copy = torch.empty_like(original)
            repeat.copy.tensor.copy_to(copy)
            same = torch.equal(copy, original) or torch.allclose(
                copy, original, rtol=0, atol=0, equal_nan=True
            )
        if not same:
            raise CheckpointError(
                f"{repeat.copy.file_name} differs from {repeat.original}. BERT's decoder is tied "
                "to the word embeddings; a checkpoint where it is not cannot be loaded."
            )


def _shapes_differ(complaints: Sequence[str], names: Sequence[str]) -> str:
    shown = "; ".join(complaints[:3])
    more = f"; and {len(complaints) - 3} more" if len(complaints) > 3 else ""
    if all(name.startswith(("classifier.", "cls.", "qa_outputs.")) for name in names):
        advice = (
            "Give the number of labels that the checkpoint was trained with, or "
            "ignore_mismatched_sizes=True to start this head afresh."
        )
    else:
        advice = "The config and the weights do not belong together."
    return f"{shown}{more}. {advice}"
