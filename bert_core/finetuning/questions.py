"""Questions and passages to windows with the token positions of the answers.

Source: Devlin et al. 2019, sections 4.2 and 4.3. A long passage is split into overlapping windows.
A window that does not contain the whole answer is labelled "no answer": start and end both point to
[CLS].
"""

from collections.abc import Iterator, Sequence

import torch

from bert_core.errors import InputError
from bert_core.finetuning.batches import Batch, check_rows
from bert_core.finetuning.rows import Question, shortened
from bert_core.text.encoding import Encoding, Span, window_bounds
from bert_core.text.padding import padded_inputs
from bert_core.text.tokenizer import BertTokenizer

NO_ANSWER = 0  # the position of [CLS]


def question_batch(
    tokenizer: BertTokenizer, rows: Sequence[Question], *, max_length: int, stride: int
) -> Batch:
    """Build a batch for `BertForQuestionAnswering`: `[CLS] question [SEP] passage [SEP]`.

    The windows are those of `BertTokenizer.encode_windows`. An answer that begins or ends inside
    a token covers that token. A question is truncated to half of the room that neighbouring windows
    do not share, so that windows always move forward; removed tokens count as truncated.

    Args:
        tokenizer: the model's tokenizer.
        rows: B rows.
        max_length: largest number of tokens per window, including [CLS] and both [SEP].
        stride: number of passage tokens that neighbouring windows share. At least one window
            contains the whole answer if it has at most `stride + 1` tokens; longer answers may be
            in none, and are then counted as missed.

    Returns:
        `input_ids`, `token_type_ids`, `attention_mask` (M, T), `start_positions` and
        `end_positions` (M,), with M >= B windows in the order of rows and passages. The positions
        are those of the answer's first and last token, or both 0.

    Raises:
        InputError: there are no rows, there is no room to move forward, the tokenizer rejects a
            text, or an answer consists of characters that give no token.
    """
    check_rows(rows)
    limit = _question_limit(max_length - 3, stride)
    questions = tokenizer.encode_ids([row.question for row in rows], add_special_tokens=False)
    passages = tokenizer.encode_batch([row.context for row in rows])
    ids: list[list[int]] = []
    firsts: list[int] = []
    positions: list[Span] = []
    missed = 0
    for row, question, passage in zip(rows, questions, passages, strict=True):
        opening = [tokenizer.cls_token_id, *question[:limit], tokenizer.sep_token_id]
        tokens = passage.input_ids[1:]  # the last one is [SEP]
        size = max_length - 1 - len(opening)
        bounds = window_bounds(len(tokens) - 1, size=size, stride=stride)
        ids += [[*opening, *tokens[start:stop], tokens[-1]] for start, stop in bounds]
        firsts += [len(opening)] * len(bounds)
        answer = _answer_tokens(row, passage)
        places = list(_places(answer, bounds, len(opening)))
        missed += answer is not None and all(place == (NO_ANSWER, NO_ANSWER) for place in places)
        positions += places
    starts, ends = torch.tensor(positions).unbind(-1)
    return Batch(
        {
            **padded_inputs(tokenizer, ids, firsts),
            "start_positions": starts.contiguous(),
            "end_positions": ends.contiguous(),
        },
        truncated=sum(max(0, len(question) - limit) for question in questions),
        missed=missed,
    )


def _question_limit(room: int, stride: int) -> int:
    """Return the largest number of tokens for a question."""
    limit = (room - stride) // 2
    if stride < 0 or limit < 1:
        raise InputError(
            f"A window has room for {room} tokens of question and passage, of which stride="
            f"{stride} are shared with the next. Expected a stride from 0 to {room - 2}; raise "
            "max_length or lower stride."
        )
    return limit


def _answer_tokens(row: Question, passage: Encoding) -> Span | None:
    """Return the indices of the answer's first and last token within the passage."""
    if row.answer is None:
        return None
    start, end = row.answer_start, row.answer_start + len(row.answer)
    covered = [
        token
        for token, (first, last) in enumerate(passage.offsets[1:-1])
        if first < end and last > start
    ]
    if not covered:
        raise InputError(
            f"The answer to {shortened(row.question)} is {shortened(row.answer)}, but its "
            "characters give no token. Expected an answer with at least one token."
        )
    return covered[0], covered[-1]


def _places(answer: Span | None, bounds: Sequence[Span], opening: int) -> Iterator[Span]:
    """Yield the answer's positions in each window, whose passage starts after `opening` tokens.

    >>> list(_places((3, 4), [(0, 4), (2, 6)], 5))
    [(0, 0), (6, 7)]
    """
    for start, stop in bounds:
        if answer is not None and start <= answer[0] and answer[1] < stop:
            yield answer[0] - start + opening, answer[1] - start + opening
        else:
            yield NO_ANSWER, NO_ANSWER
