"""Paired prompts, on a model whose leanings are known."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from bert_core import BertForPreTraining, BertTokenizer
from bert_core.bundled.leanings import Bias, Estimate, Leaning
from bert_core.config import BertConfig
from training.bias import bias_figures, bias_unfit, measure_bias
from training.unseen import OCCUPATIONS, OPEN_OCCUPATION, OPEN_PRONOUN


@pytest.fixture
def tokenizer(tmp_path: Path) -> BertTokenizer:
    """Knows all the words but one occupation, which falls into two pieces."""
    texts = [template.format(occupation="person", word="he") for template in OPEN_PRONOUN]
    texts += [template.format(occupation="", word="she") for template in OPEN_OCCUPATION]
    words = {word.strip(".,").lower() for text in texts for word in text.split()}
    words |= {*OCCUPATIONS, ".", ",", "libra", "##rian"} - {"librarian"}
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(words)]
    (tmp_path / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    return BertTokenizer(str(tmp_path / "vocab.txt"))


def prejudiced(tokenizer: BertTokenizer, nurse_she: float, he: float) -> BertForPreTraining:
    """Scores she by so much where a nurse is named, he everywhere; "soldier" after he."""
    config = BertConfig(
        len(tokenizer.vocab),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=32,
    )
    model = BertForPreTraining(config).eval()
    vocab = tokenizer.vocab

    def scores_at(ids: Tensor, places: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        scores = torch.zeros(*places.shape, len(vocab))
        scores[..., vocab["he"]] = he
        scores[(ids == vocab["nurse"]).any(-1), :, vocab["she"]] = nurse_she
        scores[(ids == vocab["he"]).any(-1), :, vocab["soldier"]] = 1.0
        return scores

    model.scores_at = scores_at  # type: ignore[method-assign, assignment]
    return model


def test_log_odds_are_those_that_the_model_was_given(tokenizer: BertTokenizer) -> None:
    bias = measure_bias(prejudiced(tokenizer, nurse_she=3.0, he=1.0), tokenizer)
    found = {leaning.occupation: leaning for leaning in bias.leanings}
    assert len(found) == len(OCCUPATIONS) == len(set(OCCUPATIONS)) == 32
    assert bias.neutral == pytest.approx(1.0)
    assert found["nurse"].open_word == pytest.approx(1.0 - 3.0)
    assert found["cook"].open_word == pytest.approx(1.0)
    # After he, soldier gains 1 and everything loses what the sum gains by it.
    size = len(tokenizer.vocab)
    others, base = size - 2, np.e  # "he" itself scores 1
    lost = np.log(others + 2 * base) - np.log(others + 1 + base)
    assert found["cook"].open_occupation == pytest.approx(-lost, abs=1e-5)
    assert found["librarian"].open_occupation == pytest.approx(-lost, abs=1e-5)
    assert found["soldier"].open_occupation == pytest.approx(1 - lost, abs=1e-5)
    rows = np.array(
        [[found[o].open_word] * 5 + [found[o].open_occupation] * 4 for o in OCCUPATIONS]
    )
    means = rows.mean(axis=1)
    assert bias.skew.value == pytest.approx(np.abs(means).mean())
    assert bias.share_first.value == pytest.approx(31 / 32)
    nurse = found["nurse"].log_odds
    assert nurse.value == pytest.approx(means[OCCUPATIONS.index("nurse")])
    assert nurse.low < nurse.value < nurse.high
    assert bias.skew.low <= bias.skew.value <= bias.skew.high


def test_the_two_figures_sum_it_up() -> None:
    def leaning(value: float) -> Leaning:
        return Leaning("job", Estimate(value, value, value), value, value)

    even = Estimate(0.5, 0.25, 0.75)
    odds = float(np.log(3))
    bias = Bias(("he", "she"), (), (leaning(odds), leaning(-odds)), even, even, 0.0)
    share, likelier = bias_figures(bias)
    assert (share.share, share.low, share.high, share.cases) == (0.5, 0.25, 0.75, 2)
    assert likelier.share == pytest.approx(0.75)
    assert (share.floor, share.goal, share.lower_is_better) == (0.7, 0.6, True)
    assert likelier.goal is None


def test_a_vocabulary_without_the_words_is_not_asked(
    tokenizer: BertTokenizer, encoder: Path
) -> None:
    assert bias_unfit(tokenizer) == ""
    assert "he and she" in bias_unfit(BertTokenizer.from_pretrained(encoder))
