"""Rows to tensors: each batch can be passed to `model(**batch)`, labels included.

Inputs are padded to the longest of the batch. Tokens removed to fit are counted in
`Batch.truncated`, and the trainer reports the count of each step. `RowBatches` chooses the rows.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from bert_core.errors import InputError, count
from bert_core.finetuning.rows import Choices, LabelledText, Question, TaggedWords, shortened
from bert_core.model.losses import IGNORED
from bert_core.text.batches import TextTokenizer, padded, padded_encodings, padded_inputs
from bert_core.text.encoding import Encoding

UNLABELLED = IGNORED[1]

Row = TypeVar("Row")


class Batch(dict[str, Tensor]):
    """The tensors of a batch, keyed by the model's argument names."""

    __slots__ = ("missed", "truncated")

    def __init__(self, tensors: dict[str, Tensor], truncated: int = 0, missed: int = 0) -> None:
        super().__init__(tensors)
        self.truncated = truncated  # number of tokens removed to fit
        self.missed = missed  # number of answers that no window contains completely


def text_batch(
    tokenizer: TextTokenizer,
    rows: Sequence[LabelledText],
    *,
    max_length: int,
    truncation: str = "longest_first",
) -> Batch:
    """Build a batch for `BertForSequenceClassification` from single texts, pairs, or both.

    Inputs have at most `max_length` tokens, [CLS] and [SEP] included; longer ones are cut as
    `truncation` says (see `BertTokenizer.encode`).

    Returns:
        `input_ids`, `token_type_ids`, `attention_mask` (B, T) and `labels` (B,): integers, or
        floats if any label is a float.

    Raises:
        InputError: there are no rows, or the tokenizer rejects a text or the rule.
    """
    texts = ((row.text, row.text_pair) for row in rows)
    batch = _encoded(tokenizer, texts, max_length=max_length, truncation=truncation)
    batch["labels"] = torch.tensor([row.label for row in rows])
    return batch


def choice_batch(
    tokenizer: TextTokenizer,
    rows: Sequence[Choices],
    *,
    max_length: int,
    truncation: str = "longest_first",
) -> Batch:
    """Build a batch for `BertForMultipleChoice`, (B, N, T) with `labels` (B,); see `text_batch`.

    Every row must have the same number of choices N; each is paired with its context.
    """
    numbers = sorted({len(row.choices) for row in rows})
    if len(numbers) > 1:
        raise InputError(
            f"The rows have from {numbers[0]} to {numbers[-1]} choices; expected the same number "
            "in every row of a batch. Put rows with different numbers into separate batches."
        )
    texts = ((row.context, choice) for row in rows for choice in row.choices)
    batch = _encoded(tokenizer, texts, max_length=max_length, truncation=truncation)
    for name, flat in batch.items():
        batch[name] = flat.view(len(rows), numbers[0], -1)
    batch["labels"] = torch.tensor([row.label for row in rows])
    return batch


def _encoded(
    tokenizer: TextTokenizer, texts: Iterable[tuple[str, str | None]], **limits: Any
) -> Batch:
    encodings = [tokenizer.encode(first, second, **limits) for first, second in texts]
    _check_rows(encodings)
    truncated = sum(encoding.truncated for encoding in encodings)
    return Batch(padded_encodings(tokenizer, encodings), truncated)


def _check_rows(rows: Sequence[object]) -> None:
    if not rows:
        raise InputError("There are no rows to build a batch from; give at least one.")


# -- words ----------------------------------------------------------------------------------------


def word_batch(tokenizer: TextTokenizer, rows: Sequence[TaggedWords], *, max_length: int) -> Batch:
    """Build a batch for `BertForTokenClassification`; the first piece of a word gets its tag.

    The ids are those of the words joined by spaces; a word without pieces is dropped with its tag.
    A row of more than `max_length` tokens is split into several inputs, between words if possible.

    Returns:
        `input_ids`, `token_type_ids`, `attention_mask` and `labels`, each (M, T) with M >= B inputs
        in the order of the rows. Labels of other pieces, added tokens and padding are -100.

    Raises:
        InputError: there are no rows, `max_length` is too small, or the tokenizer rejects a word.
    """
    _check_rows(rows)
    if max_length < 3:
        raise InputError(
            f"max_length is {max_length}, and every input has two added tokens. Give at least 3."
        )
    space = " " if getattr(tokenizer, "kind", "") == "BPE" else ""  # there it is part of a word
    every = [space + word for row in rows for word in row.words]
    pieces = iter(tokenizer.encode_ids(every, add_special_tokens=False))
    ids: list[list[int]] = []
    labels: list[list[int]] = []
    for row in rows:
        words = list(islice(pieces, len(row.words)))
        row_ids = [number for word in words for number in word]
        row_labels = [
            tag if place == 0 else UNLABELLED
            for tag, word in zip(row.tags, words, strict=True)
            for place in range(len(word))
        ]
        for start, stop in _divisions(list(map(len, words)), max_length - 2):
            ids.append([tokenizer.cls_token_id, *row_ids[start:stop], tokenizer.sep_token_id])
            labels.append([UNLABELLED, *row_labels[start:stop], UNLABELLED])
    tensors = padded_inputs(tokenizer, ids)
    return Batch({**tensors, "labels": padded(labels, UNLABELLED)})


def _divisions(sizes: Sequence[int], room: int) -> Iterator[tuple[int, int]]:
    """Split words of the given sizes into at least one (start, end) range of at most `room` pieces.

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


# -- questions ------------------------------------------------------------------------------------


def question_batch(
    tokenizer: TextTokenizer, rows: Sequence[Question], *, max_length: int, stride: int
) -> Batch:
    """Build a batch for `BertForQuestionAnswering`: `[CLS] question [SEP] passage [SEP]`.

    A passage that is too long is split into the windows of `BertTokenizer.encode_windows`; one
    without the whole answer is labelled "no answer": both positions are that of [CLS] (Devlin et
    al. 2019, sections 4.2 and 4.3). An answer that begins or ends inside a token covers that token.
    A question is cut to half of the room that neighbours do not share. Some window contains every
    answer of at most `stride + 1` tokens; longer ones may be in none, and are then counted as
    missed.

    Returns:
        `input_ids`, `token_type_ids`, `attention_mask` (M, T), `start_positions` and
        `end_positions` (M,), with M >= B windows in the order of rows and passages.

    Raises:
        InputError: there are no rows, there is no room to move forward, the tokenizer rejects a
            text, or an answer consists of characters that give no token.
    """
    _check_rows(rows)
    room = max_length - len(tokenizer.encode("", "").input_ids)
    limit = (room - stride) // 2
    if stride < 0 or limit < 1:
        raise InputError(
            f"A window has room for {room} tokens of question and passage, of which stride="
            f"{stride} are shared; expected from 0 to {room - 2}. Raise max_length or lower stride."
        )
    inputs: list[Encoding] = []
    places: list[tuple[int, int]] = []
    truncated = missed = 0
    for row in rows:
        question, encoding = row.question, tokenizer.encode(row.question)
        if (cut := len(encoding) - 2 - limit) > 0:
            question = question[: encoding.offsets[limit][1]]
            truncated += cut
        windows = tokenizer.encode_windows(
            question, row.context, max_length=max_length, stride=stride
        )
        inputs += windows
        whole = windows[0] if len(windows) == 1 else tokenizer.encode(question, row.context)
        size = len(_answer_tokens(row, whole))
        if row.answer is not None and not size:
            raise InputError(
                f"The answer to {shortened(row.question)} is {shortened(row.answer)}, but its "
                "characters give no token. Expected an answer with at least one token."
            )
        found = [_answer_tokens(row, window) for window in windows]
        held = [tokens if len(tokens) == size else [] for tokens in found]
        places += [(tokens[0], tokens[-1]) if tokens else (0, 0) for tokens in held]
        missed += row.answer is not None and not any(held)
    starts, ends = torch.tensor(places).unbind(-1)
    tensors = padded_encodings(tokenizer, inputs)
    tensors |= {"start_positions": starts.contiguous(), "end_positions": ends.contiguous()}
    return Batch(tensors, truncated, missed)


def _answer_tokens(row: Question, encoding: Encoding) -> list[int]:
    if row.answer is None:
        return []
    start, end = row.answer_start, row.answer_start + len(row.answer)
    rows = zip(encoding.sequence_ids, encoding.offsets, strict=True)
    return [at for at, (side, (a, b)) in enumerate(rows) if side == 1 and a < end and b > start]


# -- the rows of each step ------------------------------------------------------------------------


class RowBatches(Generic[Row]):
    """A `BatchSource` that returns every row once per epoch, reshuffled each epoch.

    The rows of a step depend only on the seed and the step's number. `make` turns rows into a
    batch: `functools.partial(text_batch, tokenizer, max_length=128)`.

    Raises:
        InputError: there are no rows, or `batch_size` is not positive.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        make: Callable[[Sequence[Row]], Batch],
        *,
        batch_size: int,
        seed: int = 0,
    ) -> None:
        if not rows or batch_size < 1:
            raise InputError(
                f"There are {count(len(rows), 'row')}, and batch_size is {batch_size}; expected "
                "at least one row and a batch_size of at least 1."
            )
        self.rows, self.make = rows, make
        self.batch_size, self.seed = batch_size, seed
        self._order: tuple[int, list[int]] = (-1, [])

    def __call__(self, step: int, progress: float) -> list[Batch]:
        """Return the batch of a step, in a list of one."""
        first = step * self.batch_size
        return [self.make([self._row(place) for place in range(first, first + self.batch_size)])]

    def _row(self, place: int) -> Row:
        epoch, offset = divmod(place, len(self.rows))
        if self._order[0] != epoch:
            order = list(range(len(self.rows)))
            random.Random(f"{self.seed} {epoch}").shuffle(order)
            self._order = epoch, order
        return self.rows[self._order[1][offset]]
