"""`run`: a forward pass with parts switched off, replaced by a mean, or taken from another text.

Heads are switched off as in Michel et al. 2019, "Are Sixteen Heads Really Better than One?";
activations are patched as in Vig et al. 2020, "Investigating Gender Bias in Language Models Using
Causal Mediation Analysis", and Zhang and Nanda 2023, "Towards Best Practices of Activation
Patching". BERT normalises after each sum (post-LN), so there is no stream of vectors to which parts
only add; "layer" is the layer's normalised output.
"""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar

import torch
from torch import Tensor

from bert_core.analysis.fitting import fitted
from bert_core.analysis.forward import Activations, Input, input_tensors, listed, record
from bert_core.errors import InputError
from bert_core.model.bert import encoder_of
from bert_core.model.outputs import ModelOutputs
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.model.sites import SITES, Site
from bert_core.text.encoding import Encoding

Source = Input | ModelOutputs
MODES = ("zero", "mean", "resample")


@dataclass(frozen=True, slots=True)
class Scaled:
    """An activation becomes `scale` times itself and (1 - `scale`) times what a mode puts there."""

    site: ClassVar[str]
    layer: Annotated[int, "counted from 0"]
    _: KW_ONLY
    scale: Annotated[float, "1 changes nothing, 0 switches off"] = 0.0
    mode: Annotated[
        str,
        '"zero"; "mean", the mean over the tokens of `source`, or of many texts (see `fitted`), in '
        'both cases without added special tokens; or "resample", the same tokens of `source`',
    ] = "zero"
    source: Annotated[Source | None, "another text, or its outputs"] = None


@dataclass(frozen=True, slots=True)
class Heads(Scaled):
    """Scale heads of one layer, at their contexts before the output projection; see `Scaled`."""

    site: ClassVar[str] = "head"
    heads: Annotated[int | Sequence[int], "one or several, from 0, as in the unpruned model"]


class Attention(Scaled):
    """Scale what the attention block of one layer adds to its input; see `Scaled`."""

    __slots__ = ()
    site = "attention"


class FeedForward(Scaled):
    """Scale what the feed-forward block of one layer adds to its input; see `Scaled`."""

    __slots__ = ()
    site = "feed_forward"


@dataclass(frozen=True, slots=True)
class Patch:
    """Replace activations by those of another text at the same positions."""

    site: Annotated[str, "one of `SITES`"]
    layer: Annotated[int, "counted from 0"]
    positions: Annotated[int | Sequence[int] | None, "tokens; None: all, of equally long texts"]
    source: Annotated[Source, 'the other text, or its outputs (which only have the site "layer")']
    _: KW_ONLY
    heads: Annotated[int | Sequence[int] | None, 'at the site "head"; None: all'] = None


Intervention = Heads | Attention | FeedForward | Patch


def run(
    model: BertPreTrainedModel,
    encoding: Input,
    *,
    interventions: Sequence[Intervention] = (),
    attentions: bool = True,
    hidden_states: bool = True,
    logits: bool = True,
) -> ModelOutputs:
    """Run one text with interventions; without any, the result is that of `model.run`, bit by bit.

    Those at one site are applied in the given order. Gradients pass through as in `model.run`.

    Raises:
        InputError: an intervention does not fit the model or the text.
    """
    ids, types = input_tensors(model, encoding)
    edits = Edits(model, interventions, ids.shape[1], attentions=attentions)
    encoder = encoder_of(model)
    outputs = encoder.encode(
        ids, types, attentions=attentions, hidden_states=hidden_states, edit=edits.apply
    )
    return model.with_logits(outputs) if logits else outputs


class Edits:
    """Interventions, ready to be applied to one text of `tokens` tokens.

    `attentions` says whether the text is run with attentions. So are sources then, because PyTorch
    computes attention in another way without them, whose last bits differ.
    """

    def __init__(
        self,
        model: BertPreTrainedModel,
        interventions: Sequence[Intervention],
        tokens: int,
        *,
        attentions: bool = False,
    ) -> None:
        self._model, self._tokens, self._attentions = model, tokens, attentions
        self._records: dict[int, Activations] = {}  # id of a source -> its activations
        self._steps: dict[Site, list[Callable[[Tensor], Tensor]]] = {}
        for each in interventions:
            step = self._patch(each) if isinstance(each, Patch) else self._scale(each)
            self._steps.setdefault((each.site, each.layer), []).append(step)

    def apply(self, site: Site, activation: Tensor) -> Tensor:
        """Change the activation at one site."""
        for step in self._steps.get(site, ()):
            activation = step(activation)
        return activation

    def _scale(self, change: Heads | Attention | FeedForward) -> Callable[[Tensor], Tensor]:
        heads = change.heads if isinstance(change, Heads) else None
        columns, scale = self._columns(change.layer, heads), change.scale
        other = self.replacement((change.site, change.layer), change.mode, change.source)
        return lambda own: torch.where(columns, scale * own + (1 - scale) * other, own)

    def _patch(self, change: Patch) -> Callable[[Tensor], Tensor]:
        if change.site not in SITES or (change.heads is not None and change.site != "head"):
            raise InputError(
                f"Found the site {change.site!r}{' with heads' if change.heads else ''}; expected "
                f"one of {', '.join(SITES)}, and heads only at 'head'."
            )
        columns = self._columns(change.layer, change.heads)
        other = self._activation((change.site, change.layer), change.source)
        if change.positions is None:
            self._check_length(other)
        both = min(self._tokens, other.shape[1])
        places = list(range(both)) if change.positions is None else listed(change.positions)
        if any(not 0 <= place < both for place in places):
            raise InputError(f"Found the positions {places}; both texts have 0 to {both - 1}.")

        def patched(own: Tensor) -> Tensor:
            result = own.clone()
            result[:, places] = torch.where(columns, other[:, places], own[:, places])
            return result

        return patched

    def replacement(self, site: Site, mode: str, source: Source | None) -> Tensor:
        """Return what a mode puts at a site: (1, T or 1, width), or a scalar 0."""
        if mode not in MODES:
            raise InputError(f"There is no mode {mode!r}; expected one of {', '.join(MODES)}.")
        if mode == "zero":
            return torch.zeros((), device=self._model.device, dtype=self._model.dtype)
        if source is None:
            if mode == "mean":
                return fitted(self._model).means[site]
            raise InputError("The mode 'resample' needs a source: another text of equal length.")
        found = self._activation(site, source)
        if mode == "resample":
            return self._check_length(found)
        if isinstance(source, Encoding):  # as in `fitted`, without the added special tokens
            added = torch.tensor(source.special_tokens_mask, device=found.device) == 1
            found = found[:, ~added] if not added.all() else found
        return found.mean(dim=1, keepdim=True)

    def _columns(self, layer: int, heads: int | Sequence[int] | None) -> Tensor:
        """Return a mask of the columns that belong to heads, (H * K,); true for None, all."""
        layers = self._model.config.num_hidden_layers
        if not 0 <= layer < layers:
            raise InputError(f"There is no layer {layer}; this model has 0 to {layers - 1}.")
        if heads is None:
            return torch.ones((), dtype=torch.bool, device=self._model.device)
        attention = encoder_of(self._model).encoder.layer_at(layer).attention.self
        wanted = set(listed(heads))
        if unknown := sorted(wanted - set(attention.heads)):
            raise InputError(
                f"Layer {layer} has no head {unknown[0]}, or it is pruned; it has "
                f"{', '.join(map(str, attention.heads))}."
            )
        mask = torch.tensor([head in wanted for head in attention.heads], device=self._model.device)
        return mask.repeat_interleave(attention.head_size)

    def _activation(self, site: Site, source: Source) -> Tensor:
        if not isinstance(source, ModelOutputs):
            if id(source) not in self._records:
                self._records[id(source)] = record(self._model, source, attentions=self._attentions)
            return self._records[id(source)].at[site]
        if site[0] != "layer" or source.hidden_states is None:
            raise InputError(
                f"Outputs have hidden states, at the site 'layer', at most; found the site "
                f"{site[0]!r}. Give the encoding as the source instead of its outputs."
            )
        return source.hidden_states[site[1] + 1]

    def _check_length(self, other: Tensor) -> Tensor:
        if other.shape[1] != self._tokens:
            raise InputError(
                f"The source has {other.shape[1]} tokens, the text {self._tokens}; expected equal "
                "numbers, because each token takes the place of the one at its position."
            )
        return other
