"""`BertModel`, and the base class of all models: loading, saving, sharing and pruning.

Read `layers` (the forward pass), `check_inputs`, `BertPreTrainedModel`, `BertModel`, then `heads`.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn

from bert_core.checkpoints.fillable import Fillable, without_memory
from bert_core.checkpoints.sources.resolve import given_name
from bert_core.config import BertConfig
from bert_core.errors import ConfigError, InputError
from bert_core.families import BERT, FAMILIES
from bert_core.model.inputs import check_inputs
from bert_core.model.kernels import recording_graph
from bert_core.model.layers import (
    BertEmbeddings,
    BertEncoder,
    BertPooler,
    Encoded,
    Request,
    attention_bias,
)
from bert_core.model.outputs import ModelOutputs
from bert_core.model.variants import FamilyEmbeddings, RepeatedEncoder


class BertPreTrainedModel(Fillable):
    """Base class of all models.

    Args:
        config: sizes and settings of the model.
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

    # -- loading and saving -------------------------------------------------------------------

    @classmethod
    def from_pretrained(
        cls, name_or_path: str | Path | None = None, *inputs: Any, **kwargs: Any
    ) -> Self:
        """Load a model by name or path; see `checkpoints.loading.load_pretrained`.

        Args:
            name_or_path: a folder, an archive or its URL, a bundled name or a Hub id. The keyword
                `pretrained_model_name_or_path` is an alias.
            *inputs: further positional arguments of the class (num_labels, num_choices).
            **kwargs: options of `load_pretrained`, such as `dtype="bfloat16"`.
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

        Parameters with equal name and shape are shared, not copied: training one model trains the
        other. The rest is newly initialised and listed in `load_report.missing`. This includes a
        `classifier` that belongs to a different class; see `checkpoints.ownership`.
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

    @property
    def encoder_model(self) -> "BertModel":
        """The encoder of this model (for a BertModel, itself)."""
        model = self if isinstance(self, BertModel) else self.bert
        assert isinstance(model, BertModel)
        return model

    def tied_keys(self) -> tuple[str, ...]:
        """Return the state-dict names in layers that repeat the weights of others."""
        place = "" if isinstance(self, BertModel) else "bert."
        layers = enumerate(self.config.weights_of)
        repeated = tuple(f"{place}encoder.layer.{i}." for i, own in layers if own != i)
        if not repeated:
            return ()
        return tuple(name for name in self.state_dict() if name.startswith(repeated))

    def init_weights(self) -> None:
        """Initialise all parameters: normal(0, initializer_range), biases 0, LayerNorm 1."""
        for module in self.modules():
            init_weights(module, self.config.initializer_range)
        self.tie_weights()

    def init_bert_weights(self, module: nn.Module) -> None:
        """Initialise one module, as in `self.apply(self.init_bert_weights)`."""
        init_weights(module, self.config.initializer_range)

    def _finish(self) -> None:
        """Finish a constructor: initialise all children that are not complete models themselves."""
        for child in () if self.device.type == "meta" else self.children():
            if not isinstance(child, BertPreTrainedModel):
                for module in child.modules():
                    init_weights(module, self.config.initializer_range)
        self.tie_weights()

    def _apply(self, fn: Any, recurse: bool = True) -> Self:
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self.tie_weights()
        if not self.training:
            self.eval()  # moving or converting separates the weights that inference stores together
        return self

    # -- heads --------------------------------------------------------------------------------

    def prune_heads(self, heads_to_prune: Mapping[int, Iterable[int]]) -> None:
        """Remove attention heads permanently; the config records which.

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
            self.encoder_model.encoder.block(layer).attention.prune(heads)
            if gone := set(record.get(str(layer), ())) | heads:
                record[str(layer)] = sorted(gone)
        self.set_config(config)

    def set_config(self, config: BertConfig) -> None:
        """Give this model, and the models inside it, another config."""
        for module in self.modules():
            if isinstance(module, BertPreTrainedModel):
                module.config = config

    def get_multihead_outputs(self) -> list[Tensor | None]:
        """Return the per-head outputs (B, H, T, K) of each layer in the last forward pass.

        They are stored after applying the head mask, with gradients, if the model was built with
        `keep_multihead_output=True`; otherwise the entries are None.
        """
        return [
            layer.attention.self.multihead_output for layer in self.encoder_model.encoder.blocks()
        ]

    # -- forward ------------------------------------------------------------------------------

    def _encode(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None,
        attention_mask: Tensor | None,
        head_mask: Tensor | None,
        want: Request | None = None,
    ) -> Encoded:
        """Check the inputs and run the encoder; `want` defaults to the model's own options."""
        check_inputs(self.config, input_ids, token_type_ids, attention_mask, device=self.device)
        if want is None:
            want = Request(self.output_attentions, False, self.keep_multihead_output)
        return self.encoder_model.encode(input_ids, token_type_ids, attention_mask, head_mask, want)

    def _answer(self, encoded: Encoded, *results: Any) -> Any:
        """Return a tuple, with attentions first if requested; a single result is not wrapped."""
        if self.output_attentions:
            return (list(encoded.attentions or ()), *results)
        return results if len(results) > 1 else results[0]

    def _logits(self, encoded: Encoded) -> dict[str, Tensor]:
        """Return the head's outputs, keyed by the field names of ModelOutputs."""
        return {}

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
        """Run the model and return named outputs.

        Args:
            input_ids: (B, T).
            token_type_ids: (B, T), default zeros.
            attention_mask: (B, T), 1 for real tokens, default ones.
            head_mask: (H,) or (L, H), 1 keeps a head.
            attentions: return the L attention tensors.
            hidden_states: return the L + 1 hidden states.
            logits: run the head (at T = 512 the masked-word scores take 62 MB).
        """
        want = Request(attentions, hidden_states, self.keep_multihead_output)
        encoded = self._encode(input_ids, token_type_ids, attention_mask, head_mask, want)
        return self.outputs(encoded, logits=logits)

    def outputs(self, encoded: Encoded, *, logits: bool = True) -> ModelOutputs:
        """Return the encoder's results by name, with those of the head unless `logits` is False."""
        return ModelOutputs(
            last_hidden_state=encoded.last,
            hidden_states=encoded.hidden_states,
            attentions=encoded.attentions,
            pooler_output=encoded.pooled,
            **(self._logits(encoded) if logits else {}),
        )


class BertModel(BertPreTrainedModel):
    """The encoder: embeddings, L layers, and a pooler over [CLS] if the family has one.

    `add_pooling_layer` is False for tasks whose checkpoints have no pooler.
    """

    def __init__(
        self,
        config: BertConfig,
        output_attentions: bool = False,
        keep_multihead_output: bool = False,
        *,
        add_pooling_layer: bool = True,
    ) -> None:
        super().__init__(config, output_attentions, keep_multihead_output)
        family = config.family
        self.embeddings = (BertEmbeddings if family is BERT else FamilyEmbeddings)(config)
        self.encoder = (RepeatedEncoder if family.shares_layers else BertEncoder)(config)
        self.pooler = BertPooler(config) if add_pooling_layer and family.pooler else None
        self._finish()
        if pruned := _recorded_pruning(config):
            self.prune_heads(pruned)

    def encode(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None,
        attention_mask: Tensor | None,
        head_mask: Tensor | None,
        want: Request,
    ) -> Encoded:
        """Run embeddings, layers and pooler; the inputs must have been checked."""
        embedded = self.embeddings(input_ids, token_type_ids)
        bias = attention_bias(attention_mask, embedded.dtype)
        factors = self._expand_head_mask(head_mask, embedded)
        encoded: Encoded = self.encoder(embedded, bias, factors, want)
        if self.pooler is None:
            return encoded
        pooled = self.pooler(encoded.last)
        return Encoded(encoded.last, pooled, encoded.hidden_states, encoded.attentions)

    def _expand_head_mask(self, head_mask: Tensor | None, like: Tensor) -> Tensor | None:
        """Expand a head mask (H,) or (L, H) to (L, H)."""
        if head_mask is None:
            return None
        config = self.config
        shape = (config.num_hidden_layers, config.num_attention_heads)
        if not recording_graph() and tuple(head_mask.shape) not in (shape, shape[1:]):
            raise InputError(
                f"head_mask has the shape {tuple(head_mask.shape)}; expected {shape[1:]}, the same "
                f"for all layers, or {shape}."
            )
        return head_mask.to(like.device, like.dtype).expand(shape)

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        output_all_encoded_layers: bool = True,
        head_mask: Tensor | None = None,
    ) -> Any:
        """Encode token ids.

        Args:
            input_ids: (B, T) integers.
            token_type_ids: (B, T), default zeros.
            attention_mask: (B, T), 1 for real tokens, default ones.
            output_all_encoded_layers: return a list of L tensors instead of only the last one.
            head_mask: (H,) or (L, H), 1 keeps a head.

        Returns:
            `(encoded_layers, pooled_output)`. `encoded_layers` is a list of L tensors (B, T, D),
            or only the last tensor; `pooled_output` is (B, D), or None without a pooler. With
            `output_attentions`: `(attentions, encoded_layers, pooled_output)`.

        Raises:
            InputError: see `check_inputs`.
        """
        want = Request(
            self.output_attentions, output_all_encoded_layers, self.keep_multihead_output
        )
        encoded = self._encode(input_ids, token_type_ids, attention_mask, head_mask, want)
        states = encoded.hidden_states
        layers = encoded.last if states is None else list(states[1:])
        return self._answer(encoded, layers, encoded.pooled)


def init_weights(module: nn.Module, deviation: float) -> None:
    """Initialise one module in place (Devlin et al. 2019, appendix A.2)."""
    with torch.no_grad():
        if isinstance(module, nn.Linear | nn.Embedding):
            module.weight.normal_(0.0, deviation)
        elif isinstance(module, nn.LayerNorm):
            module.weight.fill_(1.0)
        if isinstance(module, nn.Linear | nn.LayerNorm) and module.bias is not None:
            module.bias.zero_()


def _recorded_pruning(config: BertConfig) -> dict[int, list[int]]:
    """Read layer -> pruned heads from a config; in JSON the keys are strings."""
    record = config.extra.get("pruned_heads") or {}
    layers, heads = range(config.num_hidden_layers), range(config.num_attention_heads)
    try:
        pruned = {int(layer): list(gone) for layer, gone in record.items()}
    except (AttributeError, TypeError, ValueError):
        pruned = {-1: []}
    if any(layer not in layers for layer in pruned) or any(
        type(head) is not int or head not in heads for gone in pruned.values() for head in gone
    ):
        raise ConfigError(
            f"pruned_heads is {str(record)[:80]}; expected layers 0 to {layers[-1]}, each with a "
            f"list of heads 0 to {heads[-1]}."
        )
    return pruned


def _count_from_end(index: int, size: int, what: str) -> int:
    if not -size <= index < size:
        raise InputError(f"There is no {what} {index}; this model has {what}s 0 to {size - 1}.")
    return index % size
