"""Every evaluation, counted on models whose answers are known."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from bert_core import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertTokenizer,
)
from bert_core.config import BertConfig
from bert_core.errors import InputError, MissingFileError
from bert_core.finetuning import Choices, Question, TaggedWords
from bert_core.reading.tagging import TagScheme
from bert_core.reading.wordings import normalized
from training.evaluation import PARTS, measure
from training.evaluation_tasks import (
    articles_of,
    choice_figures,
    elsewhere,
    entity_counts,
    question_figures,
    span_f1,
)
from training.evaluation_words import (
    everyday_gaps,
    filled,
    masked_words,
    next_sentences,
)
from training.judgements import choices, word_labels
from training.rows import TAGS, questions
from training.start import start_model
from training.unseen import Gap, gaps


@pytest.fixture
def model(encoder: Path) -> BertForPreTraining:
    torch.manual_seed(0)
    return start_model(encoder).eval()


def test_a_model_that_always_says_one_word_is_right_as_often_as_the_word_occurs(
    model: BertForPreTraining, tokenizer: BertTokenizer, data: Path
) -> None:
    with torch.no_grad():
        model.cls.predictions.bias[tokenizer.vocab["the"]] = 1e4
    text = (data / "text" / "wikitext2-valid-test.txt").read_text(encoding="utf-8")
    first, five, hidden_first, hidden_five, error = masked_words(model, tokenizer, data)
    words = tokenizer.tokenize(text)
    assert first.share == pytest.approx(words.count("the") / len(words), abs=0.12)
    assert hidden_first.share == first.share  # it always says the same
    assert five.share >= first.share
    assert first.cases == five.cases == hidden_five.cases > 20
    assert error.task == "calibration error, masked word" and error.share > 0.5
    assert masked_words(model, tokenizer, data)[0] == first  # the same every time


def test_gaps_are_filled_alike_alone_and_together(
    model: BertForPreTraining, tokenizer: BertTokenizer, data: Path
) -> None:
    with torch.no_grad():
        model.cls.predictions.bias[tokenizer.vocab["the"]] = 1e4
    asked = [Gap("The cat sees [MASK] moon.", frozenset({good})) for good in ("the", "a", "THE")]
    assert filled(model, tokenizer, asked, 1).tolist() == [True, False, False]  # good is lower case
    together = filled(model, tokenizer, gaps(), 5)
    assert [bool(filled(model, tokenizer, [gap], 5)[0]) for gap in gaps()[::25]] == [
        bool(each) for each in together[::25]
    ]
    [figure] = everyday_gaps(model, tokenizer, data)
    assert (figure.cases, figure.share) == (100, together.mean())


def test_next_sentences_are_counted_by_kind(
    model: BertForPreTraining, tokenizer: BertTokenizer, data: Path
) -> None:
    with torch.no_grad():
        model.cls.seq_relationship.bias.copy_(torch.tensor([-1e4, 1e4]))
    figures = next_sentences(model, tokenizer, data)
    assert [(f.task, f.share, f.cases, f.floor) for f in figures] == [
        ("next sentence, random", 0.5, 6, 0.94),
        ("next sentence, swapped", 1.0, 6, 0.24),
        ("calibration error, next sentence", 0.5, 6, 0.04),
        ("calibration error, next sentence, random", 0.5, 6, None),
    ]


def reader(encoder: Path, word: str, none: float) -> BertForQuestionAnswering:
    """A model that starts and ends every answer at a word; "no answer" scores `none`."""
    tokenizer = BertTokenizer.from_pretrained(encoder)
    [piece] = tokenizer.convert_tokens_to_ids(tokenizer.tokenize(word))
    model = BertForQuestionAnswering(BertConfig(str(encoder / "config.json"))).eval()
    run = model.run

    def answer(input_ids: Tensor, types: Tensor, mask: Tensor, **options: object) -> object:
        outputs = run(input_ids, types, mask, **options)  # type: ignore[arg-type]
        logits = torch.where(input_ids == piece, 4.0, -1.0)
        logits[:, 0] = none / 2
        assert outputs.start_logits is not None and outputs.end_logits is not None
        outputs.start_logits.copy_(logits)
        outputs.end_logits.copy_(logits)
        return outputs

    model.run = answer  # type: ignore[method-assign, assignment]
    return model


def test_a_question_moves_to_the_next_passage_of_its_article_without_the_answer() -> None:
    contexts = [f"Passage {n} of one." for n in "abcde"] + [f"Passage {n} of two." for n in "fghij"]
    contexts[1] = "Passage b of one, with Ada."
    rows = [Question("Who?", context, None) for context in contexts]
    assert articles_of(rows) == [0] * 5 + [1] * 5
    moved = elsewhere([Question("Who?", "Ada wrote passage a of one.", "Ada"), *rows[1:]])
    assert moved[0] == Question("Who?", contexts[2], None)  # b names her
    last = elsewhere([*rows[:9], Question("Which?", contexts[9], "j", 8)])[9]
    assert last == Question("Which?", contexts[5], None)  # turns round within its own article
    assert elsewhere([*rows[:9], Question("Which?", contexts[9], "Passage")])[9] is None


def test_figures_on_made_up_passages_are_what_counting_gives(
    encoder: Path, tokenizer: BertTokenizer, task_data: Path
) -> None:
    rows = questions(task_data, ["eval_xquad_en"])
    word = rows[0].answer or ""
    model = reader(encoder, word, none=7.0)
    figures = question_figures(model, tokenizer, task_data)
    exact, overlap, answered, either = figures[:4]
    right = np.array([normalized(row.answer or "") == normalized(word) for row in rows])
    holds = np.array([word.lower() in tokenizer.tokenize(row.context) for row in rows])
    assert exact.cases == overlap.cases == len(rows)
    assert exact.share >= float((right & holds).mean()) > 0
    moved = [q for q in elsewhere(rows)[1::2] if q is not None]
    refused = [word.lower() not in tokenizer.tokenize(q.context) for q in moved]
    assert answered.cases == either.cases == len(rows[::2]) + len(moved)
    expected = (holds[::2].sum() + sum(refused)) / answered.cases
    assert answered.share == pytest.approx(expected)
    both, own, known, has = figures[4:]
    assert own.cases == known.cases == 20 and both.cases == has.cases > 20
    assert known.task.endswith("best span, knowing that there is an answer")
    assert [each.floor for each in (both, own, known, has)] == [0.04, 0.04, None, 0.04]
    assert "here at 1.00, and 1.00 for there being an answer;" in both.meaning


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


def tagged(text: str) -> TaggedWords:
    """Read words and tags like "Ada/B-PER"; words without a tag are O."""
    pairs = [pair.partition("/") for pair in text.split()]
    return TaggedWords(
        tuple(word for word, _, _ in pairs), tuple(TAGS.index(tag or "O") for _, _, tag in pairs)
    )


def test_spans_count_only_with_both_ends_and_the_kind_right(
    encoder: Path, tokenizer: BertTokenizer
) -> None:
    rows = [
        tagged("aunt/B-PER river/I-PER the moon/B-LOC"),
        tagged("aunt/B-PER the"),
        tagged("the"),
        tagged("moon/B-MISC moon/B-MISC"),
    ]
    # "river" is not found, so the first name ends too early; MISC is not scored, places are.
    model = tagger(encoder, {"aunt": "B-PER", "moon": "B-LOC"})
    counts = entity_counts(TagScheme.of(model.config), word_labels(model, tokenizer, rows))
    assert counts.tolist() == [[1, 2, 2], [1, 1, 1], [0, 0, 0], [0, 2, 0]]
    assert span_f1(counts) == pytest.approx(2 * 2 / (5 + 3))
    assert span_f1(np.zeros((2, 3))) == 1.0
    # A sentence longer than an input is still one sentence.
    short = tagger(encoder, {"aunt": "B-PER"}, room=16)
    read = word_labels(short, tokenizer, [tagged("aunt/B-PER the " * 20)] * 2)
    assert entity_counts(TagScheme(TAGS), read).tolist() == [[20, 20, 20]] * 2


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


def test_choices_are_judged_in_groups_of_as_many_and_stand_beside_chance(
    chooser: BertForMultipleChoice, tokenizer: BertTokenizer, tmp_path: Path
) -> None:
    long = " ".join(["the moon"] * 9)
    rows = [
        Choices("The cat sees", ("the moon", long), 1),
        Choices("A dog", ("a", long, "the moon"), 0),
        Choices(long, (long, "a"), 0),
        Choices("A dog", ("a", "the moon", "the"), 1),
    ]
    two, three = choices(chooser, tokenizer, rows)
    assert two.right.tolist() == [True, True] and three.right.tolist() == [False, True]
    (tmp_path / "mc").mkdir()
    options = [["a", "the moon"], ["a", "the moon", "a", "a"], ["the cat", "a"]]
    lines = [
        {"id": f"r{n}", "context": "A dog", "question": "", "choices": each, "label": 1}
        for n, each in enumerate(options)
    ]
    for name in ("nextsentence", "openstax"):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (tmp_path / "mc" / f"{name}_test.jsonl").write_text(text, encoding="utf-8")
    first, second, together, *apart = choice_figures(chooser, tokenizer, tmp_path)
    chance = pytest.approx((1 / 2 + 1 / 4 + 1 / 2) / 3)
    for figure in (first, second):
        assert (figure.share, figure.cases) == (pytest.approx(2 / 3), 3)
        assert figure.chance == figure.floor == chance
        assert figure.goal == pytest.approx((1 / 2 + 1 / 4 + 1 / 2) / 3 + 0.2)
    assert together.floor == 0.04 and [each.floor for each in apart] == [None, None]
    assert together.cases == 6


def test_heads_that_were_never_trained_are_left_out_and_said(
    encoder: Path, data: Path, tmp_path: Path
) -> None:
    words = BertForMaskedLM.from_pretrained(encoder)
    words.save_pretrained(tmp_path / "words")
    BertTokenizer.from_pretrained(encoder).save_pretrained(tmp_path / "words")
    said: list[str] = []
    measured = measure(tmp_path / "words", data, say=said.append)
    tasks = {figure.task for figure in measured.figures}
    assert {"masked word, first guess", "everyday gap, among first five"} <= tasks
    assert not any(task.startswith(("next sentence", "question", "sentiment")) for task in tasks)
    reasons = dict(line.split(": ", 1) for line in measured.missing)
    assert "BertForPreTraining" in reasons["next sentence"]
    assert "BertForTokenClassification" in reasons["named entities"]
    assert set(measured.missing) <= set(said)
    with_nothing = measure(encoder, data)
    assert with_nothing.figures == () and with_nothing.bias is None
    assert len(with_nothing.missing) == len(PARTS) + 1


def test_classes_of_another_meaning_are_not_scored(encoder: Path, task_data: Path) -> None:
    config = BertConfig(str(encoder / "config.json"))
    config.id2label = {0: "joy", 1: "anger", 2: "fear"}
    folder = encoder.parent / "feelings"
    BertForSequenceClassification(config, 3).save_pretrained(folder)
    BertTokenizer.from_pretrained(encoder).save_pretrained(folder)
    assert "sentiment: its classes are joy, anger, fear, not negative and positive" in (
        measure(folder, task_data).missing
    )


def test_a_device_or_a_folder_that_is_not_there_is_refused(
    encoder: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="no CUDA device"):
        measure(encoder, data, "cuda")
    with pytest.raises(MissingFileError, match="no evaluation files"):
        measure(encoder, tmp_path / "data-without")
