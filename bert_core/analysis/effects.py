"""What each part of a model causes: the change of a target without it, or with another text's.

All experiments on one layer share what is before it: the text is run once, and from the layer on
its variants are computed in batches. The functions `..._by_layer` measure one layer at a time.
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from bert_core.analysis.forward import Floats, Input, as_array, in_batches, record
from bert_core.analysis.interventions import Edits, Source
from bert_core.analysis.targets import Target
from bert_core.errors import InputError
from bert_core.model.bert import encoder_of
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.model.sites import SITES, Site

DIRECTIONS = ("denoise", "noise")


@torch.inference_mode()
def head_effects(
    model: BertPreTrainedModel,
    encoding: Input,
    target: Target,
    mode: str = "mean",
    *,
    source: Source | None = None,
) -> Floats:
    """Measure how the target changes with each head switched off (Michel et al. 2019, section 3.2).

    `mode` is what replaces a head's context, see `Scaled`. The result is (L, H), the target without
    the head minus the target; NaN for a pruned head.
    """
    text = _Text(model, encoding, target)
    return np.stack([text.without_heads(layer, mode, source) for layer in range(text.layers)])


@torch.inference_mode()
def layer_effects(
    model: BertPreTrainedModel,
    encoding: Input,
    target: Target,
    mode: str = "mean",
    *,
    source: Source | None = None,
) -> Floats:
    """Measure the change (L, 2) without each attention and each feed-forward block; see above."""
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
) -> Iterator[tuple[Floats, Floats]]:
    """Measure both, (H,) and (2,), one layer at a time."""
    text = _Text(model, encoding, target)
    for layer in range(text.layers):
        heads = text.without_heads(layer, mode, source)
        yield heads, text.without_blocks(layer, mode, source)


def patching_grid(
    model: BertPreTrainedModel,
    clean: Input,
    corrupt: Input,
    target: Target,
    site: str = "layer",
    *,
    direction: str = "denoise",
) -> Floats:
    """Measure which activations carry the difference between two texts (Vig et al. 2020).

    "denoise" runs the corrupt text with one activation of the clean text: 0 means it changes
    nothing, 1 that it suffices to restore the clean answer. "noise" runs the clean text with one
    activation of the corrupt text: 1 means it was not needed, 0 that the clean answer is lost
    without it. The two differ where several parts carry the same information.

    Args:
        corrupt: a text of as many tokens, best with only one word changed.
        target: best a difference of two logits (Zhang and Nanda 2023, section 4).

    Returns:
        (target patched - target corrupt) / (target clean - target corrupt), (L, T); at the site
        "head" (L, H), each head at all positions, NaN for a pruned head.

    Raises:
        InputError: the texts differ in length, or the target has the same value for both.
    """
    rows = patching_by_layer(model, clean, corrupt, target, site, direction=direction)
    return np.stack(list(rows))


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
    """Measure the same one layer at a time."""
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
    for layer in range(original.layers):
        place, there = (site, layer), giver.activations.at[site, layer]
        found = start.by_head(place, there) if site == "head" else start.by_token(place, there)
        yield (found - other.value) / span


class _Text:
    def __init__(self, model: BertPreTrainedModel, encoding: Input, target: Target) -> None:
        self.activations = record(model, encoding)
        self._model, self._target = model, target
        last = self.activations.hidden_states[-1]
        self.tokens, self.layers = last.shape[1], model.config.num_hidden_layers
        target.check(model, self.tokens)
        self.value = float(target.read(model, last)[0])
        self._edits = Edits(model, (), self.tokens)

    def without_heads(self, layer: int, mode: str, source: Source | None) -> Floats:
        """Return the change of the target without each head of a layer, (H,)."""
        site = ("head", layer)
        return self.by_head(site, self._edits.replacement(site, mode, source)) - self.value

    def without_blocks(self, layer: int, mode: str, source: Source | None) -> Floats:
        """Return the change without the attention and without the feed-forward block, (2,)."""
        whole = torch.ones((1, 1, 1), dtype=torch.bool, device=self._model.device)
        sites = [("attention", layer), ("feed_forward", layer)]
        off = [(site, self._edits.replacement(site, mode, source)) for site in sites]
        return np.concatenate([self._variants(site, whole, other) for site, other in off]) - (
            self.value
        )

    def by_head(self, site: Site, other: Tensor) -> Floats:
        """Compute the target with each head replaced, (H,); NaN for a pruned head."""
        attention = encoder_of(self._model).encoder.layer_at(site[1]).attention.self
        values = np.full(self._model.config.num_attention_heads, np.nan)
        if attention.heads:
            each = torch.eye(len(attention.heads), dtype=torch.bool, device=self._model.device)
            masks = each.repeat_interleave(attention.head_size, dim=1)[:, None]  # (H, 1, H * K)
            values[attention.heads] = self._variants(site, masks, other)
        return values

    def by_token(self, site: Site, other: Tensor) -> Floats:
        """Compute the target with the activation of each token replaced, (T,)."""
        masks = torch.eye(self.tokens, dtype=torch.bool, device=self._model.device)
        return self._variants(site, masks[:, :, None], other)

    def _variants(self, site: Site, masks: Tensor, other: Tensor) -> Floats:
        """Compute the target with an activation replaced, once for each of N masks.

        Masks (N, T or 1, width or 1) are true where `other` (1, T or 1, width; or a scalar)
        replaces the activation. Returns (N,).
        """
        own, hidden = self.activations.at[site], self.activations.hidden_states[site[1]]
        encoder = encoder_of(self._model)

        def values(batch: Tensor) -> Tensor:
            rows = torch.where(batch, other, own)  # (n, T, width)

            def edit(at: Site, activation: Tensor) -> Tensor:
                return rows if at == site else activation

            last = encoder.encoder(hidden, edit=edit, start=site[1]).last_hidden_state
            return self._target.read(self._model, last)

        return as_array(in_batches(values, masks, self.tokens))
