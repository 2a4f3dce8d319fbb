"""Next sentence: the softmax of the model's own logits, the right label, the right cut."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import BertForNextSentencePrediction as Reference

from app.engine.models import Engine
from app.features.next_sentence import view as view
from app.features.next_sentence.result import IS_NEXT, IS_RANDOM
from app.features.next_sentence.task import next_sentence
from app.records.results import Calibration
from app.words.format import signed
from app.words.notes import cut_note
from bert_core import BertForNextSentencePrediction
from bert_core.errors import InputError
from tests.drawings import elements, lengths
from tests.snippets import ran


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
    with pytest.raises(InputError, match=f"The {named} sentence has no piece"):
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
        assert (f"Of {side} pieces the {name} text lost the last {len(lost)}" in note) == bool(lost)


@pytest.mark.parametrize(
    ("logits", "says", "look"),
    [
        ((3.0, -1.0), "<strong>the second sentence follows the first</strong>", '"bx-answer"'),
        ((-1.0, 3.0), "<strong>the second sentence does not", "bx-answer bx-against"),
        ((0.2, 0.1), "<strong>undecided</strong>", "bx-answer bx-open"),
        ((0.1, 0.3), "does not follow the first” has only", "bx-answer bx-open"),
    ],
)
def test_the_verdict_says_what_the_model_answers_and_no_more(
    tiny_engine: Engine, logits: tuple[float, float], says: str, look: str
) -> None:
    odds = torch.softmax(torch.tensor(logits, dtype=torch.float64), dim=-1).tolist()
    result = next_sentence(tiny_engine, "the cat", "sat")
    turned = replace(result, logits=logits, probabilities=(odds[0], odds[1]))
    said = str(view.screen(turned, "tiny").answer).replace("\xa0", " ")
    assert says in said and look in said and "The model’s answer" in said
    assert view.percent(max(odds)) in said
    assert "✓" not in said and "✗" not in said


def test_each_piece_has_the_look_and_the_link_of_its_own_segment(tiny_engine: Engine) -> None:
    drawn = str(view.model_input(next_sentence(tiny_engine, "the cat", "sat.")))
    looks = re.findall(r'<li class="bx-seg(\d)( bx-special)?" data-at="0.(\d)"', drawn)
    assert [int(segment) for segment, _, _ in looks] == [0, 0, 0, 0, 1, 1, 1]
    assert [bool(added) for _, added, _ in looks] == [True, False, False, True, False, False, True]
    assert [int(at) for _, _, at in looks] == list(range(7))


@pytest.mark.parametrize("size", ["wide", "narrow"])
@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_each_bar_is_as_long_as_its_own_probability(
    tiny_engine: Engine, size: str, temperature: float
) -> None:
    result = replace(
        next_sentence(tiny_engine, "the cat", "sat"), calibration=Calibration(temperature)
    )
    drawn = view.scores(replace(result, probabilities=(0.8125, 0.1875)))
    drawing = getattr(drawn, size)
    yes, no = lengths(drawing, "bx-svg-mark", "bx-svg-bar")
    tracks = lengths(drawing, "bx-svg-track")
    assert [yes / tracks[0], no / tracks[1]] == pytest.approx([0.8125, 0.1875], abs=1e-4)
    values = elements(drawing, "text", "bx-svg-value")
    printed = [each.text.replace("\xa0", " ") for each in values]
    logits = [signed(each, 2) for each in result.logits]
    assert printed == [f"81.2 %, logit {logits[0]}", f"18.8 %, logit {logits[1]}"]
    assert drawn.table["temperature"].tolist() == [temperature] * 2


def test_what_the_model_cannot_read_is_said_first(tiny_engine: Engine) -> None:
    result = next_sentence(tiny_engine, "the cat Ωmega", "日本 sat")
    kept = "".join(map(str, view.screen(result).report().drawn()))
    assert kept.index("cannot read all of this") < kept.index("The model’s answer")
    assert "Ωmega" in kept


def test_the_snippet_computes_the_pages_numbers(tiny_engine: Engine, tiny_folder: Path) -> None:
    result = next_sentence(tiny_engine, 'the "cat" \\ sat', "on the 'mat'\n")
    printed = json.loads(ran(view.snippet(result, str(tiny_folder)))[1])
    assert printed == pytest.approx(list(result.probabilities), abs=1e-6)


def test_only_a_very_sure_answer_is_warned_about(tiny_engine: Engine) -> None:
    result = next_sentence(tiny_engine, "the cat", "sat")
    sure = replace(result, logits=(6.0, -6.0), probabilities=(0.99999, 0.00001))
    assert "Being sure is not being right" in str(view.oversure(sure))
    assert "&gt; 99.9\xa0%" in str(view.oversure(sure))
    assert str(view.oversure(replace(result, probabilities=(0.52, 0.48)))) == ""
