"""Entities, sentiment and multiple choice, counted on models whose answers are known."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from bert_core import (
    BertForMultipleChoice,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertTokenizer,
)
from bert_core.config import BertConfig
from bert_core.finetuning import Choices, TaggedWords
from training.judgements import choice_scores
from training.rows import TAGS
from training.task_evaluation import (
    choice_figures,
    entity_counts,
    entity_figures,
    sentiment_figures,
    sentiment_unfit,
    span_f1,
    tags_unfit,
)

AUNT, MOON = "B-PER", "B-LOC"


def tagger(encoder: Path, answers: dict[str, str], room: int = 512) -> BertForTokenClassification:
    """A model that gives a word its tag, whatever the other words, and O to all others."""
    tokenizer = BertTokenizer.from_pretrained(encoder)
    config = BertConfig(str(encoder / "config.json"))
    config.id2label = dict(enumerate(TAGS))
    config.max_position_embeddings = room
    model = BertForTokenClassification(config, len(TAGS)).eval()
    words = torch.zeros(config.vocab_size, dtype=torch.long)
    for word, tag in answers.items():
        words[tokenizer.convert_tokens_to_ids(tokenizer.tokenize(word))[0]] = TAGS.index(tag)
    run = model.run

    def answer(input_ids: Tensor, *more: Tensor, **options: object) -> object:
        outputs = run(input_ids, *more, **options)  # type: ignore[arg-type]
        assert outputs.logits is not None
        outputs.logits.copy_(torch.nn.functional.one_hot(words[input_ids], len(TAGS)))
        return outputs

    model.run = answer  # type: ignore[method-assign, assignment]
    return model


def row(*pairs: tuple[str, str]) -> TaggedWords:
    return TaggedWords(tuple(w for w, _ in pairs), tuple(TAGS.index(tag) for _, tag in pairs))


def test_spans_count_only_with_both_ends_and_the_kind_right(
    encoder: Path, tokenizer: BertTokenizer
) -> None:
    rows = [
        row(("aunt", "B-PER"), ("river", "I-PER"), ("the", "O"), ("moon", "B-LOC")),
        row(("aunt", "B-PER"), ("the", "O")),
        row(
            ("the", "O"),
        ),
        row(("moon", "B-MISC"), ("moon", "B-MISC")),
    ]
    # "river" is not found, so the first name ends too early; MISC is not scored, places are.
    model = tagger(encoder, {"aunt": AUNT, "moon": MOON})
    counts = entity_counts(model, tokenizer, rows)
    assert counts.tolist() == [[1, 2, 2], [1, 1, 1], [0, 0, 0], [0, 2, 0]]
    assert span_f1(counts) == pytest.approx(2 * 2 / (5 + 3))
    assert span_f1(np.zeros((2, 3))) == 1.0


def test_a_sentence_longer_than_an_input_is_still_one_sentence(
    encoder: Path, tokenizer: BertTokenizer
) -> None:
    names = row(*[("aunt", "B-PER"), ("the", "O")] * 20)
    model = tagger(encoder, {"aunt": AUNT}, room=16)
    assert entity_counts(model, tokenizer, [names, names]).tolist() == [[20, 20, 20]] * 2


def test_both_sources_are_measured_together_and_alone(
    encoder: Path, tokenizer: BertTokenizer, task_data: Path
) -> None:
    model = tagger(encoder, {"aunt": AUNT, "river": "I-PER"})  # all persons, no place
    figures = entity_figures(model, tokenizer, task_data)
    assert [(f.measured_on, f.cases, f.floor) for f in figures] == [
        ("ner/test", 24, 0.68),
        ("ewt-test alone", 12, None),
        ("pud alone", 12, None),
    ]
    assert all(f.share == pytest.approx(2 / 3) for f in figures)


def test_sentiment_is_counted_by_the_label_that_is_called_positive(
    encoder: Path, tokenizer: BertTokenizer, task_data: Path
) -> None:
    config = BertConfig(str(encoder / "config.json"))
    config.id2label = {0: "POSITIVE", 1: "NEGATIVE"}
    judge = BertForSequenceClassification(config, 2).eval()
    with torch.no_grad():
        judge.classifier.bias.copy_(torch.tensor([1e4, 0.0]))
    path = task_data / "sst2" / "test.tsv"
    path.write_text("sentence\tlabel\nit sees .\t1\nit draws .\t1\nit likes .\t0\n")
    figures = sentiment_figures(judge, tokenizer, task_data)
    assert [(f.cases, round(f.share, 3)) for f in figures] == [(3, 0.667), (3, 0.667)]
    assert sentiment_unfit(config) == ""
    config.id2label = {0: "1 star", 1: "2 stars"}
    assert "1 star, 2 stars" in sentiment_unfit(config)


def test_labels_without_persons_places_or_organisations_are_told() -> None:
    assert tags_unfit(BertConfig(9, id2label={0: "O", 1: "B-PER"}, num_labels=2)) == ""
    assert "PER, LOC, ORG" in tags_unfit(BertConfig(9, id2label={0: "NOUN"}, num_labels=1))


@pytest.fixture
def chooser(encoder: Path) -> BertForMultipleChoice:
    """Prefers the choice with the most tokens."""
    model = BertForMultipleChoice(BertConfig(str(encoder / "config.json"))).eval()
    run = model.run

    def answer(input_ids: Tensor, token_type_ids: Tensor, **options: object) -> object:
        outputs = run(input_ids, token_type_ids, **options)
        assert outputs.logits is not None
        outputs.logits.copy_(token_type_ids.sum(-1))
        return outputs

    model.run = answer  # type: ignore[method-assign, assignment]
    return model


def test_choices_are_counted_in_the_order_of_the_rows(
    chooser: BertForMultipleChoice, tokenizer: BertTokenizer
) -> None:
    long = " ".join(["the moon"] * 9)
    rows = [
        Choices("The cat sees", ("the moon", long), 1),
        Choices("A dog", ("a", long, "the moon"), 0),
        Choices(long, (long, "a"), 0),
        Choices("A dog", ("a", "the moon", "the"), 1),
    ]
    scores = choice_scores(chooser, tokenizer, rows)
    assert [len(row) for row in scores] == [2, 3, 2, 3]
    assert [int(row.argmax()) for row in scores] == [1, 1, 0, 1]
    assert choice_scores(chooser, tokenizer, rows[:1])[0] is scores[0]  # nothing is asked twice


def test_multiple_choice_stands_beside_chance(
    chooser: BertForMultipleChoice, tokenizer: BertTokenizer, tmp_path: Path
) -> None:
    folder = tmp_path / "mc"
    folder.mkdir()
    rows = [
        {"id": f"r{n}", "context": "A dog", "question": "", "choices": options, "label": 1}
        for n, options in enumerate(
            [["a", "the moon"], ["a", "the moon", "a", "a"], ["the cat", "a"]]
        )
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    for name in ("openstax", "copa"):
        (folder / f"{name}_test.jsonl").write_text(text, encoding="utf-8")
    [aimed] = choice_figures(chooser, tokenizer, tmp_path, "openstax")
    [reported] = choice_figures(chooser, tokenizer, tmp_path, "copa")
    assert (aimed.share, aimed.cases) == (pytest.approx(2 / 3), 3)
    assert aimed.chance == aimed.floor == pytest.approx((1 / 2 + 1 / 4 + 1 / 2) / 3)
    assert aimed.goal == pytest.approx((1 / 2 + 1 / 4 + 1 / 2) / 3 + 0.2)
    assert (reported.floor, reported.goal, reported.chance) == (None, None, aimed.chance)
