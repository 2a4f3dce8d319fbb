"""Joint fillings equal exhaustive search, and scores of pieces equal a token-by-token loop."""

import math
import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from bert_core import BertForMaskedLM, BertTokenizer
from bert_core.errors import InputError
from bert_core.reading.gaps import (
    Order,
    fill_gaps,
    fill_together,
    odd_word,
    score_pieces,
    scorer_of,
    shuffle_words,
)
from tests.bert_core.conftest import lift_weights

MASK, SMALL = 4, 7  # SMALL: a vocabulary so small that every filling can be computed


@pytest.fixture
def small(make_config: Callable[..., Any]) -> BertForMaskedLM:
    """A random model with a vocabulary of seven pieces."""
    torch.manual_seed(3)
    model = BertForMaskedLM(make_config(vocab_size=SMALL)).eval()
    lift_weights(model)
    return model


@pytest.fixture
def tokenizer(tmp_path: Path) -> BertTokenizer:
    path = tmp_path / "vocab.txt"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "cat", "sat", "##ing", "##s", ".", "a"]
    path.write_text("\n".join(pieces) + "\n", encoding="utf-8")
    return BertTokenizer(str(path))


@pytest.fixture
def model(make_config: Callable[..., Any], tokenizer: BertTokenizer) -> BertForMaskedLM:
    torch.manual_seed(5)
    model = BertForMaskedLM(make_config(vocab_size=len(tokenizer.vocab))).eval()
    lift_weights(model)
    return model


def log_probabilities(model: BertForMaskedLM, ids: list[int], temperature: float = 1.0) -> Tensor:
    """Return (T, V) of one whole forward pass of one text."""
    with torch.no_grad():
        return torch.log_softmax(model(torch.tensor([ids]))[0].double() / temperature, dim=-1)


def every_filling(
    model: BertForMaskedLM, ids: list[int], masks: list[int], order: Order
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield every filling with its probability, each computed on its own by the chain rule."""
    for pieces in product(range(model.config.vocab_size), repeat=len(masks)):
        row, total, left = list(ids), 0.0, dict(zip(masks, pieces, strict=True))
        while left:
            logs = log_probabilities(model, row)
            certain = {at: float((logs[at].exp() * logs[at]).sum()) for at in left}
            at = min(left) if order == "left" else max(left, key=lambda at: certain[at])
            row[at] = left.pop(at)
            total += float(logs[at, row[at]])
        yield pieces, total


@pytest.mark.parametrize(
    ("masks", "order"), [([2, 4], "left"), ([2, 4], "certain"), ([1, 2, 5], "left")]
)
def test_a_beam_over_the_whole_vocabulary_equals_exhaustive_search(
    small: BertForMaskedLM, masks: list[int], order: Order
) -> None:
    ids = [2, 5, 6, 1, 0, 5, 3]
    for at in masks:
        ids[at] = MASK
    expected = sorted(every_filling(small, ids, masks, order), key=lambda each: -each[1])
    width = SMALL ** (len(masks) - 1)
    found = fill_together(scorer_of(small), ids, masks, width=width, order=order)
    assert [each.ids for each in found] == [pieces for pieces, _ in expected[:width]]
    assert [each.log_probability for each in found] == pytest.approx(
        [total for _, total in expected[:width]], abs=1e-5
    )
    assert sum(math.exp(total) for _, total in expected) == pytest.approx(1, abs=1e-5)


def test_a_narrow_beam_misstates_no_score(small: BertForMaskedLM) -> None:
    ids, masks = [2, MASK, 5, MASK, MASK, 3], [1, 3, 4]
    truth = dict(every_filling(small, ids, masks, "left"))
    for filling in fill_together(scorer_of(small), ids, masks, width=2):
        assert filling.log_probability == pytest.approx(truth[filling.ids], abs=1e-5)
        assert filling.order == (0, 1, 2)


@pytest.mark.parametrize("order", ["left", "certain"])
def test_a_given_filling_has_the_score_of_the_search(small: BertForMaskedLM, order: Order) -> None:
    ids, masks = [2, MASK, 5, MASK, 3], [1, 3]
    for filling in fill_together(scorer_of(small), ids, masks, width=9, order=order):
        only = [torch.tensor([id_]) for id_ in filling.ids]
        (again,) = fill_together(scorer_of(small), ids, masks, width=1, order=order, allowed=only)
        assert (again.ids, again.order) == (filling.ids, filling.order)
        assert again.log_probabilities == pytest.approx(filling.log_probabilities, abs=1e-5)


def test_masks_that_are_not_asked_for_stay_hidden(small: BertForMaskedLM) -> None:
    ids = [2, MASK, 5, MASK, 3]
    expected = log_probabilities(small, ids, temperature=2.5)[3]
    found = fill_together(scorer_of(small), ids, [3], width=SMALL, temperature=2.5)
    assert [each.ids[0] for each in found] == expected.argsort(descending=True).tolist()
    assert [each.log_probability for each in found] == pytest.approx(
        expected.sort(descending=True).values.tolist(), abs=1e-5
    )


def test_what_is_not_allowed_is_left_out_and_the_rest_keeps_its_probability(
    small: BertForMaskedLM,
) -> None:
    ids = [2, MASK, MASK, 3]
    allowed = [torch.tensor([5, 6]), None]
    found = fill_together(scorer_of(small), ids, [1, 2], width=SMALL * 2, allowed=allowed)
    truth = dict(every_filling(small, ids, [1, 2], "left"))
    assert {each.ids for each in found} == {(a, b) for a in (5, 6) for b in range(SMALL)}
    for each in found:
        assert each.log_probability == pytest.approx(truth[each.ids], abs=1e-5)


def test_a_gap_takes_words_of_several_pieces(
    model: BertForMaskedLM, tokenizer: BertTokenizer
) -> None:
    ids, vocabulary = tokenizer.encode("a [MASK] a").input_ids, len(tokenizer.vocab)
    found = fill_gaps(
        scorer_of(model), tokenizer, ids, [2], most=2, width=vocabulary**2, temperature=1.5
    )
    starts, continues = ("cat", "sat", "a"), ("##ing", "##s")
    number = tokenizer.vocab
    one = {((id_,),) for id_ in number.values()}
    two = {((number[a], number[b]),) for a in starts for b in continues}
    assert {each.words for each in found} == one | two and len(found) == len(one) + len(two)
    assert [each.per_piece for each in found] == sorted(
        (each.per_piece for each in found), reverse=True
    )
    wide = [*ids[:3], MASK, *ids[3:]]
    first = log_probabilities(model, wide, 1.5)
    for each in found:
        if len(each.words[0]) == 2:
            a, b = each.words[0]
            then = log_probabilities(model, [*wide[:2], a, *wide[3:]], 1.5)
            expected = [float(first[2, a]), float(then[3, b])]
            assert each.log_probabilities == pytest.approx(expected, abs=1e-5)


def test_scores_of_pieces_equal_a_token_by_token_loop(
    model: BertForMaskedLM, tokenizer: BertTokenizer
) -> None:
    encoding = tokenizer.encode("a cats sating . cat a sat")
    places = list(range(1, len(encoding) - 1))
    found = score_pieces(scorer_of(model), tokenizer, encoding.input_ids, places, temperature=1.3)
    assert [each.position for each in found] == places
    for each in found:
        ids = list(encoding.input_ids)
        ids[each.position] = MASK
        row = log_probabilities(model, ids, 1.3)[each.position]
        assert each.id == encoding.input_ids[each.position]
        assert each.log_probability == pytest.approx(float(row[each.id]), abs=1e-5)
        assert each.rank == int((row > row[each.id]).sum()) + 1
        assert each.best == int(row.argmax())
        assert each.best_log_probability == pytest.approx(float(row.max()), abs=1e-5)


def test_the_rest_of_a_word_is_hidden_with_its_piece(
    model: BertForMaskedLM, tokenizer: BertTokenizer
) -> None:
    encoding = tokenizer.encode("a catings sat")
    assert encoding.tokens[2:5] == ["cat", "##ing", "##s"]
    found = score_pieces(
        scorer_of(model), tokenizer, encoding.input_ids, [2, 3], words=encoding.word_ids
    )
    for each in found:
        ids = [MASK if each.position <= n <= 4 else id_ for n, id_ in enumerate(encoding.input_ids)]
        row = log_probabilities(model, ids)[each.position]
        assert each.log_probability == pytest.approx(float(row[each.id]), abs=1e-5)


def test_the_odd_word_has_the_lowest_mean(model: BertForMaskedLM, tokenizer: BertTokenizer) -> None:
    encoding = tokenizer.encode("a cats sating . cat")
    scores = score_pieces(scorer_of(model), tokenizer, encoding.input_ids, range(1, 8))
    by_word: dict[int | None, list[float]] = {}
    for each in scores:
        by_word.setdefault(encoding.word_ids[each.position], []).append(each.log_probability)
    means = {word: sum(logs) / len(logs) for word, logs in by_word.items()}
    odd = odd_word(scores, encoding.word_ids)
    word = encoding.word_ids[odd[0].position]
    assert means[word] == min(means.values())
    assert [each.position for each in odd] == [
        n for n, of in enumerate(encoding.word_ids) if of == word
    ]


@pytest.mark.parametrize("masks", [[], [3, 1], [1, 1], [-1], [5]])
def test_positions_that_cannot_be_filled_are_refused(
    small: BertForMaskedLM, masks: list[int]
) -> None:
    with pytest.raises(InputError, match="position"):
        fill_together(scorer_of(small), [2, MASK, 5, MASK, 3], masks)


def test_shuffled_words_are_all_there_in_an_order_of_their_own() -> None:
    text = "We don’t hide हिन्दी, [MASK] the-end [MASK]!"
    orders = {shuffle_words(text, seed) for seed in range(1, 21)}
    assert shuffle_words(text, 0) == text and text not in orders and len(orders) > 10
    for found in orders:
        assert sorted(re.split("[ ,!]+", found)) == sorted(re.split("[ ,!]+", text))
        assert found.split()[4::2] == ["[MASK]", "[MASK]!"] and found.split()[3].endswith(",")
    assert shuffle_words("one <mask>, one.", 5, "<mask>") == "one <mask>, one."
    assert shuffle_words("b <mask> mask", 5, "<mask>") == "mask <mask> b"
