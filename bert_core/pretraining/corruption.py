"""Masking for the masked language model: which tokens are hidden, and what replaces them.

Source: Devlin et al. 2019, section 3.1 and appendix A.1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from bert_core.errors import InputError

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
IGNORED = -100  # label of tokens that the loss ignores
# 80 % of the chosen tokens become [MASK], 10 % a random token, 10 % are unchanged (appendix A.1).
SHARE_MASKED = 0.8
SHARE_RANDOM = 0.1


@dataclass(frozen=True, slots=True)
class MaskingVocabulary:
    """The properties of a vocabulary that masking needs."""

    mask_id: Annotated[int, "id of [MASK]"]
    special: Annotated[Tensor, "(V,) bool, tokens that are never chosen"]
    continuation: Annotated[Tensor, 'pieces that continue a word ("##ing"), likewise']
    replacements: Annotated[Tensor, "ids to draw from, without special and unused tokens"]

    @classmethod
    def from_vocab(cls, vocab: Mapping[str, int]) -> "MaskingVocabulary":
        """Build the tables from a tokenizer's `vocab` (token -> id).

        Raises:
            InputError: the vocabulary has no [MASK], or only special tokens.
        """
        if "[MASK]" not in vocab:
            raise InputError(
                "The vocabulary has no [MASK], which masking needs. Use a vocabulary made for BERT."
            )
        special, continuation, usable = torch.zeros(3, max(vocab.values()) + 1, dtype=torch.bool)
        for token, index in vocab.items():
            special[index] = token in SPECIAL_TOKENS
            continuation[index] = token.startswith("##") and len(token) > 2
            usable[index] = not special[index] and not token.startswith("[unused")
        replacements = usable.nonzero().flatten()
        if not len(replacements):
            raise InputError("The vocabulary has only special tokens; there is nothing to mask.")
        return cls(vocab["[MASK]"], special, continuation, replacements)


@dataclass(frozen=True, slots=True)
class MaskedTokens:
    """A corrupted batch, with the original ids of the chosen tokens in two forms."""

    input_ids: Annotated[Tensor, "(B, T), corrupted"]
    labels: Annotated[Tensor, "(B, T), the original id at the chosen positions, -100 elsewhere"]
    positions: Annotated[Tensor, "(B, P), the chosen positions in ascending order, then zeros"]
    position_labels: Annotated[Tensor, "(B, P), the original ids there, -100 for no position"]
    weights: Annotated[Tensor, "(B, P), 1.0 for a chosen position, 0.0 for padding"]


def mask_tokens(
    input_ids: Tensor,
    vocab: Mapping[str, int] | MaskingVocabulary,
    *,
    rate: float = 0.15,
    max_predictions: int | None = None,
    whole_words: bool = False,
    generator: torch.Generator | None = None,
) -> MaskedTokens:
    """Corrupt token ids for the masked language model.

    In each row, a share `rate` of the non-special tokens is chosen (rounded; at least one, at most
    `max_predictions`). Of these, 80 % become [MASK], 10 % a random token, and 10 % are unchanged.

    Args:
        vocab: the tokenizer's `vocab`, or a `MaskingVocabulary` built once for many batches.
        whole_words: choose all pieces of a word or none. Words with more pieces than are still
            to be chosen are skipped; if no word fits, the shortest one is chosen.

    Raises:
        InputError: `input_ids` is not 2-D or has ids outside the vocabulary, or `rate` or
            `max_predictions` is out of range.
    """
    tables = vocab if isinstance(vocab, MaskingVocabulary) else MaskingVocabulary.from_vocab(vocab)
    device, input_ids = input_ids.device, input_ids.cpu()
    _check(input_ids, tables, rate, max_predictions)
    candidates = ~tables.special[input_ids]  # (B, T)
    wanted = (candidates.sum(1) * rate).round().long().clamp(min=1)
    if max_predictions is not None:
        wanted = wanted.clamp(max=max_predictions)
    if whole_words:
        starts = candidates & ~tables.continuation[input_ids]
        chosen = _choose_words(candidates, starts, wanted, max_predictions, generator)
    else:
        keys = torch.rand(candidates.shape, generator=generator)
        rank = torch.where(candidates, keys, 2.0).argsort(1).argsort(1)  # 2: after every candidate
        chosen = candidates & (rank < wanted[:, None])
    corrupted = _corrupt(input_ids, chosen, tables, generator)
    labels = torch.where(chosen, input_ids, IGNORED)
    masked = (corrupted, labels, *gather_positions(labels))
    return MaskedTokens(*(tensor.to(device) for tensor in masked))


def gather_positions(labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Convert a label tensor (B, T) to positions, labels and weights, each (B, P).

    P is the largest number of labels in a row, but at least 1.

    >>> gather_positions(torch.tensor([[-100, 7, -100], [5, -100, 6]]))[0].tolist()
    [[1, 0], [0, 2]]
    """
    chosen = labels != IGNORED
    count = max(1, int(chosen.sum(1).max()))
    # A stable sort by "not chosen" moves the chosen positions to the front, in order.
    order = torch.sort((~chosen).to(torch.uint8), dim=1, stable=True).indices[:, :count]
    kept = chosen.gather(1, order)
    position_labels = torch.where(kept, labels.gather(1, order), IGNORED)
    return torch.where(kept, order, 0), position_labels, kept.float()


def _check(
    input_ids: Tensor, tables: MaskingVocabulary, rate: float, max_predictions: int | None
) -> None:
    if input_ids.dim() != 2 or not input_ids.numel() or input_ids.is_floating_point():
        raise InputError(
            f"input_ids have the shape {tuple(input_ids.shape)} and the type {input_ids.dtype}; "
            "masking expects whole numbers of the shape (rows, tokens), not empty."
        )
    low, high = int(input_ids.min()), int(input_ids.max())
    if low < 0 or high >= len(tables.special):
        raise InputError(
            f"input_ids reach from {low} to {high}; the vocabulary has the ids 0 to "
            f"{len(tables.special) - 1}. Encode the text with the same vocabulary."
        )
    if not 0 < rate <= 1:
        raise InputError(f"The masking rate is {rate}; give a share above 0 and up to 1.")
    if max_predictions is not None and max_predictions < 1:
        raise InputError(f"max_predictions is {max_predictions}; give at least 1, or None.")


def _choose_words(
    candidates: Tensor,
    starts: Tensor,
    wanted: Tensor,
    max_predictions: int | None,
    generator: torch.Generator | None,
) -> Tensor:
    chosen = torch.zeros_like(candidates)
    keys = torch.rand(candidates.shape, generator=generator)
    for row in range(len(candidates)):
        words: list[list[int]] = []  # positions; a continuation joins the piece before it
        for position in candidates[row].nonzero().flatten().tolist():
            if starts[row, position] or not words or words[-1][-1] != position - 1:
                words.append([])
            words[-1].append(position)
        order = keys[row, : len(words)].argsort().tolist()
        picked: list[int] = []
        for index in order:
            if len(picked) + len(words[index]) <= wanted[row]:
                picked += words[index]
        if words and not picked:  # at least one word: the shortest, cut to max_predictions
            picked = min((words[index] for index in order), key=len)[:max_predictions]
        chosen[row, picked] = True
    return chosen


def _corrupt(
    input_ids: Tensor, chosen: Tensor, tables: MaskingVocabulary, generator: torch.Generator | None
) -> Tensor:
    """Replace the chosen ids by [MASK] or a random token, or leave them; see SHARE_MASKED."""
    lot = torch.rand(input_ids.shape, generator=generator)
    draw = torch.randint(len(tables.replacements), input_ids.shape, generator=generator)
    masked = chosen & (lot < SHARE_MASKED)
    random = chosen & (lot >= SHARE_MASKED) & (lot < SHARE_MASKED + SHARE_RANDOM)
    corrupted = torch.where(masked, tables.mask_id, input_ids)
    return torch.where(random, tables.replacements[draw].to(input_ids.dtype), corrupted)
