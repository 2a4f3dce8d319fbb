"""Sixteen rows learnt by heart, class by class."""

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
import torch

from bert_core import (
    BertConfig,
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForNextSentencePrediction,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertTokenizer,
)
from bert_core.finetuning import (
    Batch,
    Budget,
    Choices,
    LabelledText,
    Question,
    RowBatches,
    TaggedWords,
    Trainer,
    TrainerSettings,
    choice_batch,
    question_batch,
    text_batch,
    word_batch,
)
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.pretraining import mask_tokens, sentence_pairs

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


def test_pairs_are_judged_by_both_of_their_texts(
    tokenizer: BertTokenizer, tiny: Config, sentence: Sentence
) -> None:
    first, second = [sentence() for _ in range(4)], [sentence() for _ in range(4)]
    rows = [
        LabelledText(a, (x + y) % 2, b) for x, a in enumerate(first) for y, b in enumerate(second)
    ]
    model = BertForSequenceClassification(tiny())
    batch = train(model, rows, partial(text_batch, tokenizer, max_length=16), 80)
    check_right(model, batch, LABELS)


def test_sixteen_scores_are_learnt(
    tokenizer: BertTokenizer, tiny: Config, sentence: Sentence
) -> None:
    rows = [LabelledText(sentence(), number / COUNT) for number in range(COUNT)]
    model = BertForSequenceClassification(tiny(), num_labels=1)
    batch = train(model, rows, partial(text_batch, tokenizer, max_length=16), 80)
    labels = batch.pop("labels")
    apart = (model(**batch)[:, 0] - labels).abs()
    assert apart.max() < 0.5 / COUNT  # nearer to its own score than to any other


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


def test_the_right_one_of_three_is_chosen_sixteen_times(
    tokenizer: BertTokenizer, tiny: Config, sentence: Sentence
) -> None:
    rows = [
        Choices(sentence(4), (sentence(2), sentence(3), sentence(2)), number % 3)
        for number in range(COUNT)
    ]
    model = BertForMultipleChoice(tiny(), num_choices=3)
    batch = train(model, rows, partial(choice_batch, tokenizer, max_length=16), 80)
    check_right(model, batch, LABELS)


@pytest.mark.parametrize(
    ("model_class", "labels"),
    [
        (BertForMaskedLM, ["masked_lm_labels"]),
        (BertForNextSentencePrediction, ["next_sentence_label"]),
        (BertForPreTraining, ["masked_lm_labels", "next_sentence_label"]),
    ],
)
def test_pretraining_s_classes_learn_sixteen_pairs(
    model_class: type[BertPreTrainedModel],
    labels: list[str],
    tokenizer: BertTokenizer,
    tiny: Config,
    sentence: Sentence,
) -> None:
    documents = [[sentence(4) for _ in range(5)] for _ in range(4)]
    pairs = sentence_pairs(documents, count=COUNT, seed=2)
    texts = [LabelledText(pair.first, pair.label, pair.second) for pair in pairs]
    batch = text_batch(tokenizer, texts, max_length=16)
    generator = torch.Generator().manual_seed(2)
    masked = mask_tokens(batch["input_ids"], tokenizer.vocab, generator=generator)
    batch["input_ids"], batch["masked_lm_labels"] = masked.input_ids, masked.labels
    batch["next_sentence_label"] = batch.pop("labels")

    def make(rows: Sequence[int]) -> Batch:
        return Batch({name: batch[name][list(rows)] for name in [*INPUTS, *labels]})

    model = model_class(tiny())
    check_right(model, train(model, range(COUNT), make, 100), *labels)


def test_a_report_counts_what_was_cut_and_missed(tokenizer: BertTokenizer, tiny: Config) -> None:
    passage = "the old mill stands by the green river and the red boat is near the bridge"
    rows = [Question("the cat " * 20, passage, passage[:60], 0)]
    make = partial(question_batch, tokenizer, max_length=20, stride=5)
    batches = RowBatches(rows, make, batch_size=2)
    model = BertForQuestionAnswering(tiny())
    report = Trainer(model, batches, TrainerSettings(Budget(steps=1))).step()
    assert report.truncated == 2 * (40 - 6)
    assert report.missed == 2
