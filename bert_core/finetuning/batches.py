"""Rows to tensors: each batch can be passed to `model(**batch)`, labels included.

Inputs are padded to the longest of the batch. Tokens removed to fit are counted in
`Batch.truncated`, and the trainer reports the count of each step. For questions see the module
`questions`.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import torch
from torch import Tensor

from bert_core.errors import InputError
from bert_core.finetuning.rows import Choices, LabelledText, TaggedWords
from bert_core.model.losses import IGNORED
from bert_core.text.encoding import Encoding
from bert_core.text.padding import padded, padded_encodings, padded_inputs
from bert_core.text.tokenizer import BertTokenizer

UNLABELLED = IGNORED[1]


class Batch(dict[str, Tensor]):
    """The tensors of a batch, keyed by the model's argument names.

    Attributes:
        truncated: number of tokens removed to fit.
        missed: number of answers that no window contains completely (questions only).
    """

    __slots__ = ("missed", "truncated")

    def __init__(self, tensors: dict[str, Tensor], truncated: int = 0, missed: int = 0) -> None:
        super().__init__(tensors)
        self.truncated = truncated
        self.missed = missed


def text_batch(
    tokenizer: BertTokenizer,
    rows: Sequence[LabelledText],
    *,
    max_length: int,
    truncation: str = "longest_first",
) -> Batch:
    """Build a batch for `BertForSequenceClassification` from single texts, pairs, or both.

    Args:
        tokenizer: the model's tokenizer.
        rows: B rows.
        max_length: largest number of tokens per input, including [CLS] and [SEP].
        truncation: rule for longer inputs; see `BertTokenizer.encode`.

    Returns:
        `input_ids`, `token_type_ids`, `attention_mask` (B, T) and `labels` (B,): integers, or
        floats if any label is a float.

    Raises:
        InputError: there are no rows, or the tokenizer rejects a text or the rule.
    """
    check_rows(rows)
    encodings = [
        tokenizer.encode(row.text, row.text_pair, max_length=max_length, truncation=truncation)
        for row in rows
    ]
    labels = torch.tensor([row.label for row in rows])
    return _encoded(tokenizer, encodings, {"labels": labels})


def choice_batch(
    tokenizer: BertTokenizer,
    rows: Sequence[Choices],
    *,
    max_length: int,
    truncation: str = "longest_first",
) -> Batch:
    """Build a batch for `BertForMultipleChoice`: every choice is paired with its context.

    The arguments are those of `text_batch`; every row must have the same number of choices N.

    Returns:
        `input_ids`, `token_type_ids`, `attention_mask` (B, N, T) and `labels` (B,).

    Raises:
        InputError: there are no rows, their numbers of choices differ, or the tokenizer rejects a
            text or the rule.
    """
    check_rows(rows)
    numbers = sorted({len(row.choices) for row in rows})
    if len(numbers) > 1:
        raise InputError(
            f"The rows have from {numbers[0]} to {numbers[-1]} choices; expected the same number "
            "in every row of a batch. Put rows with different numbers into separate batches."
        )
    encodings = [
        tokenizer.encode(row.context, choice, max_length=max_length, truncation=truncation)
        for row in rows
        for choice in row.choices
    ]
    batch = _encoded(tokenizer, encodings, {})
    for name, flat in batch.items():
        batch[name] = flat.view(len(rows), numbers[0], -1)
    batch["labels"] = torch.tensor([row.label for row in rows])
    return batch


def word_batch(tokenizer: BertTokenizer, rows: Sequence[TaggedWords], *, max_length: int) -> Batch:
    """Build a batch for `BertForTokenClassification`; the first piece of a word gets its tag.

    The ids are those of the words joined by spaces, so no piece spans two words. A word without
    pieces, such as a single control character, is dropped with its tag. A row longer than
    `max_length` is split into several inputs, between words unless a single word is longer than an
    input; nothing is truncated.

    Args:
        tokenizer: the model's tokenizer.
        rows: B rows.
        max_length: largest number of tokens per input, including [CLS] and [SEP]; at least 3.

    Returns:
        `input_ids`, `token_type_ids`, `attention_mask` and `labels`, each (M, T) with M >= B inputs
        in the order of the rows. Labels of other pieces, added tokens and padding are -100.

    Raises:
        InputError: there are no rows, `max_length` is too small, or the tokenizer rejects a word.
    """
    check_rows(rows)
    if max_length < 3:
        raise InputError(
            f"max_length is {max_length}, and every input has two added tokens. Give at least 3."
        )
    pieces = iter(
        tokenizer.encode_ids([word for row in rows for word in row.words], add_special_tokens=False)
    )
    ids: list[list[int]] = []
    labels: list[list[int]] = []
    for row in rows:
        words = list(islice(pieces, len(row.words)))
        tags = (
            [tag, *[UNLABELLED] * (len(word) - 1)]
            for tag, word in zip(row.tags, words, strict=True)
            if word
        )
        row_ids = [number for word in words for number in word]
        row_labels = [label for word in tags for label in word]
        for start, stop in _divisions(list(map(len, words)), max_length - 2):
            ids.append([tokenizer.cls_token_id, *row_ids[start:stop], tokenizer.sep_token_id])
            labels.append([UNLABELLED, *row_labels[start:stop], UNLABELLED])
    tensors = padded_inputs(tokenizer, ids, list(map(len, ids)))
    return Batch({**tensors, "labels": padded(labels, UNLABELLED)})


def _divisions(sizes: Sequence[int], room: int) -> Iterator[tuple[int, int]]:
    """Split words of the given sizes into (start, end) ranges of at most `room` pieces.

    There is always at least one range.

    >>> list(_divisions([3, 3, 2, 9], 6))
    [(0, 6), (6, 8), (8, 14), (14, 17)]
    """
    start = end = 0
    for size in sizes:
        if end + size - start > room and end > start:
            yield start, end
            start = end
        end += size
        while end - start > room:
            yield start, start + room
            start += room
    if end > start or end == 0:
        yield start, end


def _encoded(
    tokenizer: BertTokenizer, encodings: Sequence[Encoding], labels: dict[str, Tensor]
) -> Batch:
    """Build a batch from encodings, padded to the longest."""
    truncated = sum(encoding.truncated for encoding in encodings)
    return Batch({**padded_encodings(tokenizer, encodings), **labels}, truncated)


def check_rows(rows: Sequence[object]) -> None:
    """Reject an empty batch."""
    if not rows:
        raise InputError("There are no rows to build a batch from; give at least one.")
