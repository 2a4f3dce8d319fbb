"""Sixteen rows learnt by heart, class by class, and trainings that are killed on the way."""

import random
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from bert_core.config import BertConfig
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
from bert_core.model.heads import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForNextSentencePrediction,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.pretraining import mask_tokens, sentence_pairs
from bert_core.text.tokenizer import BertTokenizer

COUNT = 16
Config = Callable[..., BertConfig]
Sentence = Callable[..., str]
Make = Callable[[Sequence[Any]], Batch]


def train(model: BertPreTrainedModel, rows: Sequence[Any], make: Make, steps: int) -> float:
    """Learn rows by heart, eight a step; return the last loss and leave the model as for use."""
    settings = TrainerSettings(Budget(steps=steps), learning_rate=5e-3, warmup_steps=5)
    trainer = Trainer(model, RowBatches(rows, make, batch_size=8, seed=1), settings)
    while not trainer.done:
        report = trainer.step()
    assert report.truncated == report.missed == 0
    model.eval()
    return report.loss


def right(logits: torch.Tensor, labels: torch.Tensor) -> float:
    """Share of the labels that count and have the highest score."""
    counted = labels >= 0
    return float((logits.argmax(-1) == labels)[counted].float().mean())


def inputs(batch: Batch) -> dict[str, torch.Tensor]:
    names = ("input_ids", "token_type_ids", "attention_mask")
    return {name: batch[name] for name in names}


# -- fine-tuning -----------------------------------------------------------------------------------


@pytest.mark.parametrize("pairs", [False, True], ids=["one text", "pairs"])
def test_sixteen_texts_are_classified(
    pairs: bool, tokenizer: BertTokenizer, tiny: Config, sentence: Sentence
) -> None:
    rows = [
        LabelledText(sentence(), number % 3, sentence(4) if pairs else None)
        for number in range(COUNT)
    ]
    make = partial(text_batch, tokenizer, max_length=16)
    model = BertForSequenceClassification(tiny(), num_labels=3)
    train(model, rows, make, 50)
    batch = make(rows)
    assert right(model(**inputs(batch)), batch["labels"]) == 1.0


def test_a_pair_is_judged_by_both_of_its_texts(
    tokenizer: BertTokenizer, tiny: Config, sentence: Sentence
) -> None:
    first, second = [sentence() for _ in range(4)], [sentence() for _ in range(4)]
    rows = [
        LabelledText(a, (x + y) % 2, b) for x, a in enumerate(first) for y, b in enumerate(second)
    ]
    assert len(rows) == COUNT
    make = partial(text_batch, tokenizer, max_length=16)
    model = BertForSequenceClassification(tiny())
    train(model, rows, make, 80)
    batch = make(rows)
    assert right(model(**inputs(batch)), batch["labels"]) == 1.0


def test_sixteen_scores_are_learnt(
    tokenizer: BertTokenizer, tiny: Config, sentence: Sentence
) -> None:
    rows = [LabelledText(sentence(), number / COUNT) for number in range(COUNT)]
    make = partial(text_batch, tokenizer, max_length=16)
    model = BertForSequenceClassification(tiny(), num_labels=1)
    train(model, rows, make, 80)
    batch = make(rows)
    apart = (model(**inputs(batch))[:, 0] - batch["labels"]).abs()
    assert apart.max() < 0.5 / COUNT  # nearer to its own score than to any other


def test_the_words_of_sixteen_sentences_are_tagged(
    tokenizer: BertTokenizer, tiny: Config, strange_word: Callable[[], str]
) -> None:
    chooser = random.Random(3)
    rows = []
    for _ in range(COUNT):
        words = tuple(strange_word() for _ in range(8))
        rows.append(TaggedWords(words, tuple(chooser.choices([0, 1, 2, 3, -100], k=8))))
    make = partial(word_batch, tokenizer, max_length=40)
    model = BertForTokenClassification(tiny(), num_labels=4)
    train(model, rows, make, 80)
    batch = make(rows)
    assert (batch["labels"] >= 0).sum() > 60
    assert right(model(**inputs(batch)), batch["labels"]) == 1.0


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
        passage, question = " ".join(words), sentence(3)
        rows.append(Question(question, passage, None if nothing else answer, start))
    make = partial(question_batch, tokenizer, max_length=24, stride=8)
    model = BertForQuestionAnswering(tiny())
    train(model, rows, make, 120)
    batch = make(rows)
    start, end = model(**inputs(batch))
    assert len(start) > COUNT + 4  # long passages have several windows
    assert int((batch["start_positions"] == 0).sum()) > 4
    assert right(start, batch["start_positions"]) == 1.0
    assert right(end, batch["end_positions"]) == 1.0


def test_the_right_one_of_three_is_chosen_sixteen_times(
    tokenizer: BertTokenizer, tiny: Config, sentence: Sentence
) -> None:
    rows = [
        Choices(sentence(4), (sentence(2), sentence(3), sentence(2)), number % 3)
        for number in range(COUNT)
    ]
    make = partial(choice_batch, tokenizer, max_length=16)
    model = BertForMultipleChoice(tiny(), num_choices=3)
    train(model, rows, make, 80)
    batch = make(rows)
    assert right(model(**inputs(batch)), batch["labels"]) == 1.0


# -- pretraining's three classes, on the same trainer ----------------------------------------------


def pretraining_rows(tokenizer: BertTokenizer, sentence: Sentence) -> Batch:
    """Sixteen sentence pairs, half of them neighbours, with words hidden."""
    documents = [[sentence(4) for _ in range(5)] for _ in range(4)]
    pairs = sentence_pairs(documents, count=COUNT, seed=2)
    rows = [LabelledText(pair.first, pair.label, pair.second) for pair in pairs]
    batch = text_batch(tokenizer, rows, max_length=16)
    generator = torch.Generator().manual_seed(2)
    masked = mask_tokens(batch["input_ids"], tokenizer.vocab, generator=generator)
    batch["input_ids"], batch["masked_lm_labels"] = masked.input_ids, masked.labels
    batch["next_sentence_label"] = batch.pop("labels")
    return batch


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
    batch = pretraining_rows(tokenizer, sentence)

    def make(rows: Sequence[int]) -> Batch:
        names = [*inputs(batch), *labels]
        return Batch({name: batch[name][list(rows)] for name in names})

    model = model_class(tiny())
    train(model, range(COUNT), make, 100)
    answers = model(**inputs(batch))
    scores = answers if isinstance(answers, tuple) else (answers,)
    assert len(scores) == len(labels)
    for logits, name in zip(scores, labels, strict=True):
        assert right(logits, batch[name]) == 1.0


# -- killed and resumed ----------------------------------------------------------------------------

PASSAGE = "the old mill stands by the green river and the red boat is near the bridge"
RESUMED: dict[str, tuple[type[BertPreTrainedModel], list[Any], Callable[..., Batch]]] = {
    "texts": (
        BertForSequenceClassification,
        [LabelledText(PASSAGE[: 9 + n], n % 2, "a cat" if n % 3 else None) for n in range(5)],
        partial(text_batch, max_length=16),
    ),
    "words": (
        BertForTokenClassification,
        [TaggedWords(tuple(PASSAGE[n:].split()[:4]), (0, 1, 1, -100)) for n in range(5)],
        partial(word_batch, max_length=8),
    ),
    "questions": (
        BertForQuestionAnswering,
        [Question("where is it?", PASSAGE, "red boat" if n else None, 47) for n in range(5)],
        partial(question_batch, max_length=20, stride=5),
    ),
    "choices": (
        BertForMultipleChoice,
        [Choices(PASSAGE[:20], (PASSAGE[n : n + 9], "a dog"), n % 2) for n in range(5)],
        partial(choice_batch, max_length=16),
    ),
}


@pytest.mark.parametrize("kind", list(RESUMED))
def test_a_killed_training_ends_with_the_parameters_of_an_unharmed_one(
    kind: str, tokenizer: BertTokenizer, tiny: Config, tmp_path: Path
) -> None:
    model_class, rows, function = RESUMED[kind]

    def trainer() -> Trainer:
        model = model_class(tiny(hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1))
        batches = RowBatches(rows, lambda some: function(tokenizer, some), batch_size=2, seed=4)
        settings = TrainerSettings(Budget(steps=7), learning_rate=1e-3, warmup_steps=2)
        return Trainer(model, batches, settings, log=tmp_path / "log.jsonl")

    whole = trainer()
    reports = [whole.step() for _ in range(7)]

    killed = trainer()
    for _ in range(4):  # in the middle of the second round
        killed.step()
        if killed.steps_done == 3:
            killed.save(tmp_path / "state.pt")
    del killed  # its fourth step was never saved
    torch.rand(3)  # whatever happens in between

    resumed = trainer()
    resumed.resume(tmp_path / "state.pt")
    later = [resumed.step() for _ in range(4)]
    assert [report.loss for report in later] == [report.loss for report in reports[3:]]
    theirs = resumed.model.state_dict()
    for name, value in whole.model.state_dict().items():
        assert torch.equal(value, theirs[name]), name


def test_a_report_counts_what_was_cut_and_missed(tokenizer: BertTokenizer, tiny: Config) -> None:
    rows = [Question("the cat " * 20, PASSAGE, PASSAGE[:60], 0)]
    make = partial(question_batch, tokenizer, max_length=20, stride=5)
    trainer = Trainer(
        BertForQuestionAnswering(tiny()),
        RowBatches(rows, make, batch_size=2),
        TrainerSettings(Budget(steps=1)),
    )
    report = trainer.step()
    assert report.truncated == 2 * (40 - 6)
    assert report.missed == 2
