"""The calibration error by hand, the temperature that is fitted, and where both go."""

import json
import math
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from bert_core.config import TEMPERATURES_FITTED_ON, BertConfig
from bert_core.errors import InputError
from bert_core.finetuning import Question, TaggedWords
from bert_core.model.heads import (
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.reading.tagging import TagScheme
from bert_core.text.tokenizer import BertTokenizer
from tests.conftest import save_head
from training import judgements
from training.calibration import (
    binned,
    calibrate,
    confidences,
    error_by_luck,
    error_interval,
    expected_calibration_error,
    fit_temperature,
    loss,
)
from training.evaluation_tasks import choice_figures
from training.fitting import HEADS
from training.judgements import SCORED, Judged
from training.rows import SENTIMENTS, TAGS, choices

# -- the measure -------------------------------------------------------------------------------


def error(confidence: list[float], right: list[int], bins: int = 15) -> float:
    return expected_calibration_error(np.array(confidence), np.array(right, dtype=np.bool_), bins)


def test_the_error_is_the_weighted_mean_distance_of_each_bin() -> None:
    # Bin 0.6-0.8: confidence 0.7, right 1/2. Bin 0.8-1: confidence 0.95, right 2/2.
    found = error([0.65, 0.75, 0.9, 1.0], [1, 0, 1, 1], bins=5)
    assert found == pytest.approx(2 / 4 * abs(0.7 - 0.5) + 2 / 4 * abs(0.95 - 1.0))


def test_within_a_bin_too_sure_and_too_shy_cancel_and_across_bins_they_do_not() -> None:
    assert error([0.55, 0.55], [1, 0], bins=2) == pytest.approx(0.05)
    assert error([0.9, 0.1], [0, 1], bins=2) == pytest.approx(0.9)
    assert error([0.9, 0.1], [0, 1], bins=1) == pytest.approx(0.0)


def test_a_bin_is_open_below_and_closed_above() -> None:
    # 1/3 is the upper end of the fifth of fifteen bins; with 0.3 it cancels, with 0.4 not.
    assert error([1 / 3, 0.3], [0, 1]) == pytest.approx(abs(1 / 3 + 0.3 - 1) / 2)
    assert error([1 / 3, 0.4], [0, 1]) == pytest.approx((1 / 3 + 0.6) / 2)
    assert error([0.0, 1.0], [0, 1]) == 0.0


def test_no_cases_have_no_error() -> None:
    with pytest.raises(InputError, match="no cases"):
        error([], [])


def test_true_probabilities_show_no_more_than_luck_makes() -> None:
    source = np.random.default_rng(1)
    confidence = source.uniform(0.3, 1.0, 600)
    luck = error_by_luck(confidence)
    right = source.random(600) < confidence
    assert 0.01 < luck < 0.06
    assert expected_calibration_error(confidence, right) == pytest.approx(luck, abs=0.02)
    assert error_by_luck(np.repeat(confidence, 50)) < luck / 4


def test_the_interval_holds_the_error_and_narrows_with_more_cases() -> None:
    source = np.random.default_rng(2)
    confidence = source.uniform(0.3, 1.0, 4000)
    right = source.random(4000) < confidence**2
    widths = []
    for count in (400, 4000):
        low, high = error_interval(confidence[:count], right[:count])
        found = expected_calibration_error(confidence[:count], right[:count])
        assert 0.0 <= low < found < high <= 1.0
        widths.append(high - low)
    assert widths[1] < widths[0] / 2


def test_cases_of_one_text_make_the_interval_wider() -> None:
    source = np.random.default_rng(2)
    texts = np.repeat(np.arange(60), 20)
    confidence = np.full(len(texts), 0.7)
    right = np.repeat(source.random(60) < 0.7, 20)  # a text is all right or all wrong
    alone, together = (error_interval(confidence, right, each) for each in (None, texts))
    assert together[1] - together[0] > 1.5 * (alone[1] - alone[0])
    own = np.arange(len(texts))
    assert error_interval(confidence, right, own) == alone


def test_bins_hold_all_cases_and_make_the_error() -> None:
    confidence = np.array([0.65, 0.64, 0.9, 1.0, 0.3])
    right = np.array([True, False, True, True, False])
    bins = binned(confidence, right)
    assert [each.cases for each in bins] == [1, 2, 1, 1]
    assert (bins[1].stated, bins[1].right) == (0.645, 0.5)
    error_ = sum(each.cases * abs(each.stated - each.right) for each in bins) / 5
    assert error_ == pytest.approx(expected_calibration_error(confidence, right))


# -- the fit -----------------------------------------------------------------------------------


def drawn(temperature: float, rows: int = 4000, columns: int = 5, seed: int = 3) -> Judged:
    """Rows whose right column is drawn from softmax(scores / temperature)."""
    source = np.random.default_rng(seed)
    scores = source.normal(scale=2.0, size=(rows, columns)).astype(np.float32)
    shares = np.exp(scores / temperature)
    shares /= shares.sum(axis=1, keepdims=True)
    wanted = (source.random((rows, 1)) > shares.cumsum(axis=1)).sum(axis=1).clip(max=columns - 1)
    return Judged(scores, wanted, scores.argmax(axis=1) == wanted)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 1.8])
@pytest.mark.parametrize("by_label", [True, False])
def test_the_temperature_that_made_the_answers_is_found(temperature: float, by_label: bool) -> None:
    judged = drawn(temperature)
    chunks = [  # the same rows, however they are divided
        replace(
            judged, scores=judged.scores[a:b], wanted=judged.wanted[a:b], right=judged.right[a:b]
        )
        for a, b in ((0, 10), (10, 10), (10, 4000))
    ]
    found = fit_temperature(chunks, by_label=by_label)
    assert found == pytest.approx(temperature, rel=0.06)
    assert found == fit_temperature([judged], by_label=by_label)
    stated = confidences(judged, found)
    assert expected_calibration_error(stated, judged.right) < 0.02


def test_the_loss_is_the_mean_negative_log_likelihood_or_the_squared_distance() -> None:
    judged = Judged(
        np.array([[2.0, 0.0], [0.0, 4.0], [1.0, 1.0]], dtype=np.float32),
        np.array([0, 0, -1]),
        np.array([True, False, False]),
    )
    first, second = 1 / (1 + math.exp(-1)), 1 / (1 + math.exp(2))  # at temperature 2
    by_label = -(math.log(first) + math.log(second)) / 2
    assert loss([judged], 2.0) == pytest.approx(by_label, rel=1e-5)
    by_best = ((1 - first) ** 2 + (1 - second) ** 2 + 0.5**2) / 3
    assert loss([judged], 2.0, by_label=False) == pytest.approx(by_best, rel=1e-5)


def test_what_says_the_same_is_added_up_and_what_no_answer_takes_is_taken_off() -> None:
    judged = Judged(
        np.array([[math.log(9), 0.0, math.log(4), -np.inf]], dtype=np.float32),
        np.array([0]),
        np.array([True]),
        alike=np.array([[True, False, True, False]]),
        margin=np.array([math.log(4)]),
    )
    assert confidences(judged, 1.0) == pytest.approx([13 / 14], rel=1e-5)
    assert confidences(judged, 2.0) == pytest.approx([5 / 6], rel=1e-5)  # 3 + 2 of 3 + 1 + 2
    assert confidences(judged, 1.0, has_answer=1.0) == pytest.approx([13 / 14 * 0.8], rel=1e-5)
    assert confidences(judged, 2.0, has_answer=2.0) == pytest.approx([5 / 6 * 2 / 3], rel=1e-5)
    sure = replace(judged, margin=None)
    assert confidences(sure, 2.0, has_answer=2.0) == pytest.approx([5 / 6], rel=1e-5)


@pytest.mark.parametrize("temperature", [0.12, 20.0])
def test_a_temperature_far_from_one_is_found_and_not_an_end_of_the_range(
    temperature: float,
) -> None:
    judged = drawn(1.0)
    scaled = replace(judged, scores=judged.scores * np.float32(temperature))
    assert fit_temperature([scaled]) == pytest.approx(temperature, rel=0.06)


@pytest.mark.parametrize(("right", "end"), [(0, "0.05"), (1, "50")])
def test_rows_that_have_no_best_temperature_are_refused(right: int, end: str) -> None:
    judged = drawn(1.0)
    wanted = (judged.scores.argmax(axis=1) + right) % 5
    rows = Judged(judged.scores, wanted, np.full(len(wanted), not right))
    with pytest.raises(InputError, match=rf"best temperature is {end}.*, an end of the range"):
        fit_temperature([rows])


def test_nothing_to_fit_on_is_said() -> None:
    with pytest.raises(InputError, match="no rows to fit"):
        fit_temperature([])


# -- judgements --------------------------------------------------------------------------------


@pytest.fixture
def bundle(encoder: Path, tmp_path: Path) -> Path:
    """A bundle with every head, as good as chance."""
    folder = tmp_path / "bundle"
    torch.manual_seed(1)
    base = BertForPreTraining(BertConfig.from_json_file(encoder / "config.json"))
    base.save_pretrained(folder)
    shutil.copy(encoder / "vocab.txt", folder)
    save_head(folder, BertForQuestionAnswering.from_model(base))
    save_head(folder, BertForMultipleChoice.from_model(base))
    for cls, labels in (
        (BertForTokenClassification, TAGS),
        (BertForSequenceClassification, SENTIMENTS),
    ):
        base.config.id2label = dict(enumerate(labels))
        save_head(folder, cls.from_model(base))
    return folder


@pytest.fixture
def fitting_data(task_data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder with files to fit on; every passage is held out."""
    monkeypatch.setattr("training.rows.held_out", lambda context: True)
    shutil.copy(task_data / "ner" / "by-source" / "pud.conll", task_data / "ner" / "dev.conll")
    shutil.copy(task_data / "sst2" / "test.tsv", task_data / "sst2" / "dev.tsv")
    return task_data


def all_of(chunks: Iterator[Judged]) -> tuple[list[int], list[bool], list[np.ndarray]]:  # type: ignore[type-arg]
    found = list(chunks)
    wanted = [int(number) for chunk in found for number in chunk.wanted]
    right = [bool(each) for chunk in found for each in chunk.right]
    return wanted, right, [row for chunk in found for row in chunk.scores]


def test_a_best_span_is_right_by_its_words_and_wrong_where_there_is_no_answer(
    bundle: Path,
) -> None:
    model = BertForQuestionAnswering.from_pretrained(bundle)
    tokenizer = BertTokenizer.from_pretrained(bundle)
    passage = "The cat sees the moon. A dog finds the moon."
    with torch.no_grad():
        model.qa_outputs.weight.zero_()
        model.qa_outputs.bias.zero_()  # all spans are alike: the first word is the best
    rows = [
        Question("Who?", passage, "The", 0),
        Question("Who?", passage, "cat", 4),
        Question("Who?", passage, None),
    ]
    read = judgements.read_questions(model, tokenizer, rows)
    wanted, right, scores = all_of(judgements.questions(rows, read))
    assert right[1:] == [False, False]
    assert wanted[2] == -1 and min(wanted[:2]) >= 0 and wanted[0] != wanted[1]
    assert all(scores[0][number] == 0 for number in wanted[:2])
    spans = np.isfinite(scores[0]).sum()
    first = next(judgements.questions(rows, read))
    # "The" alone says nothing, and so is alike where these characters are; both are zero to "no".
    assert first.margin is not None and first.margin.tolist() == [0.0] * 3
    assert confidences(first, 1.0) == pytest.approx([1 / spans] * 3, rel=1e-5)
    assert confidences(first, 1.0, has_answer=7.0) == pytest.approx([0.5 / spans] * 3, rel=1e-5)


def test_the_best_span_has_the_share_of_all_that_say_the_same(bundle: Path) -> None:
    model = BertForQuestionAnswering.from_pretrained(bundle)
    tokenizer = BertTokenizer.from_pretrained(bundle)
    with torch.no_grad():
        model.qa_outputs.weight.zero_()
        model.qa_outputs.bias.zero_()
    row = Question("Who?", "Cat, the cat.", "cat", 9)
    read = judgements.read_questions(model, tokenizer, [row])
    judged = next(judgements.questions([row], read))
    # Cat | Cat, | Cat, the | , the cat | the cat | cat | ... but not "Cat, the cat".
    assert judged.alike is not None
    said = int(judged.alike.sum())
    spans = int(np.isfinite(judged.scores).sum())
    assert 4 <= said < spans and judged.right.tolist() == [True]
    assert confidences(judged, 1.0) == pytest.approx([said / spans], rel=1e-5)


def test_whether_a_passage_answers_is_judged_by_its_best_span(bundle: Path) -> None:
    model = BertForQuestionAnswering.from_pretrained(bundle)
    tokenizer = BertTokenizer.from_pretrained(bundle)
    passage = "The cat sees the moon."
    rows = [Question("Who?", passage, "The cat", 0), Question("Why?", passage, None)]
    read = judgements.read_questions(model, tokenizer, rows)
    judged = judgements.has_answer(rows, read)
    spans = next(judgements.questions(rows, read))
    assert judged.wanted.tolist() == [1, 0]
    assert judged.scores[:, 1] == pytest.approx(spans.scores.max(axis=1))
    assert spans.margin == pytest.approx(judged.scores[:, 1] - judged.scores[:, 0], abs=1e-5)
    assert judged.right.tolist() == [spans.margin[0] > 0, spans.margin[1] <= 0]


def test_names_are_the_pieces_that_are_taken_for_one_of_the_scored_kinds(bundle: Path) -> None:
    model = BertForTokenClassification.from_pretrained(bundle)
    tokenizer, scheme = BertTokenizer.from_pretrained(bundle), TagScheme.of(model.config)
    row = TaggedWords(("My", "aunt", "likes", "."), (0, TAGS.index("B-PER"), 0, 0))
    for label, expected in (("B-PER", [False, True, False, False]), ("O", []), ("B-MISC", [])):
        with torch.no_grad():
            model.classifier.weight.zero_()
            model.classifier.bias.zero_()
            model.classifier.bias[TAGS.index(label)] = 3.0
        read = judgements.word_labels(model, tokenizer, [row])
        assert judgements.names(scheme, [row], read).right.tolist() == expected
    # The last label was one that a visitor sees.
    assert judgements.names(scheme, [row], read, (*SCORED, "MISC")).right.tolist() == [False] * 4


@pytest.mark.slow
def test_every_head_gets_a_temperature_in_its_own_configuration(
    bundle: Path, fitting_data: Path
) -> None:
    said: list[str] = []
    found = calibrate(bundle, fitting_data, say=said.append)
    # Random weights answer no question rightly, so no temperature is high enough for their spans.
    fitted = [head for head in HEADS if head.name != "BertForQuestionAnswering"]
    assert set(found) == {head.name for head in fitted}
    assert len(said) == len(HEADS)
    [refused] = [line for line in said if "no temperature was fitted" in line]
    assert refused.startswith("BertForQuestionAnswering: ") and "an end of the range" in refused
    root = BertConfig.from_json_file(bundle / "config.json")
    assert set(root.temperatures) == {"BertForMaskedLM", "BertForNextSentencePrediction"}
    for head in fitted:
        own = bundle / "heads" / head.name.partition(".")[0] / "config.json"
        config = BertConfig.from_json_file(own) if own.is_file() else root
        assert config.temperature(head.name) == found[head.name]
        assert config.extra[TEMPERATURES_FITTED_ON][head.name] == head.fitted_on
    assert BertForTokenClassification.from_pretrained(bundle).config.num_labels == len(TAGS)
    assert calibrate(bundle, fitting_data, say=said.append) == found  # again, and the same


def test_heads_that_were_not_trained_or_have_no_rows_get_none(bundle: Path, data: Path) -> None:
    shutil.rmtree(bundle / "heads")
    for path in (data / "text").glob("*.txt"):
        path.write_text("One sentence.\n", encoding="utf-8")
    said: list[str] = []
    assert set(calibrate(bundle, data, say=said.append)) == {"BertForMaskedLM"}
    assert any("BertForNextSentencePrediction: no temperature was fitted" in line for line in said)


def test_figures_tell_the_error_before_and_at_the_stored_temperature(
    bundle: Path, fitting_data: Path
) -> None:
    name = "BertForMultipleChoice"
    path = bundle / "heads" / name / "config.json"
    values = json.loads(path.read_text())
    path.write_text(json.dumps({**values, "temperatures": {name: 0.25}}))
    model = BertForMultipleChoice.from_pretrained(bundle)
    tokenizer = BertTokenizer.from_pretrained(bundle)
    figures = choice_figures(model, tokenizer, fitting_data)[2:]
    assert [figure.cases for figure in figures] == [80, 40, 40]
    for figure in figures:
        assert figure.lower_is_better and figure.low <= figure.share <= figure.high
        assert "here at 0.25; were every stated probability true" in figure.meaning
        assert sum(each.cases for each in figure.bins) == figure.cases
        assert f"Mean confidence {100 * (figure.stated or 0):.1f} %" in figure.meaning
    rows = choices(fitting_data, ["nextsentence_test"])
    judged = list(judgements.choices(model, tokenizer, rows))
    stated = np.concatenate([confidences(chunk, 0.25) for chunk in judged])
    right = np.concatenate([chunk.right for chunk in judged])
    assert figures[1].share == pytest.approx(expected_calibration_error(stated, right))


def test_words_of_a_block_share_their_text(bundle: Path) -> None:
    tokenizer = BertTokenizer.from_pretrained(bundle)
    model = BertForPreTraining.from_pretrained(bundle)
    blocks = [[2, *range(5, 25), 3]] * 11  # more than are read at once
    judged = list(judgements.masked_words(model, tokenizer, blocks, seed=1))
    block = np.concatenate([chunk.texts for chunk in judged])  # type: ignore[arg-type]
    assert np.bincount(block).tolist() == [3] * 11


def test_no_answer_is_fitted_on_as_many_questions_of_other_passages(
    bundle: Path, fitting_data: Path
) -> None:
    model = BertForQuestionAnswering.from_pretrained(bundle)
    tokenizer = BertTokenizer.from_pretrained(bundle)
    spans, whether = (head for head in HEADS if head.cls is BertForQuestionAnswering)
    asked = spans.fit(model, tokenizer, fitting_data)
    wanted, _, _ = all_of(whether.fit(model, tokenizer, fitting_data))
    assert sum(wanted) == sum(len(chunk.right) for chunk in asked) > 0
    assert 0 < wanted.count(0) <= wanted.count(1)
