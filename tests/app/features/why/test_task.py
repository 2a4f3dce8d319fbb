"""The scores, sums and curves are those of the library, for the answer of each page."""

from pathlib import Path

import numpy as np
import pytest
import torch

from app.engine.models import Engine, open_engine
from app.faces.paper.json import as_json
from app.features.classification.task import classification
from app.features.fill_mask.task import fill_mask
from app.features.model_card.task import temperatures
from app.features.next_sentence.task import next_sentence
from app.features.why import view
from app.features.why.result import METHODS, Method, WhyResult
from app.features.why.task import why
from app.features.why.task_asked import HEADS
from app.features.xray.task import xray
from bert_core import BertForSequenceClassification
from bert_core.analysis import Target, attribute, by_word, faithfulness
from bert_core.errors import InputError
from tests.conftest import save_tiny

GIVEN = {
    "fill_mask": ("the cat [MASK] on the mat, dog", ""),
    "qa": ("the cat sat on the mat. playing dog", "the cat?"),
    "ner": ("the cat sat on the mat dog", ""),
    "next_sentence": ("the cat sat.", "a dog on the mat."),
    "classification": ("the cat sat on the playing mat", ""),
}


def of(engine: Engine, which: str, **more: object) -> WhyResult:
    text, pair = GIVEN[which]
    return why(engine, text, pair, of=which, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("which", GIVEN)
def test_scores_and_curves_are_the_librarys(
    tiny_engine: Engine, which: str, method: Method
) -> None:
    result = of(tiny_engine, which, method=method)
    model = tiny_engine.model(HEADS[which])  # type: ignore[index]
    target = eval(result.explained.code, {"Target": Target})  # noqa: S307
    found = attribute(model, result.encoding, target, method=method)
    words = by_word(found.scores, result.encoding)
    np.testing.assert_allclose(result.story.scores, [word.score for word in words], atol=1e-5)
    assert [word.text for word in result.words] == [word.text for word in words]
    alone, check = faithfulness(model, result.encoding, target, found.order), result.check
    assert check is not None and result.story.method == method
    np.testing.assert_allclose(check.shown.deletion, alone.deletion, atol=1e-5)
    np.testing.assert_allclose(check.shown.insertion, alone.insertion, atol=1e-5)
    chance = alone.random.comprehensiveness
    for curve, value in (
        (check.shown, alone.comprehensiveness), (check.low, chance.low), (check.high, chance.high)
    ):  # fmt: skip
        assert curve.comprehensiveness == pytest.approx(value, abs=1e-5)


def engine_of(folder: Path, **settings: object) -> Engine:
    """Save a tiny classifier of texts with these settings, and load it."""
    tiny = BertForSequenceClassification.from_pretrained(
        save_tiny(folder, BertForSequenceClassification)
    ).config
    torch.manual_seed(4)
    BertForSequenceClassification(tiny.changed(settings)).save_pretrained(folder)
    return Engine(str(folder))


@pytest.mark.parametrize(
    ("settings", "target", "answers", "pair"),
    [
        ({"id2label": {0: "joy", 1: "calm", 2: "awe"}, "problem_type": "regression"}, "awe", 3, ""),
        ({"id2label": {0: "stars"}}, "", 0, "a dog"),
    ],
)
def test_a_score_of_a_regression_is_explained_as_the_number_it_is(
    tmp_path: Path, settings: dict[str, object], target: str, answers: int, pair: str
) -> None:
    engine = engine_of(tmp_path, **settings)
    one = why(engine, "the cat sat", pair, of="classification", target=target)
    logits = classification(engine, "the cat sat", pair).scores
    assert one.explained.value == pytest.approx(logits[2 if target else 0], abs=1e-5)
    assert len(one.explained.others) == answers
    assert as_json(one)["explained"]["probability"] is None and one.check is None
    assert "%" not in view.screen(one).headline
    with pytest.raises(InputError, match="regression"):
        xray(engine, "the cat sat", text_pair=pair, ask="label")
    shown = [each.answers for each in temperatures(engine)]
    assert not shown


def test_labels_judged_by_themselves_are_no_choice_that_is_explained(tmp_path: Path) -> None:
    engine = engine_of(tmp_path, num_labels=3, problem_type="multi_label_classification")
    with pytest.raises(InputError, match="by itself"):
        why(engine, "the cat sat", of="classification")
    with pytest.raises(InputError, match="multi label classification"):
        xray(engine, "the cat sat", ask="label")


@pytest.mark.parametrize("which", GIVEN)
def test_the_scores_sum_to_what_all_words_change(tiny_engine: Engine, which: str) -> None:
    shapley, integrated = (
        of(tiny_engine, which, method=each, check=False)
        for each in ("shapley", "integrated_gradients")
    )
    change = shapley.explained.value - shapley.explained.empty
    assert sum(shapley.story.scores) == pytest.approx(change, abs=1e-5)
    missing = abs(sum(integrated.story.scores) - change)
    assert integrated.story.gap == pytest.approx(missing / abs(change), abs=1e-3)
    assert integrated.check is None


def test_the_first_guess_is_explained_and_another_word_on_request(tiny_engine: Engine) -> None:
    result = of(tiny_engine, "fill_mask", check=False)
    scores = tiny_engine.scores_at(result.encoding, [3])[0]
    best = tiny_engine.tokenizer.ids_to_tokens[int(scores.argmax())]
    assert (result.explained.answer, result.explained.own) == (best, True)
    assert result.explained.value == pytest.approx(float(scores.log_softmax(-1).max()), abs=1e-4)
    assert result.explained.probability == pytest.approx(float(scores.softmax(-1).max()), abs=1e-4)
    other = of(tiny_engine, "fill_mask", target="river", check=False).explained
    assert (other.answer, other.own, other.others[-1]) == ("river", best == "river", "river")
    place = result.explained.places[0]
    assert GIVEN["fill_mask"][0][place.start : place.end] == "[MASK]"


def test_the_calibrated_probability_is_the_one_on_the_answers_own_page() -> None:
    engine, text, pair = open_engine(), "The [MASK] was good.", "We liked it."
    word, label, verdict = (
        why(engine, text, pair if of == "next_sentence" else "", of=of, method="attention",
            check=False).explained.calibrated
        for of in ("fill_mask", "classification", "next_sentence")
    )  # fmt: skip
    assert word == pytest.approx(
        fill_mask(engine, text).slots[0].candidates[0].probability, abs=1e-5
    )
    assert label == pytest.approx(max(classification(engine, text).scores), abs=1e-5)
    assert verdict == pytest.approx(next_sentence(engine, text, pair).confidence, abs=1e-5)


def test_start_and_end_of_an_answer_are_apart(tiny_engine: Engine) -> None:
    start, end = (of(tiny_engine, "qa", target=each, check=False) for each in ("start", "end"))
    assert start.explained.answer == end.explained.answer
    assert start.story.scores != end.story.scores
    (place,) = start.explained.places
    assert place.sequence == 1
    assert GIVEN["qa"][0][place.start : place.end] == start.explained.answer


def test_both_verdicts_on_a_pair_have_opposite_scores(tiny_engine: Engine) -> None:
    yes, no = (
        of(tiny_engine, "next_sentence", target=each, check=False)
        for each in ("follows", "does not follow")
    )
    np.testing.assert_allclose(yes.story.scores, [-each for each in no.story.scores], atol=1e-5)
    assert yes.explained.probability == pytest.approx(1 - no.explained.probability)
    assert yes.explained.own is not no.explained.own


def test_each_name_and_each_label_can_be_explained(tiny_engine: Engine) -> None:
    first = of(tiny_engine, "ner", check=False)
    assert first.explained.answer == first.explained.named[0]
    for number, name in enumerate(first.explained.named, 1):
        assert of(tiny_engine, "ner", place=number, check=False).explained.answer == name
    labels = of(tiny_engine, "classification", check=False).explained.others
    assert labels == ("bad", "good", "odd")
    shares = [
        of(tiny_engine, "classification", target=label, check=False).explained.probability
        for label in labels
    ]
    assert sum(shares) == pytest.approx(1)


@pytest.mark.parametrize("which", ["fill_mask", "qa", "ner"])
def test_of_a_long_text_the_part_around_the_answer_is_read(tiny_engine: Engine, which: str) -> None:
    filler = "on the mat . " * 20
    text, pair = GIVEN[which]
    result = why(tiny_engine, filler + text + filler, pair, of=which, check=False)  # type: ignore[arg-type]
    assert result.part and result.cut is None
    assert len(result.encoding) <= tiny_engine.max_length
    place = result.explained.places[0]
    typed = result.encoding.text_pair if place.sequence else result.encoding.text
    shown = typed[place.start : place.end]
    assert shown in (result.explained.answer, "[MASK]", result.explained.answer.split(":")[0])
    assert 0 < result.explained.probability < 1


@pytest.mark.parametrize("which", ["next_sentence", "classification"])
def test_a_long_text_that_is_answered_as_a_whole_is_cut(tiny_engine: Engine, which: str) -> None:
    text, pair = GIVEN[which]
    result = why(tiny_engine, text * 20, pair, of=which, check=False)  # type: ignore[arg-type]
    assert result.cut is not None and result.cut.limit == tiny_engine.max_length


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"text": "no mask"}, "no \\[MASK\\]"),
        ({"text": ""}, "no \\[MASK\\]"),
        ({"text": "a [MASK]", "place": 2}, "Found place=2; the text has 1 mask,"),
        ({"text": "a [MASK]", "target": "catdog"}, "not one piece"),
        ({"text": "", "of": "ner"}, "no name"),
        ({"text": "cat", "of": "qa"}, "question has no text"),
        ({"text": "cat", "of": "qa", "text_pair": "cat", "target": "middle"}, "start, end"),
        ({"text": "cat", "of": "next_sentence"}, "second sentence has no piece"),
        ({"text": "", "of": "classification"}, "no piece"),
        ({"text": "cat", "of": "classification", "target": "great"}, "bad, good, odd"),
    ],
)
def test_what_cannot_be_explained_is_refused(
    tiny_engine: Engine, given: dict[str, object], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        why(tiny_engine, **given)  # type: ignore[arg-type]


def test_progress_goes_up_and_cancels(tiny_engine: Engine) -> None:
    told: list[tuple[int, int]] = []
    text = "the cat sat [MASK] the mat on the river bank . dog"
    why(tiny_engine, text, progress=lambda *each: told.append(each))
    assert len(told) > 2 and all(0 <= done <= total for done, total in told)

    class Cancelled(Exception):
        pass

    def cancel(*_: int) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        why(tiny_engine, text + " cat", progress=cancel)
    told.clear()
    why(tiny_engine, text, progress=lambda *each: told.append(each))
    assert told == []  # kept


def test_an_untrained_head_is_told(headless_folder, untrained_folder) -> None:  # type: ignore[no-untyped-def]
    engine = Engine(str(headless_folder))
    assert why(engine, "the [MASK]", check=False).untrained == ()
    pair = {"text": "cat", "text_pair": "dog", "of": "next_sentence", "check": False}
    assert "cls.seq_relationship.weight" in why(engine, **pair).untrained  # type: ignore[arg-type]
