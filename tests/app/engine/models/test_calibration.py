"""Probabilities are softmax(logits / T) with the model's temperature, and nothing else changes."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from app.engine.models import Engine
from app.features.classification import view as classification_view
from app.features.classification.task import classification
from app.features.fill_mask import view as fill_mask_view
from app.features.fill_mask.task import fill_mask
from app.features.multiple_choice import view as choice_view
from app.features.multiple_choice.task import multiple_choice
from app.features.ner import view as ner_view
from app.features.ner.task import ner
from app.features.next_sentence import view as next_sentence_view
from app.features.next_sentence.task import next_sentence
from app.features.qa import view as qa_view
from app.features.qa.task import qa
from app.records.results import Calibration
from app.words.notes import calibrated
from app.words.screen import Screen
from bert_core import (
    BertForMaskedLM,
    BertForNextSentencePrediction,
    BertForQuestionAnswering,
    BertForTokenClassification,
)
from bert_core.config import HAS_ANSWER

ROOT = {"BertForMaskedLM": 1.7, "BertForNextSentencePrediction": 2.5}
HEADS = {
    "BertForQuestionAnswering": {"BertForQuestionAnswering": 3.0, HAS_ANSWER: 2.0},
    "BertForTokenClassification": {"BertForTokenClassification": 0.6},
    "BertForSequenceClassification": {"BertForSequenceClassification": 4.0},
    "BertForMultipleChoice": {"BertForMultipleChoice": 0.5},
}
FITTED = {"BertForMaskedLM": "masked <words>"}
PASSAGE = "The cat sat on the mat. The dog sat on the bank."


def change(path: Path, **more: object) -> None:
    """Add keys to a configuration."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **more}))


@pytest.fixture(scope="module")
def warm(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The tiny model with a temperature for every head."""
    folder = tmp_path_factory.mktemp("warm") / "warm"
    shutil.copytree(tiny_folder, folder)
    change(folder / "config.json", temperatures=ROOT, temperatures_fitted_on=FITTED)
    for name, temperatures in HEADS.items():
        change(folder / "heads" / name / "config.json", temperatures=temperatures)
    return Engine(str(folder))


def test_each_head_has_the_temperature_that_its_configuration_names(
    warm: Engine, tiny_engine: Engine
) -> None:
    assert warm.calibration(BertForMaskedLM) == Calibration(1.7, True, "masked <words>")
    assert warm.calibration(BertForNextSentencePrediction) == Calibration(2.5, True, "")
    assert warm.calibration(BertForQuestionAnswering) == Calibration(3.0, True, "")
    assert warm.calibration(BertForTokenClassification) == Calibration(0.6, True, "")
    assert tiny_engine.calibration(BertForMaskedLM) == Calibration(1.0, False, "")


def test_what_a_stranger_wrote_about_the_fitting_is_no_error(
    tiny_folder: Path, tmp_path: Path
) -> None:
    for number, told in enumerate(("text", ["list"], {"BertForMaskedLM": 3})):
        folder = tmp_path / str(number)
        shutil.copytree(tiny_folder, folder)
        change(folder / "config.json", temperatures=ROOT, temperatures_fitted_on=told)
        assert Engine(str(folder)).calibration(BertForMaskedLM) == Calibration(1.7, True, "")


def test_fill_mask_divides_scores_and_keeps_the_ranking(warm: Engine, tiny_engine: Engine) -> None:
    text = "the [MASK] sat"
    plain = fill_mask(tiny_engine, text, top_k=8, word="cat").slots[0]
    result = fill_mask(warm, text, top_k=8, word="cat")
    scores = warm.scores_at(warm.tokenizer.encode(text), [2])[0].double().numpy()
    shares = np.exp(scores / 1.7) / np.exp(scores / 1.7).sum()
    slot = result.slots[0]
    assert [c.probability for c in slot.candidates] == pytest.approx(
        [shares[c.id] for c in slot.candidates], rel=1e-4
    )
    assert [c.id for c in slot.candidates] == [c.id for c in plain.candidates]
    assert slot.named is not None and plain.named is not None
    assert slot.named.rank == plain.named.rank
    assert slot.named.probability == pytest.approx(shares[slot.named.id], rel=1e-4)
    assert slot.entropy == pytest.approx(-(shares * np.log2(shares)).sum(), rel=1e-4)
    assert slot.entropy > plain.entropy
    assert result.calibration.temperature == 1.7


def test_next_sentence_divides_its_two_logits(warm: Engine, tiny_engine: Engine) -> None:
    plain = next_sentence(tiny_engine, "the cat", "sat")
    result = next_sentence(warm, "the cat", "sat")
    assert result.logits == plain.logits
    odds = np.exp((result.logits[0] - result.logits[1]) / 2.5)
    assert result.probabilities[0] == pytest.approx(odds / (1 + odds))
    plain_odds = np.exp(plain.logits[0] - plain.logits[1])
    assert plain.probabilities[0] == pytest.approx(plain_odds / (1 + plain_odds))
    assert result.follows == plain.follows
    assert result.confidence < plain.confidence


def test_labels_and_choices_divide_their_logits(warm: Engine, tiny_engine: Engine) -> None:
    plain, result = (classification(engine, "the cat") for engine in (tiny_engine, warm))
    assert result.logits == plain.logits
    odds = np.exp((result.logits[0] - result.logits[1]) / 4)
    assert result.scores[0] / result.scores[1] == pytest.approx(odds)
    first, second = multiple_choice(warm, "the cat", ("sat on the mat", "a dog")).choices
    odds = np.exp((first.logit - second.logit) / 0.5)
    assert first.probability / second.probability == pytest.approx(odds)


def test_questions_divide_the_scores_of_spans_and_keep_them(
    warm: Engine, tiny_engine: Engine
) -> None:
    plain = qa(tiny_engine, PASSAGE, "who sat", longest=3, answers=20)
    result = qa(warm, PASSAGE, "who sat", longest=3, answers=20)
    assert [a.text for a in result.answers] == [a.text for a in plain.answers]
    assert result.best.score == plain.best.score
    assert result.null_score == plain.null_score
    for one, outer in ((plain, 1.0), (result, 2.0)):
        odds = np.exp((one.best.score - one.null_score) / outer)
        assert (1 - one.null_probability) / one.null_probability == pytest.approx(odds)
    for one, inner in ((plain, 1.0), (result, 3.0)):
        first, second = (answer.best for answer in one.answers[:2])
        ratio = np.exp((first.score - second.score) / inner)
        assert first.probability / second.probability == pytest.approx(ratio)
    assert result.words.start_probability.sum() + result.null_probability == pytest.approx(1.0)
    assert (result.calibration.temperature, result.has_answer.temperature) == (3.0, 2.0)


def test_a_configuration_with_one_temperature_means_it_for_both_steps(
    tiny_folder: Path, tmp_path: Path
) -> None:
    folder, name = tmp_path / "old", "BertForQuestionAnswering"
    shutil.copytree(tiny_folder, folder)
    change(
        folder / "heads" / name / "config.json",
        temperatures={name: 3.0},
        temperatures_fitted_on={name: "old rows"},
    )
    result = qa(Engine(str(folder)), PASSAGE, "who sat")
    assert result.calibration == result.has_answer == Calibration(3.0, True, "old rows")
    odds = np.exp(result.no_answer_score / 3.0)
    assert result.null_probability == pytest.approx(odds / (1 + odds))


def _drawn(screen: Screen) -> str:
    return "".join(map(str, screen.report().drawn()))


def test_names_divide_the_logits_of_every_piece(warm: Engine) -> None:
    result = ner(warm, "the cat sat on the mat")
    logits = warm.run(BertForTokenClassification, warm.tokenizer.encode(result.text)).logits
    assert logits is not None
    expected = torch.softmax(logits[0, 1:-1].double() / 0.6, dim=-1).numpy()
    np.testing.assert_allclose(result.pieces.probabilities, expected, rtol=1e-4)
    assert result.calibration.temperature == 0.6


def test_every_page_says_what_its_probabilities_are_worth(
    warm: Engine, tiny_engine: Engine
) -> None:
    def told(engine: Engine) -> list[str]:
        return [
            _drawn(next_sentence_view.screen(next_sentence(engine, "the cat", "sat"))),
            "".join(map(str, qa_view.explanation(qa(engine, PASSAGE, "who sat")))),
            str(ner_view.trust(ner(engine, "the cat sat"))),
            _drawn(classification_view.screen(classification(engine, "the cat sat"))),
            _drawn(choice_view.screen(multiple_choice(engine, "the cat", ("sat", "a dog")))),
            _drawn(fill_mask_view.screen(fill_mask(engine, "the [MASK] sat"))),
        ]

    for said, temperature in zip(told(warm), ("2.50", "3.00", "0.60", "4.00", "0.50", "1.70"),
                                 strict=True):  # fmt: skip
        assert f"a temperature of {temperature} " in said
    assert "(fitted on masked &lt;words&gt;)" in str(calibrated(warm.calibration(BertForMaskedLM)))
    assert all("Not calibrated" in said for said in told(tiny_engine))
