"""Next sentence: the softmax of the model's own logits, the right label, the right cut."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import BertForNextSentencePrediction as Reference

from app.features.next_sentence import view as view
from app.features.next_sentence.result import IS_NEXT, IS_RANDOM
from app.features.next_sentence.task import next_sentence
from app.models import Engine
from app.words.notes import cut_note
from bert_core import BertForNextSentencePrediction
from bert_core.errors import InputError


def test_probabilities_are_the_softmax_of_the_models_logits(tiny_engine: Engine) -> None:
    result = next_sentence(tiny_engine, "the cat sat", "on the mat")
    encoding = tiny_engine.tokenizer.encode("the cat sat", "on the mat")
    logits = tiny_engine.run(BertForNextSentencePrediction, encoding).logits
    assert logits is not None
    assert result.logits == pytest.approx(logits[0].tolist(), abs=1e-6)
    odds = torch.exp(logits[0].double())
    assert result.probabilities == pytest.approx((odds / odds.sum()).tolist(), abs=1e-9)
    assert sum(result.probabilities) == pytest.approx(1.0)
    assert result.follows == bool(odds[IS_NEXT] >= odds[IS_RANDOM])
    assert result.margin == pytest.approx(float(logits[0, 0] - logits[0, 1]), abs=1e-6)


def test_label_0_means_next_as_in_the_reference(tiny_engine: Engine, tiny_folder: Path) -> None:
    reference = Reference.from_pretrained(tiny_folder).eval()
    encoding = tiny_engine.tokenizer.encode("the dog sat", "the river")
    inputs = {
        "input_ids": torch.tensor([encoding.input_ids]),
        "token_type_ids": torch.tensor([encoding.token_type_ids]),
    }
    with torch.no_grad():
        # In the reference, label 0 is "sequence B is a continuation of sequence A".
        losses = [reference(**inputs, labels=torch.tensor([label])).loss for label in (0, 1)]
        logits = reference(**inputs).logits[0]
    result = next_sentence(tiny_engine, "the dog sat", "the river")
    assert result.logits == pytest.approx(logits.tolist(), abs=1e-5)
    assert result.probabilities[IS_NEXT] == pytest.approx(float(torch.exp(-losses[0])), abs=1e-6)
    assert result.probabilities[IS_RANDOM] == pytest.approx(float(torch.exp(-losses[1])), abs=1e-6)


def test_the_input_is_shown_as_the_model_gets_it(tiny_engine: Engine) -> None:
    result = next_sentence(tiny_engine, "the cat", "sat.")
    assert result.encoding.tokens == ["[CLS]", "the", "cat", "[SEP]", "sat", ".", "[SEP]"]
    assert result.encoding.token_type_ids == [0, 0, 0, 0, 1, 1, 1]
    assert result.encoding.sequence_ids == [None, 0, 0, None, 1, 1, None]
    vocabulary = tiny_engine.tokenizer.vocab
    assert result.encoding.input_ids == [vocabulary[each] for each in result.encoding.tokens]


def test_the_order_of_the_sentences_matters(tiny_engine: Engine) -> None:
    one = next_sentence(tiny_engine, "the cat", "a river")
    other = next_sentence(tiny_engine, "a river", "the cat")
    assert one.logits != other.logits


@pytest.mark.parametrize(
    ("first", "second", "named"),
    [
        ("", "cat", "first"),
        ("cat", "", "second"),
        (" \n\t", "cat", "first"),
        ("a", "\x00", "second"),
    ],
)
def test_a_sentence_without_pieces_is_refused_by_name(
    tiny_engine: Engine, first: str, second: str, named: str
) -> None:
    with pytest.raises(InputError, match=f"The {named} sentence holds no piece"):
        next_sentence(tiny_engine, first, second)


@pytest.mark.parametrize(("first", "second"), [(40, 20), (20, 40), (60, 3), (2, 70), (30, 30)])
def test_longest_first_takes_exactly_the_pieces_it_says(
    tiny_engine: Engine, first: int, second: int
) -> None:
    a = [f"{'abcdefghij'[i % 10]}" for i in range(first)]
    b = [f"{'klmnopqrst'[i % 10]}" for i in range(second)]
    result = next_sentence(tiny_engine, " ".join(a), " ".join(b))
    room = tiny_engine.max_length - 3
    assert result.cut.found == first + second + 3
    assert result.cut.lengths == (first, second)
    assert sum(result.cut.kept) == room
    rows = list(zip(result.encoding.tokens, result.encoding.sequence_ids, strict=True))
    kept = [[token for token, of in rows if of == side] for side in (0, 1)]
    assert kept == [a[: result.cut.kept[0]], b[: result.cut.kept[1]]]
    assert result.cut.lost == (tuple(a[len(kept[0]) :]), tuple(b[len(kept[1]) :]))
    shorter = min(first, second)
    if shorter <= room // 2:
        assert shorter in result.cut.kept  # it never was the longer one, so it stays whole
    else:
        assert abs(result.cut.kept[0] - result.cut.kept[1]) <= 1
    note = str(cut_note(result.cut))
    assert f"{first + second + 3:,} tokens are too many" in note
    for name, side, lost in zip(("first", "second"), (first, second), result.cut.lost, strict=True):
        assert (f"The {name} text lost its last {len(lost)} of {side} pieces" in note) == bool(lost)


def test_a_short_pair_loses_nothing(tiny_engine: Engine) -> None:
    result = next_sentence(tiny_engine, "the cat", "sat")
    assert not result.cut.anything
    assert str(cut_note(result.cut)) == ""


@pytest.mark.parametrize(
    ("logits", "word", "meaning"),
    [
        ((3.0, -1.0), "Yes", "follows the first"),
        ((-1.0, 3.0), "No", "picked at random"),
        ((0.2, 0.1), "Undecided", "follows the first"),
        ((0.1, 0.3), "Undecided", "picked at random"),
    ],
)
def test_the_verdict_says_yes_no_or_undecided(
    tiny_engine: Engine, logits: tuple[float, float], word: str, meaning: str
) -> None:
    odds = torch.softmax(torch.tensor(logits, dtype=torch.float64), dim=-1).tolist()
    result = next_sentence(tiny_engine, "the cat", "sat")
    said = str(view.verdict(replace(result, logits=logits, probabilities=(odds[0], odds[1]))))
    assert f"<strong>{word}: </strong>" in said
    assert meaning in said
    assert view.percent(max(odds)) in said


@pytest.mark.parametrize(
    ("logits", "look"),
    [((3.0, -1.0), "bx-yes"), ((-1.0, 3.0), "bx-no"), ((0.2, 0.1), "bx-unsure")],
)
def test_the_verdict_has_the_look_of_what_it_says(
    tiny_engine: Engine, logits: tuple[float, float], look: str
) -> None:
    odds = torch.softmax(torch.tensor(logits, dtype=torch.float64), dim=-1).tolist()
    result = next_sentence(tiny_engine, "the cat", "sat")
    said = str(view.verdict(replace(result, logits=logits, probabilities=(odds[0], odds[1]))))
    assert f'class="bx-nsp-verdict {look}"' in said


def test_each_token_has_the_look_of_its_own_segment(tiny_engine: Engine) -> None:
    drawn = str(view.model_input(next_sentence(tiny_engine, "the cat", "sat.")))
    looks = re.findall(r'<li class="bx-seg(\d)( bx-special)?"', drawn)
    assert [int(segment) for segment, _ in looks] == [0, 0, 0, 0, 1, 1, 1]
    assert [bool(added) for _, added in looks] == [True, False, False, True, False, False, True]
    assert re.findall(r'bx-nsp-segment">(\d)<', drawn) == [segment for segment, _ in looks]


def test_bars_table_and_sentence_agree(tiny_engine: Engine) -> None:
    result = next_sentence(tiny_engine, "the cat", "sat")
    bars = str(view.score_bars(result))
    table = view.score_table(result)
    for label in (IS_NEXT, IS_RANDOM):
        assert view.percent(result.probabilities[label]) in bars
        assert view.percent(result.probabilities[label]) in view.describe_scores(result)
        assert table["probability"][label] == result.probabilities[label]
        assert table["logit"][label] == result.logits[label]
        assert table["meaning"][label] == view.MEANINGS[label]


def test_each_bar_is_as_long_as_its_own_probability(tiny_engine: Engine) -> None:
    result = next_sentence(tiny_engine, "the cat", "sat")
    drawn = str(view.score_bars(replace(result, probabilities=(0.8125, 0.1875))))
    bars = re.findall(r"label (\d).*?width:([\d.]+)%.*?<strong[^>]*>([\d.]+) %<", drawn)
    assert bars == [("0", "81.25", "81.2"), ("1", "18.75", "18.8")]


def test_nothing_of_the_visitors_becomes_markup(tiny_engine: Engine, nasty: str) -> None:
    result = next_sentence(tiny_engine, f"x {nasty}", f"y {nasty}")
    markup = str(view.model_input(result)) + str(cut_note(result.cut))
    assert "<script" not in markup and "<img" not in markup
    assert "\x00" not in markup and "\u202e" not in markup
    assert len(view.input_table(result)) == len(result.encoding.tokens)


def test_only_a_very_sure_answer_is_warned_about(tiny_engine: Engine) -> None:
    result = next_sentence(tiny_engine, "the cat", "sat")
    sure = replace(result, logits=(6.0, -6.0), probabilities=(0.99999, 0.00001))
    unsure = replace(result, logits=(0.1, 0.0), probabilities=(0.52, 0.48))
    assert "Very sure is not very right" in str(view.oversure(sure))
    assert "&gt; 99.9 %" in str(view.oversure(sure))
    assert str(view.oversure(unsure)) == ""
