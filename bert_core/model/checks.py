"""Checks of a model's inputs, with errors that say what was expected."""

import torch
from torch import Tensor

from bert_core.compat import recording_graph
from bert_core.config import BertConfig
from bert_core.errors import InputError

_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def check_inputs(
    config: BertConfig,
    input_ids: Tensor,
    token_type_ids: Tensor | None = None,
    attention_mask: Tensor | None = None,
    *,
    rank: int = 2,
    device: torch.device | None = None,
) -> None:
    """Reject inputs that the model cannot use: ids (B, T), or (B, N, T) if `rank` is 3.

    Types and mask have the same shape, the mask of rank 2 also (B, T, T). Values are checked on the
    CPU only, because reading them from a GPU would wait for its queued work; while a graph is
    recorded, only type, rank and device are.

    Raises:
        InputError: the inputs are not integers, have the wrong rank, are empty or longer than the
            model's limit, are on another device, or contain ids outside the vocabulary or the
            token types.
    """
    _check_kind("input_ids", input_ids, rank)
    if token_type_ids is not None:
        _check_kind("token_type_ids", token_type_ids, rank)
    if attention_mask is not None and not isinstance(attention_mask, Tensor):
        raise InputError(f"attention_mask is a {type(attention_mask).__name__}; expected a tensor.")
    if not recording_graph():
        _check_sizes_and_values(config, input_ids, token_type_ids, attention_mask, rank)
    names = ("input_ids", "token_type_ids", "attention_mask")
    for name, tensor in zip(names, (input_ids, token_type_ids, attention_mask), strict=True):
        if device is not None and tensor is not None and tensor.device != device:
            raise InputError(
                f"{name} is on {tensor.device}, the model on {device}. Move one of them: "
                f"{name}.to(model.device), or model.to({str(tensor.device)!r})."
            )


def _check_sizes_and_values(
    config: BertConfig,
    input_ids: Tensor,
    token_type_ids: Tensor | None,
    attention_mask: Tensor | None,
    rank: int,
) -> None:
    _check_values("input_ids", input_ids, config.vocab_size)
    if input_ids.shape[-1] > config.max_length:
        raise InputError(
            f"The input has {input_ids.shape[-1]} tokens; this model reads at most "
            f"{config.max_length}. Shorten it or split it into windows."
        )
    if token_type_ids is not None:
        _check_values("token_type_ids", token_type_ids, config.type_vocab_size)
        _check_shape("token_type_ids", token_type_ids, input_ids)
    if attention_mask is not None:
        square = (*input_ids.shape, input_ids.shape[-1])
        if rank != 2 or attention_mask.shape != square:
            _check_shape("attention_mask", attention_mask, input_ids)


def known_types(config: BertConfig, token_type_ids: Tensor) -> Tensor:
    """Return token types that a model has: what its tokenizer counts beyond is its last type."""
    return token_type_ids.clamp_max(config.type_vocab_size - 1)


def _check_kind(name: str, ids: Tensor, rank: int) -> None:
    if not isinstance(ids, Tensor):
        raise InputError(f"{name} is a {type(ids).__name__}; expected a tensor of whole numbers.")
    if ids.dtype not in _INTEGERS:
        raise InputError(f"{name} has the type {ids.dtype}; expected integers such as torch.int64.")
    if ids.dim() != rank:
        form = "(batch, tokens)" if rank == 2 else "(batch, choices, tokens)"
        raise InputError(f"{name} has the shape {tuple(ids.shape)}; expected {form}.")


def _check_values(name: str, ids: Tensor, limit: int) -> None:
    if ids.numel() == 0:
        raise InputError(f"{name} is empty: its shape is {tuple(ids.shape)}. Give some tokens.")
    outside = _outside(ids, limit)
    if outside is not None:
        raise InputError(f"{name} contains {outside}; this model expects 0 to {limit - 1}.")


def _outside(numbers: Tensor, limit: int) -> int | None:
    if numbers.device.type != "cpu" or not numbers.numel():
        return None
    low, high = (int(value) for value in numbers.aminmax())
    return low if low < 0 else high if high >= limit else None


def _check_shape(name: str, tensor: Tensor, input_ids: Tensor) -> None:
    if tensor.shape != input_ids.shape:
        raise InputError(
            f"{name} has the shape {tuple(tensor.shape)}; expected that of input_ids, "
            f"{tuple(input_ids.shape)}."
        )


def check_positions(positions: Tensor, input_ids: Tensor) -> None:
    """Reject positions (B, P) that are not indices into input_ids (B, T)."""
    if not isinstance(positions, Tensor) or positions.is_floating_point():
        raise InputError("positions must be a tensor of whole numbers.")
    if recording_graph():
        return
    if positions.dim() != 2 or positions.shape[0] != input_ids.shape[0]:
        raise InputError(
            f"positions has the shape {tuple(positions.shape)}; expected "
            f"({input_ids.shape[0]}, number of positions)."
        )
    outside = _outside(positions, input_ids.shape[-1])
    if outside is not None:
        raise InputError(f"positions contains {outside}; expected 0 to {input_ids.shape[-1] - 1}.")


def check_head_mask(config: BertConfig, head_mask: Tensor) -> None:
    """Reject a head mask that is neither (H,) nor (L, H)."""
    shape = (config.num_hidden_layers, config.num_attention_heads)
    if not recording_graph() and tuple(head_mask.shape) not in (shape, shape[1:]):
        raise InputError(
            f"head_mask has the shape {tuple(head_mask.shape)}; expected {shape[1:]}, the same "
            f"for all layers, or {shape}."
        )
