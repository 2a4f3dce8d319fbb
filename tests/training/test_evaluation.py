"""Evaluation: figures, intervals and the table of the card."""

from pathlib import Path

import pytest
import torch

from bert_core.errors import InputError, MissingFileError
from bert_core.heads import BertForPreTraining
from bert_core.tokenizer import BertTokenizer
from training.evaluation import (
    Figure,
    evaluate,
    everyday_gaps,
    gap_words,
    masked_words,
    next_sentences,
    table,
    wilson,
)
from training.gaps import GAPS
from training.start import start_model


@pytest.fixture
def model(encoder: Path) -> BertForPreTraining:
    torch.manual_seed(0)
    return start_model(encoder).eval()


@pytest.fixture
def tokenizer(encoder: Path) -> BertTokenizer:
    return BertTokenizer.from_pretrained(encoder)


def test_a_model_that_always_says_one_word_is_right_as_often_as_the_word_occurs(
    model: BertForPreTraining, tokenizer: BertTokenizer, data: Path
) -> None:
    with torch.no_grad():
        model.cls.predictions.bias[tokenizer.vocab["the"]] = 1e4
    path = data / "text" / "wikitext2-valid-test.txt"
    first, five = masked_words(model, tokenizer, path)
    words = [w for s in path.read_text().split("\n") for w in tokenizer.tokenize(s)]
    assert first.share == pytest.approx(words.count("the") / len(words), abs=0.12)
    assert five.right >= first.right
    assert first.cases == five.cases > 20


def test_masked_words_are_the_same_every_time(
    model: BertForPreTraining, tokenizer: BertTokenizer, data: Path
) -> None:
    path = data / "text" / "wikitext2-valid-test.txt"
    assert masked_words(model, tokenizer, path) == masked_words(model, tokenizer, path)


def test_next_sentences_are_counted_by_kind(
    model: BertForPreTraining, tokenizer: BertTokenizer, data: Path
) -> None:
    with torch.no_grad():
        model.cls.seq_relationship.bias.copy_(torch.tensor([-1e4, 1e4]))
    figures = next_sentences(model, tokenizer, data / "nsp" / "eval_pairs.jsonl")
    assert [(f.task, f.right, f.cases) for f in figures] == [
        ("next sentence, random", 3, 6),
        ("next sentence, swapped", 6, 6),
    ]


def test_a_good_word_among_the_first_five_counts(
    model: BertForPreTraining, tokenizer: BertTokenizer
) -> None:
    words = gap_words(model, tokenizer)
    assert len(words) == len(GAPS)
    assert all(len(set(five)) == 5 for five in words)
    figure = everyday_gaps(model, tokenizer)
    assert figure.cases == len(GAPS)
    assert 0 <= figure.right <= figure.cases


def test_every_gap_has_one_mask_and_good_words() -> None:
    assert all(gap.sentence.count("[MASK]") == 1 for gap in GAPS)
    assert all(word == word.lower() for gap in GAPS for word in gap.good)
    assert len({gap.sentence for gap in GAPS}) == len(GAPS) == 100


def test_intervals_hold_the_share_and_shrink_with_the_cases() -> None:
    low, high = wilson(0, 10)
    assert low == 0.0
    assert 0.2 < high < 0.35
    assert wilson(10, 10)[1] == pytest.approx(1.0)
    narrow, wide = wilson(500, 1000), wilson(5, 10)
    assert wide[0] < narrow[0] < 0.5 < narrow[1] < wide[1]
    with pytest.raises(InputError, match="no cases"):
        wilson(0, 0)


def test_the_table_shows_cases_and_intervals() -> None:
    lines = table([Figure("a", "b", 1234, 2000)]).splitlines()
    assert lines[0].startswith("| task |")
    assert lines[2] == "| a | b | 2,000 | 61.7 % | 59.5–63.8 % |"


def test_a_folder_without_evaluation_files_is_refused(encoder: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="no evaluation files"):
        evaluate(encoder, tmp_path / "data-without")
