"""Pretraining: vocabulary, masking, sentence pairs, rows and the joint loss.

This package imports only torch and `bert_core`. It contains nothing specific to data files, to the
bundled model's recipe (`training/` at the root of the repository) or to the application.
"""

from bert_core.pretraining.batches import PretrainingBatches
from bert_core.pretraining.corruption import (
    MaskedTokens,
    MaskingVocabulary,
    gather_positions,
    mask_tokens,
)
from bert_core.pretraining.losses import PretrainingBatch, PretrainingLoss, joint_loss
from bert_core.pretraining.pairs import SentencePair, sentence_pairs
from bert_core.pretraining.rows import (
    Rows,
    RowTokens,
    pack_blocks,
    pair_rows,
    sentence_rows,
    truncate_pair,
)
from bert_core.pretraining.vocabulary import build_vocabulary, write_vocabulary
from bert_core.reading.sentences import split_sentences

__all__ = [
    "MaskedTokens",
    "MaskingVocabulary",
    "PretrainingBatch",
    "PretrainingBatches",
    "PretrainingLoss",
    "RowTokens",
    "Rows",
    "SentencePair",
    "build_vocabulary",
    "gather_positions",
    "joint_loss",
    "mask_tokens",
    "pack_blocks",
    "pair_rows",
    "sentence_pairs",
    "sentence_rows",
    "split_sentences",
    "truncate_pair",
    "write_vocabulary",
]
