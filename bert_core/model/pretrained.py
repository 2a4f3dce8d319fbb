"""`BertPreTrainedModel`, the base class of all models: loading, saving, sharing, pruning, `run`."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn

from bert_core.checkpoints.fillable import Fillable, without_memory
from bert_core.checkpoints.sources.resolve import given_name
from bert_core.config import BertConfig
from bert_core.errors import ConfigError, InputError
from bert_core.families import FAMILIES
from bert_core.model.checks import check_head_mask, check_inputs
from bert_core.model.outputs import ModelOutputs


class BertPreTrainedModel(Fillable):
    """Base class of all models.

    Args:
        output_attentions: make `forward` return the attentions as its first result.
        keep_multihead_output: make `forward` store each head's output for
            `get_multihead_outputs`; not for a model shared by several threads.
    """

    def __init__(
        self,
        config: BertConfig,
        output_attentions: bool = False,
        keep_multihead_output: bool = False,
    ) -> None:
        super().__init__(config)
        if not isinstance(config, BertConfig):
            raise ConfigError(
                f"{type(self).__name__} is built from a BertConfig, not from a "
                f"{type(config).__name__}. To load weights use {type(self).__name__}"
                ".from_pretrained(name_or_path)."
            )
        for name in (base.__name__ for base in type(self).__mro__):
            if config.family.has(name):
                continue
            raise ConfigError(
                f"{config.family.title} has no head for {name}: it was not trained for that. "
                f"Found model_type {config.model_type!r}; expected one of "
                f"{', '.join(each.model_type for each in FAMILIES.values() if each.has(name))}."
            )
        self.output_attentions = output_attentions
        self.keep_multihead_output = keep_multihead_output
        self._multihead_outputs: dict[int, Tensor] = {}

    @property
    def encoder_model(self) -> Any:
        """The encoder, a `BertModel`; typed in `bert_core.model.bert.encoder_of`."""
        return getattr(self, "bert", self)

    # -- forward ------------------------------------------------------------------------------

    def _run_encoder(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None,
        attention_mask: Tensor | None,
        head_mask: Tensor | None,
        **options: Any,
    ) -> ModelOutputs:
        """Check the inputs and run the encoder; options are those of `BertEncoder.forward`."""
        config = self.config
        check_inputs(config, input_ids, token_type_ids, attention_mask, device=self.device)
        if head_mask is not None:
            check_head_mask(config, head_mask)
            shape = (config.num_hidden_layers, config.num_attention_heads)
            head_mask = head_mask.to(self.device, self.dtype).expand(shape)
        options = {"attentions": self.output_attentions, **options}
        if self.keep_multihead_output:
            options["edit"] = self._keep_heads
        outputs: ModelOutputs = self.encoder_model.encode(
            input_ids, token_type_ids, attention_mask, head_mask, **options
        )
        return outputs

    def _with_attentions(self, outputs: ModelOutputs, *results: Any) -> Any:
        """Return a tuple, with attentions first if requested; a single result is not wrapped."""
        if self.output_attentions:
            return (list(outputs.attentions or ()), *results)
        return results if len(results) > 1 else results[0]

    def _logits(self, outputs: ModelOutputs) -> dict[str, Any]:
        """Return the head's outputs, keyed by the field names of ModelOutputs."""
        return {}

    def with_logits(self, outputs: ModelOutputs) -> ModelOutputs:
        """Return the encoder's outputs with those of the head."""
        return replace(outputs, **self._logits(outputs))

    def run(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        *,
        head_mask: Tensor | None = None,
        attentions: bool = True,
        hidden_states: bool = True,
        logits: bool = True,
    ) -> ModelOutputs:
        """Run the model on ids (B, T) and return named outputs.

        Token types are zeros by default, the mask ones; a 1 in `head_mask` (H,) or (L, H) keeps a
        head.
        """
        options = {"attentions": attentions, "hidden_states": hidden_states}
        outputs = self._run_encoder(input_ids, token_type_ids, attention_mask, head_mask, **options)
        return self.with_logits(outputs) if logits else outputs

    # -- loading and saving -------------------------------------------------------------------

    @classmethod
    def from_pretrained(
        cls, name_or_path: str | Path | None = None, *inputs: Any, **kwargs: Any
    ) -> Self:
        """Load a model by name or path, with the options of `checkpoints.loading.load_pretrained`.

        The keyword `pretrained_model_name_or_path` is an alias; `inputs` are the class's own.
        """
        from bert_core.checkpoints.loading import load_pretrained

        return load_pretrained(cls, given_name(name_or_path, kwargs), *inputs, **kwargs)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write `config.json` and `model.safetensors`, which `transformers` can load."""
        from bert_core.checkpoints.saving import save_model

        save_model(self, Path(folder))

    @classmethod
    def from_model(cls, other: "BertPreTrainedModel", *inputs: Any, **kwargs: Any) -> Self:
        """Build a model of this class that shares the parameters of another model.

        Parameters with equal name and shape are shared: training one model trains the other. The
        rest is newly initialised and listed in `load_report.missing`, also a `classifier` of
        another class.
        """
        from bert_core.checkpoints.loading import share_parameters

        with without_memory():
            model = cls(other.config, *inputs, **kwargs)
        return share_parameters(model, other).train(other.training)

    # -- parameters ---------------------------------------------------------------------------

    @property
    def device(self) -> torch.device:
        """The device of the parameters."""
        return next(self.parameters()).device

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the parameters."""
        return next(self.parameters()).dtype

    def tied_keys(self) -> tuple[str, ...]:
        """Return the state-dict names in layers that repeat the weights of others."""
        place = "bert." if hasattr(self, "bert") else ""
        layers = enumerate(self.config.weights_of)
        repeated = tuple(f"{place}encoder.layer.{i}." for i, own in layers if own != i)
        if not repeated:
            return ()
        return tuple(name for name in self.state_dict() if name.startswith(repeated))

    def init_weights(self) -> None:
        """Initialise all parameters; see `init_weights`."""
        self.apply(self.init_bert_weights)
        self.tie_weights()

    def init_bert_weights(self, module: nn.Module) -> None:
        """Initialise one module, as in `self.apply(self.init_bert_weights)`."""
        init_weights(module, self.config.initializer_range)

    def _finish(self) -> None:
        """Finish a constructor: fresh values, and no heads that the config says are pruned."""
        for child in () if self.device.type == "meta" else self.children():
            if not isinstance(child, BertPreTrainedModel):
                child.apply(self.init_bert_weights)
        self.tie_weights()
        pruned = self.config.pruned_heads if self.encoder_model is self else {}
        if pruned:
            self.prune_heads(pruned)

    def _apply(self, fn: Any, recurse: bool = True) -> Self:
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self.tie_weights()
        return self

    # -- heads --------------------------------------------------------------------------------

    def prune_heads(self, heads_to_prune: Mapping[int, Iterable[int]]) -> None:
        """Remove attention heads permanently (Michel et al. 2019); the config records which.

        Args:
            heads_to_prune: layer -> heads, both as indices of the unpruned model; negative indices
                count from the end. Heads that are already pruned are ignored.

        Raises:
            InputError: the unpruned model has no such layer or head.
            ConfigError: layers share their weights.
        """
        config = self.config
        if len(set(config.weights_of)) < config.num_hidden_layers:
            raise ConfigError(
                f"The layers of {config.family.title} share their weights, so a head cannot be "
                "pruned in one of them. Switch it off with head_mask instead."
            )
        wanted = {
            _count_from_end(layer, config.num_hidden_layers, "layer"): {
                _count_from_end(head, config.num_attention_heads, "head") for head in heads
            }
            for layer, heads in heads_to_prune.items()
        }
        # A copy, because other models may share the config; without temperatures, because these
        # were fitted with all heads.
        config = config.without_temperatures()
        record = config.extra.setdefault("pruned_heads", {})
        for layer, heads in sorted(wanted.items()):
            _prune(self.encoder_model.encoder.layer_at(layer).attention, heads)
            if gone := set(record.get(str(layer), ())) | heads:
                record[str(layer)] = sorted(gone)
        self.set_config(config)

    def set_config(self, config: BertConfig) -> None:
        """Give this model, and the models inside it, another config."""
        for module in self.modules():
            if isinstance(module, BertPreTrainedModel):
                module.config = config

    def _keep_heads(self, site: tuple[str, int], activation: Tensor) -> Tensor:
        """Keep the heads' contexts (B, T, H * K) as (B, H, T, K); an edit of `BertEncoder`."""
        name, layer = site
        if name != "head":
            return activation
        size = self.encoder_model.encoder.layer_at(layer).attention.self.head_size
        heads = activation.view(*activation.shape[:2], -1, size).transpose(1, 2)
        if heads.requires_grad:
            heads.retain_grad()
        self._multihead_outputs[layer] = heads
        joined: Tensor = heads.transpose(1, 2).flatten(2)
        return joined

    def get_multihead_outputs(self) -> list[Tensor | None]:
        """Return the per-head outputs (B, H, T, K) of each layer in the last forward pass.

        They are stored after applying the head mask, with gradients, if the model was built with
        `keep_multihead_output=True`; otherwise the entries are None.
        """
        return [self._multihead_outputs.get(i) for i in range(self.config.num_hidden_layers)]


def init_weights(module: nn.Module, deviation: float) -> None:
    """Initialise one module in place: matrices from a normal distribution, biases 0, LayerNorm 1.

    Google's code draws from a normal distribution cut off at two deviations; like the PyTorch
    implementations, this one does not cut it off. The paper does not say.
    """
    with torch.no_grad():
        if isinstance(module, nn.Linear | nn.Embedding):
            module.weight.normal_(0.0, deviation)
        elif isinstance(module, nn.LayerNorm):
            module.weight.fill_(1.0)
        if isinstance(module, nn.Linear | nn.LayerNorm) and module.bias is not None:
            module.bias.zero_()


def _prune(attention: Any, heads: set[int]) -> None:
    """Remove heads of a `BertAttention`, given as indices of the unpruned model."""
    own, dense = attention.self, attention.output.dense
    kept = [head for head in own.heads if head not in heads]
    places = torch.tensor([own.heads.index(head) for head in kept], dtype=torch.long)
    columns = places[:, None] * own.head_size + torch.arange(own.head_size)  # (kept, K)
    columns = columns.flatten().to(dense.weight.device)
    for part in (own.query, own.key, own.value):
        part.weight = nn.Parameter(part.weight.detach()[columns].clone())
        part.bias = nn.Parameter(part.bias.detach()[columns].clone())
        part.out_features = len(columns)
    dense.weight = nn.Parameter(dense.weight.detach()[:, columns].clone())
    dense.in_features = len(columns)
    own.heads = kept


def _count_from_end(index: int, size: int, what: str) -> int:
    if not -size <= index < size:
        raise InputError(f"There is no {what} {index}; this model has {what}s 0 to {size - 1}.")
    return index % size
