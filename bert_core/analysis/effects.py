"""What each part of a model causes: the change of a target without it, or with another text's.

Every number is an experiment, not a guess from gradients, which agree poorly with it. All
experiments on one layer share everything before it: the text is run once, and from the layer on,
the variants are computed in batches.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bert_core.analysis.forward import (
    SITES,
    Activations,
    Input,
    Progress,
    Site,
    in_batches,
    record,
    run_layers,
)
from bert_core.analysis.interventions import Edits, Source
from bert_core.analysis.targets import Target
from bert_core.errors import InputError
from bert_core.model.pretrained import BertPreTrainedModel

Floats = NDArray[np.float64]
DIRECTIONS = ("denoise", "noise")


@dataclass(frozen=True, slots=True, eq=False)
class LayerEffects:
    """How a target changes without the parts of one layer, each switched off alone.

    Attributes:
        heads: (H,), NaN for a pruned head.
        sublayers: (2,), without the attention block and without the feed-forward block.
    """

    heads: Floats
    sublayers: Floats


@torch.inference_mode()
def head_effects(
    model: BertPreTrainedModel,
    encoding: Input,
    target: Target,
    mode: str = "mean",
    *,
    source: Source | None = None,
    progress: Progress | None = None,
) -> Floats:
    """Measure how the target changes with each head switched off (Michel et al. 2019, section 3.2).

    Args:
        model: a class whose head the target asks.
        encoding: the text.
        target: what to measure.
        mode: what replaces the head's context, see `Heads`.
        source: for the modes "mean" and "resample", see `Heads`.
        progress: called with the layers done and their number.

    Returns:
        (L, H), the target without the head minus the target; NaN for a pruned head.
    """
    text, off = _Text(model, encoding, target), (mode, source)
    effects = []
    for layer in range(text.layers):
        effects.append(text.without_heads(layer, *off))
        if progress is not None:
            progress(layer + 1, text.layers)
    return np.stack(effects)


@torch.inference_mode()
def layer_effects(
    model: BertPreTrainedModel,
    encoding: Input,
    target: Target,
    mode: str = "mean",
    *,
    source: Source | None = None,
) -> Floats:
    """Measure how the target changes with each sublayer switched off; arguments as above.

    Returns:
        (L, 2), without the attention block and without the feed-forward block.
    """
    text = _Text(model, encoding, target)
    return np.stack([text.without_blocks(layer, mode, source) for layer in range(text.layers)])


@torch.inference_mode()
def effects_by_layer(
    model: BertPreTrainedModel,
    encoding: Input,
    target: Target,
    mode: str = "mean",
    *,
    source: Source | None = None,
) -> Iterator[LayerEffects]:
    """Measure both, one layer at a time, for callers that do other things in between."""
    text, off = _Text(model, encoding, target), (mode, source)
    for layer in range(text.layers):
        yield LayerEffects(text.without_heads(layer, *off), text.without_blocks(layer, *off))


@torch.inference_mode()
def patching_grid(
    model: BertPreTrainedModel,
    clean: Input,
    corrupt: Input,
    target: Target,
    site: str = "layer",
    *,
    direction: str = "denoise",
    progress: Progress | None = None,
) -> Floats:
    """Measure which activations carry the difference between two texts (Vig et al. 2020).

    "denoise" runs the corrupt text with one activation of the clean text: 0 means it changes
    nothing, 1 that it suffices to restore the clean answer. "noise" runs the clean text with one
    activation of the corrupt text: 1 means it was not needed, 0 that the clean answer is lost
    without it. The two differ where several parts carry the same information.

    Args:
        model: a class whose head the target asks.
        clean: a text.
        corrupt: a text of as many tokens, best with only one word changed.
        target: best a difference of two logits (Zhang and Nanda 2023, section 4).
        site: one of `SITES`.
        direction: "denoise" or "noise".
        progress: called with the layers done and their number.

    Returns:
        (target patched - target corrupt) / (target clean - target corrupt), (L, T); at the site
        "head" (L, H), each head at all positions, NaN for a pruned head.

    Raises:
        InputError: the texts differ in length, or the target has the same value for both.
    """
    rows = []
    for row in patching_by_layer(model, clean, corrupt, target, site, direction=direction):
        rows.append(row)
        if progress is not None:
            progress(len(rows), model.config.num_hidden_layers)
    return np.stack(rows)


@torch.inference_mode()
def patching_by_layer(
    model: BertPreTrainedModel,
    clean: Input,
    corrupt: Input,
    target: Target,
    site: str = "layer",
    *,
    direction: str = "denoise",
) -> Iterator[Floats]:
    """Measure the same one layer at a time, for callers that do other things in between."""
    if site not in SITES or direction not in DIRECTIONS:
        raise InputError(
            f"Found site={site!r} and direction={direction!r}; expected one of {', '.join(SITES)} "
            f"and one of {', '.join(DIRECTIONS)}."
        )
    original, other = _Text(model, clean, target), _Text(model, corrupt, target)
    if original.tokens != other.tokens:
        raise InputError(
            f"The texts have {original.tokens} and {other.tokens} tokens; expected equal numbers, "
            "because each token takes the place of the one at its position. Change only one word."
        )
    span = original.value - other.value
    if span == 0:
        raise InputError("The target has the same value for both texts; there is no difference.")
    start, giver = (other, original) if direction == "denoise" else (original, other)
    columns = model.config.num_attention_heads if site == "head" else original.tokens
    for layer in range(original.layers):
        row = np.full(columns, np.nan)
        places, masks = start.masks(layer, heads=site == "head")
        if places:
            found = start.variants((site, layer), masks, giver.activations.at[site, layer])
            row[places] = (found - other.value) / span
        yield row


class _Text:
    """One text with its activations, and the value of the target."""

    def __init__(self, model: BertPreTrainedModel, encoding: Input, target: Target) -> None:
        self.activations: Activations = record(model, encoding)
        self._model, self._target = model, target
        last = self.activations.hidden_states[-1]
        self.tokens, self.layers = last.shape[1], model.config.num_hidden_layers
        target.check(model, self.tokens)
        self.value = float(target.read(model, last)[0])
        self._edits = Edits(model, (), self.tokens)

    def without_heads(self, layer: int, mode: str, source: Source | None) -> Floats:
        """Return the change of the target without each head of a layer, (H,)."""
        effects = np.full(self._model.config.num_attention_heads, np.nan)
        heads, masks = self.masks(layer, heads=True)
        if heads:
            off = self._edits.replacement(("head", layer), mode, source)
            effects[heads] = self.variants(("head", layer), masks, off) - self.value
        return effects

    def without_blocks(self, layer: int, mode: str, source: Source | None) -> Floats:
        """Return the change without the attention and without the feed-forward block, (2,)."""
        whole = torch.ones((1, 1, 1), dtype=torch.bool, device=self._model.device)
        sites = (("attention", layer), ("feed_forward", layer))
        off = [self._edits.replacement(site, mode, source) for site in sites]
        found = [self.variants(site, whole, each) for site, each in zip(sites, off, strict=True)]
        return np.concatenate(found) - self.value

    def masks(self, layer: int, *, heads: bool) -> tuple[list[int], Tensor]:
        """Return the heads of a layer, or all positions, and the mask of each; see `variants`."""
        if not heads:
            each = torch.eye(self.tokens, dtype=torch.bool, device=self._model.device)
            return list(range(self.tokens)), each[:, :, None]
        attention = self._model.encoder_model.encoder.block(layer).attention.self
        kept = torch.eye(len(attention.heads), dtype=torch.bool, device=self._model.device)
        return attention.heads, kept.repeat_interleave(attention.head_size, dim=1)[:, None]

    def variants(self, site: Site, masks: Tensor, other: Tensor) -> Floats:
        """Compute the target with an activation replaced, once for each of N masks.

        Args:
            site: where.
            masks: (N, T or 1, width or 1), true where `other` replaces the activation.
            other: (1, T or 1, width), or a scalar.

        Returns:
            (N,).
        """
        own, hidden = self.activations.at[site], self.activations.hidden_states[site[1]]

        def values(batch: Tensor) -> Tensor:
            rows = torch.where(batch, other, own)  # (n, T, width)
            encoded = run_layers(
                self._model,
                hidden,
                start=site[1],
                edit=lambda at, activation: rows if at == site else activation,
            )
            return self._target.read(self._model, encoded.last_hidden_state)

        found: Floats = in_batches(values, masks, self.tokens).double().cpu().numpy()
        return found
