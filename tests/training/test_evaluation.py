"""Evaluation of the heads of pretraining, and of whatever else a model brings."""

import json
from pathlib import Path

import pytest
import torch

from bert_core import BertForMaskedLM, BertForPreTraining, BertForSequenceClassification
from bert_core.config import BertConfig
from bert_core.errors import InputError, MissingFileError
from bert_core.text.tokenizer import BertTokenizer
from training import pretraining_evaluation
from training.aims import FIRST_FIVE, FIRST_GUESS, HIDDEN_FIRST
from training.evaluation import measure
from training.gaps import GAPS
from training.pretraining_evaluation import (
    everyday_gaps,
    fills,
    gap_words,
    masked_words,
    next_sentences,
)
from training.start import start_model


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
    first, five, hidden_first, hidden_five = masked_words(model, tokenizer, data)
    words = tokenizer.tokenize(text)
    assert first.share == pytest.approx(words.count("the") / len(words), abs=0.12)
    assert hidden_first.share == first.share  # it always says the same
    assert five.share >= first.share
    assert first.cases == five.cases == hidden_five.cases > 20


def test_the_interval_of_masked_words_resamples_blocks(
    model: BertForPreTraining,
    tokenizer: BertTokenizer,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of three blocks the words of one are all guessed: how many words there are says nothing."""
    blocks = [[tokenizer.cls_token_id, *[9] * 100, tokenizer.sep_token_id]] * 2
    blocks.append([tokenizer.cls_token_id, *[11] * 100, tokenizer.sep_token_id])
    monkeypatch.setattr(pretraining_evaluation, "running_text", lambda *given: blocks)
    with torch.no_grad():
        model.cls.predictions.bias[11] = 1e4
    first = masked_words(model, tokenizer, data)[0]
    assert (first.cases, first.share) == (45, pytest.approx(1 / 3))
    assert (first.low, first.high) == (0.0, 1.0)


def test_masked_words_are_the_same_every_time(
    model: BertForPreTraining, tokenizer: BertTokenizer, data: Path
) -> None:
    assert masked_words(model, tokenizer, data) == masked_words(model, tokenizer, data)


def test_next_sentences_are_counted_by_kind(
    model: BertForPreTraining, tokenizer: BertTokenizer, data: Path
) -> None:
    with torch.no_grad():
        model.cls.seq_relationship.bias.copy_(torch.tensor([-1e4, 1e4]))
    figures = next_sentences(model, tokenizer, data)
    assert [(f.task, f.share, f.cases, f.floor) for f in figures] == [
        ("next sentence, random", 0.5, 6, 0.94),
        ("next sentence, swapped", 1.0, 6, 0.24),
    ]


def test_gaps_are_filled_alike_alone_and_together(
    model: BertForPreTraining, tokenizer: BertTokenizer
) -> None:
    words = gap_words(model, tokenizer)
    assert len(words) == len(GAPS)
    for gap, five in list(zip(GAPS, words, strict=True))[::25]:
        assert len(set(five)) == 5
        assert gap_words(model, tokenizer, [gap]) == [five]
    figure = everyday_gaps(model, tokenizer)
    right = sum(fills(gap, five) for gap, five in zip(GAPS, words, strict=True))
    assert (figure.cases, figure.share) == (len(GAPS), right / len(GAPS))


def test_a_good_word_counts_whatever_its_capitals() -> None:
    good = next(iter(GAPS[0].good))
    assert fills(GAPS[0], ["a", good.upper()])
    assert not fills(GAPS[0], ["a", "b"])


def test_every_gap_has_one_mask_and_good_words() -> None:
    assert all(gap.sentence.count("[MASK]") == 1 for gap in GAPS)
    assert all(word == word.lower() for gap in GAPS for word in gap.good)
    assert len({gap.sentence for gap in GAPS}) == len(GAPS) == 100


def test_a_folder_without_evaluation_files_is_refused(encoder: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="no evaluation files"):
        measure(encoder, tmp_path / "data-without")


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
    assert with_nothing.figures == ()
    assert with_nothing.bias is None


def test_classes_of_another_meaning_are_not_scored(encoder: Path, task_data: Path) -> None:
    config = BertConfig(str(encoder / "config.json"))
    config.id2label = {0: "joy", 1: "anger", 2: "fear"}
    judge = BertForSequenceClassification(config, 3)
    folder = encoder.parent / "feelings"
    judge.save_pretrained(folder)
    BertTokenizer.from_pretrained(encoder).save_pretrained(folder)
    measured = measure(folder, task_data)
    assert "sentiment: its classes are joy, anger, fear, not negative and positive" in (
        measured.missing
    )


def test_goals_are_higher_where_a_card_did_the_training(
    model: BertForPreTraining, tokenizer: BertTokenizer, data: Path, tmp_path: Path
) -> None:
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    goals = []
    for device in ("cpu", "cuda"):
        stage = {"settings": {"device": device}, "steps": 1, "seconds": 1.0, "note": ""}
        (tmp_path / "training.json").write_text(json.dumps([stage]), encoding="utf-8")
        found = {figure.task: figure.goal for figure in measure(tmp_path, data).figures}
        goals.append([found[aim.task] for aim in (FIRST_GUESS, FIRST_FIVE, HIDDEN_FIRST)])
    assert goals == [[0.50, 0.68, 0.45], [0.55, 0.72, 0.45]]


def test_a_model_that_knows_capitals_is_measured_too(data: Path, tmp_path: Path) -> None:
    text = (data / "text" / "wikitext2-valid-test.txt").read_text(encoding="utf-8")
    words = {word.strip(".") for word in text.split()} | {".", "he", "she", "He", "She", "is"}
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(words)]
    (tmp_path / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    config = BertConfig(
        len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
    )
    BertForPreTraining(config).save_pretrained(tmp_path)
    cased = BertTokenizer(str(tmp_path / "vocab.txt"), do_lower_case=False)
    cased.save_pretrained(tmp_path)
    measured = measure(tmp_path, data)
    tasks = [figure.task for figure in measured.figures]
    assert tasks[:7] == [
        "famous line, first guess",
        "famous line, among first five",
        "masked word, first guess",
        "masked word, among first five",
        "masked word, all hidden, first guess",
        "masked word, all hidden, among first five",
        "everyday gap, among first five",
    ]
    assert measured.bias is not None
    assert measured.bias.words == ("he", "she")
    # short sentences, facts, four kinds of choices; questions, names and sentiment, own ones too
    assert len(measured.missing) == 12


def test_a_device_that_is_not_there_is_refused(
    encoder: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="no CUDA device"):
        measure(encoder, data, "cuda")
