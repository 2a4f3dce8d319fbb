"""Sixteen rows learnt by heart, class by class."""

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from bert_core import (
    BertConfig,
    BertForQuestionAnswering,
    BertForTokenClassification,
    BertTokenizer,
)
from bert_core.finetuning import (
    Batch,
    Budget,
    Question,
    RowBatches,
    TaggedWords,
    Trainer,
    TrainerSettings,
    question_batch,
    word_batch,
)
from bert_core.model.pretrained import BertPreTrainedModel

COUNT, LABELS = 16, "labels"
INPUTS = ("input_ids", "token_type_ids", "attention_mask")
Config = Callable[..., BertConfig]
Sentence = Callable[..., str]
Make = Callable[[Sequence[Any]], Batch]


def train(model: BertPreTrainedModel, rows: Sequence[Any], make: Make, steps: int) -> Batch:
    """Learn rows by heart, eight a step, and leave the model as for use; return all rows."""
    settings = TrainerSettings(Budget(steps=steps), learning_rate=5e-3, warmup_steps=5)
    trainer = Trainer(model, RowBatches(rows, make, batch_size=8, seed=1), settings)
    while not trainer.done:
        report = trainer.step()
    assert report.truncated == report.missed == 0
    model.eval()
    return make(rows)


def check_right(model: BertPreTrainedModel, batch: Batch, *labels: str) -> None:
    """Check that every label that counts has the highest score."""
    answers = model(**{name: batch[name] for name in INPUTS})
    scores = answers if isinstance(answers, tuple) else (answers,)
    assert len(scores) == len(labels)
    for logits, name in zip(scores, labels, strict=True):
        counted = batch[name] >= 0
        assert torch.equal(logits.argmax(-1)[counted], batch[name][counted]), name


def test_the_words_of_sixteen_sentences_are_tagged(
    tokenizer: BertTokenizer, tiny: Config, strange_word: Callable[[], str]
) -> None:
    chooser = random.Random(3)
    rows = []
    for _ in range(COUNT):
        words = tuple(strange_word() for _ in range(8))
        rows.append(TaggedWords(words, tuple(chooser.choices([0, 1, 2, 3, -100], k=8))))
    model = BertForTokenClassification(tiny(), num_labels=4)
    batch = train(model, rows, partial(word_batch, tokenizer, max_length=40), 80)
    assert (batch["labels"] >= 0).sum() > 60
    check_right(model, batch, LABELS)


def test_sixteen_questions_are_answered_or_refused(
    tokenizer: BertTokenizer, tiny: Config, sentence: Sentence
) -> None:
    chooser = random.Random(6)
    rows = []
    for number in range(COUNT):
        words = sentence(10 if number % 4 else 30).split()
        first = chooser.randrange(len(words) - 2)
        answer, start = " ".join(words[first : first + 2]), len(" ".join([*words[:first], ""]))
        nothing = number % 5 == 2
        rows.append(Question(sentence(3), " ".join(words), None if nothing else answer, start))
    model = BertForQuestionAnswering(tiny())
    make = partial(question_batch, tokenizer, max_length=24, stride=8)
    batch = train(model, rows, make, 120)
    assert len(batch["input_ids"]) > COUNT + 4  # long passages have several windows
    assert int((batch["start_positions"] == 0).sum()) > 4
    check_right(model, batch, "start_positions", "end_positions")


def test_a_report_counts_what_was_cut_and_missed(tokenizer: BertTokenizer, tiny: Config) -> None:
    passage = "the old mill stands by the green river and the red boat is near the bridge"
    rows = [Question("the cat " * 20, passage, passage[:60], 0)]
    make = partial(question_batch, tokenizer, max_length=20, stride=5)
    batches = RowBatches(rows, make, batch_size=2)
    model = BertForQuestionAnswering(tiny())
    report = Trainer(model, batches, TrainerSettings(Budget(steps=1))).step()
    assert report.truncated == 2 * (40 - 6)
    assert report.missed == 2
