"""Famous lines, unseen short sentences and facts, measured on models with known answers."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bert_core.model.heads import BertForPreTraining
from bert_core.text.tokenizer import BertTokenizer
from training.famous import FAMOUS
from training.gaps import Gap
from training.short_evaluation import (
    famous_lines,
    mean_over_kinds,
    relation_hits,
    right_gaps,
    unseen_counts,
    unseen_words,
)
from training.start import start_model


@pytest.fixture
def the(encoder: Path, tokenizer: BertTokenizer) -> BertForPreTraining:
    """A model that always says "the"."""
    model = start_model(encoder).eval()
    with torch.no_grad():
        model.cls.predictions.bias[tokenizer.vocab["the"]] = 1e4
    return model


def test_a_famous_line_is_right_by_its_first_guess_or_one_of_five(
    the: BertForPreTraining, tokenizer: BertTokenizer
) -> None:
    first, five = famous_lines(the, tokenizer)
    assert first.cases == five.cases == len(FAMOUS) == 40
    assert first.share == 0.0 <= five.share
    assert (first.floor, first.goal, five.floor, five.goal) == (0.80, 0.95, 0.95, 1.0)
    gaps = [Gap("a [MASK]", frozenset({"b"})), Gap("c [MASK]", frozenset({"d", "e"}))]
    answers = [["x", "b"], ["d", "y"]]
    assert (right_gaps(gaps, answers, 1), right_gaps(gaps, answers, 2)) == (1, 2)


def test_a_wrong_guess_that_is_another_word_of_the_sentence_is_a_copy(
    the: BertForPreTraining, tokenizer: BertTokenizer
) -> None:
    vocab = tokenizer.vocab
    with_the = (vocab["the"], vocab["moon"], vocab["."])
    without = (vocab["moon"], vocab["river"], vocab["."])
    twice = (vocab["the"], vocab["the"], vocab["."])
    found = unseen_counts(the, tokenizer, [with_the, without, twice] * 2)
    assert found.cases == 6 and found.five >= found.first
    hidden_the = found.first - 2  # "the" hidden in both of `twice`, and maybe in `with_the`
    assert hidden_the in (0, 2) and found.copied == 2 - hidden_the
    assert found.copied_content == 0  # "the" is none


def test_copies_of_content_words_are_counted_by_themselves(
    the: BertForPreTraining, tokenizer: BertTokenizer
) -> None:
    vocab = tokenizer.vocab
    with torch.no_grad():
        the.cls.predictions.bias[vocab["moon"]] = 2e4
    river, moon, stop = vocab["river"], vocab["moon"], vocab["."]
    found = unseen_counts(the, tokenizer, [(river, moon, stop), (moon, moon, stop)])
    assert found.copied == found.copied_content == 2 - found.first


def test_unseen_sentences_are_the_same_that_training_leaves_out(
    the: BertForPreTraining, tokenizer: BertTokenizer, long_data: Path
) -> None:
    first, copies, content = unseen_words(the, tokenizer, long_data)
    assert first.cases == copies.cases == content.cases > 4
    assert content.share <= copies.share and content.lower_is_better
    assert copies.lower_is_better and (content.floor, content.goal) == (0.02, 0.01)
    assert 0 < first.low <= first.share <= first.high or first.share == 0


def test_facts_are_a_mean_over_their_kinds(
    the: BertForPreTraining, tokenizer: BertTokenizer
) -> None:
    right, wrong = ("See [MASK] moon.", frozenset({"the"})), ("A [MASK].", frozenset({"moon"}))
    facts = {"one": [right, right, wrong, wrong], "two": [right] * 8, "few": [right] * 2}
    hits = relation_hits(the, tokenizer, facts)
    assert set(hits) == {"one", "two"}  # too few are not measured
    assert hits["one"].tolist() == [[2, 2], [0, 2]]
    rows = [np.column_stack([np.full(len(h), n), h]) for n, h in enumerate(hits.values())]
    assert mean_over_kinds(np.concatenate(rows)) == pytest.approx((0.5 + 1.0) / 2)
