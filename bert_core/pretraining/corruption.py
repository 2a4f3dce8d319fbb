"""Masking for the masked language model: which tokens are hidden, and behind what.

Source: Devlin et al. 2019, section 3.1 and appendix A.1. Order of reading: `MaskingVocabulary`
(what may be hidden), `mask_tokens`, then the two ways of choosing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from bert_core.errors import InputError

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
IGNORED = -100  # the label of a token that no loss counts
# Of the chosen tokens 80 % become [MASK], 10 % a random token, 10 % stay (appendix A.1).
SHARE_MASKED = 0.8
SHARE_RANDOM = 0.1


@dataclass(frozen=True, slots=True)
class MaskingVocabulary:
    """What masking has to know of a vocabulary.

    Attributes:
        mask_id: id of [MASK].
        special: (V,) bool, tokens that are never chosen.
        continuation: (V,) bool, pieces that continue a word ("##ing").
        replacements: ids a random replacement is drawn from (no special, no unused entry).
    """

    mask_id: int
    special: Tensor
    continuation: Tensor
    replacements: Tensor

    @classmethod
    def from_vocab(cls, vocab: Mapping[str, int]) -> "MaskingVocabulary":
        """Read the tables from a tokenizer's `vocab` (token -> id).

        Raises:
            InputError: the vocabulary has no [MASK], or nothing but special tokens.
        """
        if "[MASK]" not in vocab:
            raise InputError(
                "The vocabulary has no [MASK], which masking needs. Use a vocabulary made for BERT."
            )
        size = max(vocab.values()) + 1
        special = torch.zeros(size, dtype=torch.bool)
        continuation = torch.zeros(size, dtype=torch.bool)
        usable = torch.zeros(size, dtype=torch.bool)
        for token, index in vocab.items():
            special[index] = token in SPECIAL_TOKENS
            continuation[index] = token.startswith("##") and len(token) > 2
            usable[index] = not special[index] and not token.startswith("[unused")
        replacements = usable.nonzero().flatten()
        if not len(replacements):
            raise InputError("The vocabulary has special tokens only; there is nothing to mask.")
        return cls(vocab["[MASK]"], special, continuation, replacements)


@dataclass(frozen=True, slots=True)
class MaskedTokens:
    """A corrupted batch, and what was there before, in two forms.

    Attributes:
        input_ids: (B, T), corrupted.
        labels: (B, T), the original id at the chosen positions, -100 elsewhere.
        positions: (B, P), the chosen positions in ascending order, then zeros.
        position_labels: (B, P), the original ids there, -100 where there is no position.
        weights: (B, P), 1.0 for a chosen position, 0.0 for filling.
    """

    input_ids: Tensor
    labels: Tensor
    positions: Tensor
    position_labels: Tensor
    weights: Tensor


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

    In every row `rate` of the ordinary tokens are chosen (rounded), at least one and at most
    `max_predictions`. Special tokens are never chosen; a row of special tokens alone stays as
    it is. Of the chosen tokens 80 % become [MASK], 10 % a random token, 10 % stay.

    Args:
        input_ids: (B, T) whole numbers on any device, where the results will be; not changed.
        vocab: the tokenizer's `vocab`, or tables made from it once for many batches.
        rate: share of the ordinary tokens to choose, above 0 and up to 1.
        max_predictions: upper bound per row; None for no bound.
        whole_words: choose all pieces of a word or none. Words that would exceed the number
            wanted are passed over; where no word is short enough, the shortest is taken.
        generator: source of randomness, on the CPU; the same state gives the same corruption.

    Raises:
        InputError: ids not of rank 2 or outside the vocabulary, a rate or bound out of range.
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
        chosen = _choose_pieces(candidates, wanted, generator)
    corrupted = _corrupt(input_ids, chosen, tables, generator)
    labels = torch.where(chosen, input_ids, IGNORED)
    found = (corrupted, labels, *gather_positions(labels))
    return MaskedTokens(*(tensor.to(device) for tensor in found))


def gather_positions(labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Turn a label tensor (B, T) into positions, labels and weights, each (B, P).

    P is the largest number of labels in a row, at least 1.

    >>> gather_positions(torch.tensor([[-100, 7, -100], [5, -100, 6]]))[0].tolist()
    [[1, 0], [0, 2]]
    """
    chosen = labels != IGNORED
    count = max(1, int(chosen.sum(1).max()))
    # A stable sort on "not chosen" brings the chosen positions to the front, in order.
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


def _choose_pieces(candidates: Tensor, wanted: Tensor, generator: torch.Generator | None) -> Tensor:
    """Choose exactly `wanted` (or all) candidates of each row; (B, T) bool."""
    keys = torch.rand(candidates.shape, generator=generator)
    keys = torch.where(candidates, keys, 2.0)  # behind every candidate
    rank = keys.argsort(1).argsort(1)
    return candidates & (rank < wanted[:, None])


def _choose_words(
    candidates: Tensor,
    starts: Tensor,
    wanted: Tensor,
    max_predictions: int | None,
    generator: torch.Generator | None,
) -> Tensor:
    """Choose whole words up to `wanted` pieces in each row; (B, T) bool."""
    chosen = torch.zeros_like(candidates)
    keys = torch.rand(candidates.shape, generator=generator)
    for row in range(len(candidates)):
        words = _words(candidates[row].tolist(), starts[row].tolist())
        if not words:
            continue
        order = keys[row, : len(words)].argsort().tolist()
        left, picked = int(wanted[row]), []
        for index in order:
            if len(words[index]) <= left:
                picked += words[index]
                left -= len(words[index])
        if not picked:  # at least one: the shortest word, cut only by the hard bound
            picked = min((words[index] for index in order), key=len)[:max_predictions]
        chosen[row, picked] = True
    return chosen


def _words(candidates: list[bool], starts: list[bool]) -> list[list[int]]:
    """Group candidate positions into words; a continuation joins the piece right before it."""
    words: list[list[int]] = []
    for position, (candidate, start) in enumerate(zip(candidates, starts, strict=True)):
        if not candidate:
            continue
        if start or not words or words[-1][-1] != position - 1:
            words.append([])
        words[-1].append(position)
    return words


def _corrupt(
    input_ids: Tensor,
    chosen: Tensor,
    tables: MaskingVocabulary,
    generator: torch.Generator | None,
) -> Tensor:
    """Replace the chosen ids: mostly by [MASK], sometimes by a random token or by nothing."""
    lot = torch.rand(input_ids.shape, generator=generator)
    draw = torch.randint(len(tables.replacements), input_ids.shape, generator=generator)
    masked = chosen & (lot < SHARE_MASKED)
    random = chosen & (lot >= SHARE_MASKED) & (lot < SHARE_MASKED + SHARE_RANDOM)
    corrupted = torch.where(masked, tables.mask_id, input_ids)
    return torch.where(random, tables.replacements[draw].to(input_ids.dtype), corrupted)
