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
    expected_calibration_error,
    fit_temperature,
    loss,
)
from training.evaluation_tasks import choice_figures
from training.fitting import HEADS
from training.judgements import SCORED, Judged
from training.rows import SENTIMENTS, TAGS, choices


@pytest.mark.parametrize(
    ("confidence", "right", "bins", "expected"),
    [  # Bin 0.6-0.8: confidence 0.7, right 1/2. Bin 0.8-1: confidence 0.95, right 2/2.
        ([0.65, 0.75, 0.9, 1.0], [1, 0, 1, 1], 5, 2 / 4 * 0.2 + 2 / 4 * 0.05),
        ([0.55, 0.55], [1, 0], 2, 0.05),  # within a bin they cancel
        ([0.9, 0.1], [0, 1], 2, 0.9),  # across bins they do not
        ([0.9, 0.1], [0, 1], 1, 0.0),
        # 1/3 is the upper end of the fifth of fifteen bins; with 0.3 it cancels, with 0.4 not.
        ([1 / 3, 0.3], [0, 1], 15, (1 - 1 / 3 - 0.3) / 2),
        ([1 / 3, 0.4], [0, 1], 15, (1 / 3 + 0.6) / 2),
        ([0.0, 1.0], [0, 1], 15, 0.0),
    ],
)
def test_the_error_is_the_weighted_mean_distance_of_each_bin(
    confidence: list[float], right: list[int], bins: int, expected: float
) -> None:
    found = expected_calibration_error(np.array(confidence), np.array(right, dtype=np.bool_), bins)
    assert found == pytest.approx(expected)


def test_no_cases_have_no_error_and_no_temperature() -> None:
    with pytest.raises(InputError, match="no cases"):
        expected_calibration_error(np.zeros(0), np.zeros(0, dtype=np.bool_))
    with pytest.raises(InputError, match="no rows to fit"):
        fit_temperature([])


def test_true_probabilities_show_no_more_than_luck_makes() -> None:
    source = np.random.default_rng(1)
    confidence = source.uniform(0.3, 1.0, 600)
    luck = error_by_luck(confidence)
    right = source.random(600) < confidence
    assert 0.01 < luck < 0.06
    assert expected_calibration_error(confidence, right) == pytest.approx(luck, abs=0.02)
    assert error_by_luck(np.repeat(confidence, 50)) < luck / 4


def test_bins_hold_all_cases_and_make_the_error() -> None:
    confidence = np.array([0.65, 0.64, 0.9, 1.0, 0.3])
    right = np.array([True, False, True, True, False])
    bins = binned(confidence, right)
    assert [each.cases for each in bins] == [1, 2, 1, 1]
    assert (bins[1].stated, bins[1].right) == (0.645, 0.5)
    error_ = sum(each.cases * abs(each.stated - each.right) for each in bins) / 5
    assert error_ == pytest.approx(expected_calibration_error(confidence, right))


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


@pytest.mark.parametrize(("right", "end"), [(0, "0.05"), (1, "50")])
def test_rows_that_have_no_best_temperature_are_refused(right: int, end: str) -> None:
    judged = drawn(1.0)
    wanted = (judged.scores.argmax(axis=1) + right) % 5
    rows = Judged(judged.scores, wanted, np.full(len(wanted), not right))
    with pytest.raises(InputError, match=rf"best temperature is {end}.*, an end of the range"):
        fit_temperature([rows])


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
    whether = judgements.has_answer(rows, read)
    assert whether.wanted.tolist() == [1, 1, 0]
    assert whether.scores[:, 1] == pytest.approx(first.scores.max(axis=1))


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
