"""The batches of a pretraining: rows in a new order and with new masks in every epoch."""

from collections.abc import Mapping, Sequence

import torch

from bert_core.errors import InputError
from bert_core.pretraining.corruption import MaskedTokens, MaskingVocabulary, mask_tokens
from bert_core.pretraining.losses import PretrainingBatch
from bert_core.pretraining.pairs import sentence_pairs
from bert_core.pretraining.rows import Rows, RowTokens, pair_rows, sentence_rows


class PretrainingBatches:
    """A batch source for `Trainer`: masked words, and next sentences if wanted.

    Every row is used once per epoch; rows and masks of a step depend only on the seed and the
    step's number. `documents` are sentences in reading order as ids without special tokens; `rows`
    has all rows, padded to the longest, and `labels` their next-sentence labels, None for single
    sentences.

    Raises:
        InputError: `batch_size` is not positive; also as `mask_tokens` and `sentence_pairs`.
    """

    def __init__(
        self,
        documents: Sequence[Sequence[Sequence[int]]],
        vocab: Mapping[str, int],
        *,
        batch_size: int,
        length: int = 128,
        mask_rate: float = 0.15,
        whole_words: bool = False,
        next_sentence: bool = True,
        seed: int = 0,
    ) -> None:
        if batch_size < 1:
            raise InputError(f"batch_size is {batch_size}; give at least 1.")
        self.batch_size, self.mask_rate, self.whole_words = batch_size, mask_rate, whole_words
        self.seed = seed
        self._vocabulary = MaskingVocabulary.from_vocab(vocab)
        tokens = RowTokens.from_vocab(vocab)
        self.labels: torch.Tensor | None = None
        if next_sentence:
            pairs = sentence_pairs(documents, seed=seed)
            self.rows = pair_rows([(pair.first, pair.second) for pair in pairs], length, tokens)
            self.labels = torch.tensor([pair.label for pair in pairs])
        else:
            sentences = [sentence for document in documents for sentence in document]
            self.rows = sentence_rows(sentences, length, tokens)
        self._order = (-1, torch.empty(0, dtype=torch.long))

    def __call__(self, step: int, progress: float = 0.0) -> list[PretrainingBatch]:
        """Return the batch of a step, in a list of one."""
        rows, masked, chosen = self.masked(step)
        return [
            PretrainingBatch(
                masked.input_ids,
                None if self.labels is None else rows.token_type_ids,
                rows.attention_mask,
                masked.positions,
                masked.position_labels,
                None if self.labels is None else self.labels[chosen],
            )
        ]

    def masked(self, step: int) -> tuple[Rows, MaskedTokens, torch.Tensor]:
        """Return the rows of a step, the same rows with words hidden, and their numbers (B,)."""
        first = step * self.batch_size
        chosen = torch.stack([self._row(place) for place in range(first, first + self.batch_size)])
        longest = int(self.rows.attention_mask[chosen].sum(1).max())
        rows = Rows(
            self.rows.input_ids[chosen, :longest],
            self.rows.token_type_ids[chosen, :longest],
            self.rows.attention_mask[chosen, :longest],
        )
        masked = mask_tokens(
            rows.input_ids,
            self._vocabulary,
            rate=self.mask_rate,
            whole_words=self.whole_words,
            generator=_generator(self.seed, 2 * step),
        )
        return rows, masked, chosen

    def _row(self, place: int) -> torch.Tensor:
        epoch, offset = divmod(place, len(self.rows.input_ids))
        if self._order[0] != epoch:
            generator = _generator(self.seed, 2 * epoch + 1)
            self._order = epoch, torch.randperm(len(self.rows.input_ids), generator=generator)
        return self._order[1][offset]


def _generator(seed: int, number: int) -> torch.Generator:
    return torch.Generator().manual_seed((seed * 1_000_003 + number) % 2**63)
