"""The reader of questions: against plain loops over the model's own numbers, and the site."""

import math
from itertools import product

import numpy as np
import pytest
import torch

from bert_core import BertForQuestionAnswering, BertTokenizer
from bert_core.errors import InputError
from bert_core.reading.passage import Rules, answer_question, read_passages
from bert_core.reading.running import Runner
from bert_core.reading.wordings import normalized

ASKED = "the cat?"
SHORT = "The cat, playing. The dog sat on the river bank!"
LONG = "The cat sat on the mat, playing. A dog sat。The river bank\n\na mat. " * 5 + "A [SEP] cat"


def one_by_one(
    model: BertForQuestionAnswering,
    tokenizer: BertTokenizer,
    passage: str,
    longest: int,
    rules: Rules,
) -> tuple[dict[tuple[int, int], float], float]:
    """Score every span that may be an answer, and "no answer", with plain loops."""
    whole = tokenizer.encode(ASKED, passage)
    pieces = [at for at, side in enumerate(whole.sequence_ids) if side == 1]
    offsets, words = whole.spans, whole.words
    stride = (48 - 3 - len(tokenizer.tokenize(ASKED))) // 2
    inputs = [whole]
    if len(whole) > 48:
        inputs = tokenizer.encode_windows(ASKED, passage, max_length=48, stride=stride)
        longest = min(longest, stride + 1)
    found, first, nulls = [], 0, []
    for encoding in inputs:
        with torch.no_grad():
            start, end = model(
                torch.tensor([encoding.input_ids]), torch.tensor([encoding.token_type_ids])
            )
        held = [at for at, side in enumerate(encoding.sequence_ids) if side == 1]
        found.append((first, start[0, held].tolist(), end[0, held].tolist()))
        nulls.append(float(start[0, 0] + end[0, 0]))
        first += len(held) - stride
    marks = ("playing. A", "sat。The", "bank\n\na", "playing. The", "mat. The", "mat. A")
    ends = {at for mark in marks for at in _behind(passage, mark)}

    def allowed(i: int, j: int) -> bool:
        tokens = whole.tokens[pieces[i] : pieces[j] + 1]
        if set(tokens) & {"[CLS]", "[SEP]", "[PAD]", "[MASK]"}:
            return False
        cuts_word = (i > 0 and words[pieces[i]] == words[pieces[i - 1]]) or (
            j + 1 < len(pieces) and words[pieces[j]] == words[pieces[j + 1]]
        )
        if rules.whole_words and cuts_word:
            return False
        here, there = offsets[pieces[i]][0], offsets[pieces[j]][0]
        return not (rules.one_sentence and any(here < end <= there for end in ends))

    scores = {}
    for i in range(len(pieces)):
        for j in range(i, min(len(pieces), i + longest)):
            rooms = []
            for number, (at, start, _) in enumerate(found):
                stop = at + len(start)
                if at <= i and j < stop:
                    left = i - at if at else math.inf
                    right = stop - 1 - j if stop < len(pieces) else math.inf
                    rooms.append((-min(left, right), number))
            if rooms and allowed(i, j):
                at, start, end = found[min(rooms)[1]]
                scores[i, j] = start[i - at] + end[j - at]
    return scores, min(nulls)


def _behind(passage: str, mark: str) -> list[int]:
    """Where the last word of a mark begins, wherever the mark stands."""
    last = max(mark.rfind(blank) for blank in " \n。") + 1
    places = [at for at in range(len(passage)) if passage.startswith(mark, at)]
    return [at + last for at in places]


@pytest.mark.parametrize(
    ("passage", "rules", "longest"),
    [
        *((SHORT, Rules(*each), 30) for each in product((True, False), repeat=2)),
        *((SHORT, Rules(), 2), (LONG, Rules(), 30), (LONG, Rules(False, False), 2)),
    ],
)
def test_answers_are_those_of_counting_every_span(
    reader: BertForQuestionAnswering,
    tokenizer: BertTokenizer,
    passage: str,
    rules: Rules,
    longest: int,
) -> None:
    scores, null = one_by_one(reader, tokenizer, passage, longest, rules)
    found = answer_question(reader, tokenizer, passage, ASKED, longest=longest, rules=rules)
    listed = {
        (int(row), int(row + more)): float(found.spans.score[row, more])
        for row, more in zip(*np.nonzero(np.isfinite(found.spans.score)), strict=True)
    }
    assert listed.keys() == scores.keys()
    assert all(listed[span] == pytest.approx(scores[span], abs=1e-5) for span in scores)
    assert found.spans.null == pytest.approx(null, abs=1e-5)
    best = max(scores.values())
    assert found.answered() == (best >= null)
    assert found.answered(null - best + 1e-3) and not found.answered(null - best - 1e-3)
    left = 1 / (1 + math.exp(null - best))
    assert found.null_probability == pytest.approx(1 - left, abs=1e-6)
    total = sum(map(math.exp, scores.values()))
    for answer in found.best(20):
        texts = {passage[place.start : place.end] for place in answer.places}
        assert len({normalized(text).replace(" ", "") or text for text in texts}) == 1
        shares = [
            left * math.exp(score) / total
            for (i, j), score in scores.items()
            if (_bounds(found.reading.spans, i, j)) in {(p.start, p.end) for p in answer.places}
        ]
        assert answer.probability == pytest.approx(sum(shares), abs=1e-6)
    assert found.text == found.best()[0].text
    assert found.alike().sum() == len(
        [1 for i, j in scores if _bounds(found.reading.spans, i, j)
         in {(p.start, p.end) for p in found.best()[0].places}]
    )  # fmt: skip


def _bounds(spans: np.ndarray, first: int, last: int) -> tuple[int, int]:
    return int(spans[first, 0]), int(spans[last, 1])


def test_passages_read_together_are_as_each_alone(
    reader: BertForQuestionAnswering, tokenizer: BertTokenizer
) -> None:
    runner = Runner.of(reader, tokenizer)
    asked = [(LONG, ASKED), (SHORT, "who sat"), ("dog", "who"), (LONG[:90], "cat")]
    for (passage, question), together in zip(asked, read_passages(runner, asked), strict=True):
        [alone] = read_passages(runner, [(passage, question)])
        assert (together.passage, together.question) == (passage, question)
        np.testing.assert_array_equal(together.spans, alone.spans)
        assert [w.first for w in together.windows] == [w.first for w in alone.windows]
        for one, other in zip(together.windows, alone.windows, strict=True):
            np.testing.assert_allclose(one.start, other.start, atol=1e-5)
            np.testing.assert_allclose(one.end, other.end, atol=1e-5)


def test_texts_that_cannot_be_read_are_refused(
    reader: BertForQuestionAnswering, tokenizer: BertTokenizer
) -> None:
    for passage, question, told in (
        (" ", "who", "passage has no text"),
        ("cat", "\n", "question has no text"),
        ("cat", "cat " * 25, "25 pieces; it may have at most 24, half of the 48"),
        ("[SEP]", "who", "only special tokens"),
    ):
        with pytest.raises(InputError, match=told):
            answer_question(reader, tokenizer, passage, question)
