"""Question answering: how answers are read, compared and refused."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from bert_core import BertForQuestionAnswering, BertTokenizer
from bert_core.config import BertConfig
from bert_core.finetuning import Question
from bert_core.reading.wordings import normalized, token_f1
from training.question_evaluation import (
    articles_of,
    elsewhere,
    question_figures,
    read_questions,
    xquad,
)


def reader(encoder: Path, word: str, none: float, room: int = 512) -> BertForQuestionAnswering:
    """A model that starts and ends every answer at a word; "no answer" scores `none`."""
    tokenizer = BertTokenizer.from_pretrained(encoder)
    [piece] = tokenizer.convert_tokens_to_ids(tokenizer.tokenize(word))
    config = BertConfig(str(encoder / "config.json"))
    config.max_position_embeddings = room
    model = BertForQuestionAnswering(config).eval()
    run = model.run

    def answer(input_ids: Tensor, types: Tensor, mask: Tensor, **options: object) -> object:
        outputs = run(input_ids, types, mask, **options)  # type: ignore[arg-type]
        logits = torch.where(input_ids == piece, 4.0, -1.0)
        logits[:, 0] = none / 2
        assert outputs.start_logits is not None
        assert outputs.end_logits is not None
        outputs.start_logits.copy_(logits)
        outputs.end_logits.copy_(logits)
        return outputs

    model.run = answer  # type: ignore[method-assign, assignment]
    return model


def test_five_passages_in_a_row_are_an_article() -> None:
    rows = [Question("Who?", f"Passage {number // 2}.", None) for number in range(24)]
    assert articles_of(rows) == [0] * 10 + [1] * 10 + [2] * 4


def test_the_best_span_is_cut_out_of_the_passage(encoder: Path, tokenizer: BertTokenizer) -> None:
    rows = [
        Question("What is seen?", "My aunt sees the Moon.", None),
        Question("What is seen?", "Our teacher draws the road. A dog hears the moon!", None),
    ]
    found = read_questions(reader(encoder, "moon", none=0.0), tokenizer, rows)
    assert [(each.text, each.answered()) for each in found] == [("Moon", True), ("moon", True)]
    assert found[0].spans.best_score == 8.0
    # An equal score is an answer, as on the page.
    for none, answered in ((8.0, True), (8.5, False)):
        shy = read_questions(reader(encoder, "moon", none), tokenizer, rows)
        assert [each.answered() for each in shy] == [answered, answered]


def test_a_passage_longer_than_the_model_is_read_to_its_end(
    encoder: Path, tokenizer: BertTokenizer
) -> None:
    passage = "The cat likes some bread. " * 30 + "A dog hears the moon."
    row = Question("What is heard?", passage, None)
    [found] = read_questions(reader(encoder, "moon", 0.0, room=48), tokenizer, [row])
    assert found.text == "moon"
    first, _ = found.spans.best
    assert found.reading.spans[first].tolist() == [passage.index("moon"), passage.index("moon") + 4]
    assert len(found.reading.spans) == len(tokenizer.tokenize(passage))


def test_answers_are_compared_as_squad_does() -> None:
    assert normalized("An  Eiffel-Tower, the old!") == "eiffeltower old"
    assert token_f1("the old bridge", "old stone bridge") == pytest.approx(0.8)
    assert token_f1("", "the") == 1.0
    assert token_f1("a bridge", "tower") == 0.0


def test_a_question_moves_to_the_next_passage_of_its_article_without_the_answer() -> None:
    contexts = [f"Passage {n} of one." for n in "abcde"] + [f"Passage {n} of two." for n in "fghij"]
    contexts[1] = "Passage b of one, with Ada."
    rows = [Question("Who?", context, None) for context in contexts]
    ada = Question("Who?", "Ada wrote passage a of one.", "Ada")
    moved = elsewhere([ada, *rows[1:]])
    assert moved[0] == Question("Who?", contexts[2], None)  # b names her
    last = elsewhere([*rows[:9], Question("Which?", contexts[9], "j", 8)])[9]
    assert last == Question("Which?", contexts[5], None)  # turns round within its own article
    assert elsewhere([*rows[:9], Question("Which?", contexts[9], "Passage")])[9] is None


def test_figures_on_made_up_passages_are_what_counting_gives(
    encoder: Path, tokenizer: BertTokenizer, task_data: Path
) -> None:
    rows = xquad(task_data)
    word = rows[0].answer or ""
    model = reader(encoder, word, none=7.0)
    exact, overlap, answered, either = question_figures(model, tokenizer, task_data)
    right = np.array([normalized(row.answer or "") == normalized(word) for row in rows])
    holds = np.array([word.lower() in tokenizer.tokenize(row.context) for row in rows])
    assert exact.cases == overlap.cases == len(rows)
    assert exact.share >= float((right & holds).mean()) > 0
    moved = [q for q in elsewhere(rows)[1::2] if q is not None]
    refused = [word.lower() not in tokenizer.tokenize(q.context) for q in moved]
    assert answered.cases == either.cases == len(rows[::2]) + len(moved)
    expected = (holds[::2].sum() + sum(refused)) / answered.cases
    assert answered.share == pytest.approx(expected)
    assert (answered.floor, either.floor) == (0.92, 0.75)
