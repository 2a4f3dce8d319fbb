"""Patching: what is shown are the library's numbers."""

import json

import numpy as np
import pytest

from app.engine.models import Engine, open_engine
from app.faces.paper.json import as_json
from app.features.xray import view_patching
from app.features.xray.result import Patching, XrayResult
from app.features.xray.task import xray
from app.features.xray.task_patching import PRESETS, Preset, patching, xray_patching
from bert_core import BertForMaskedLM, BertForSequenceClassification
from bert_core.analysis import Patch, Target, patching_grid, run
from bert_core.errors import InputError
from bert_core.model.outputs import ModelOutputs
from tests.drawings import elements, words

TEXT, OTHER = "the cat sat on [MASK] mat", "the dog sat on [MASK] mat"
ANSWERS = "cat / dog"


@pytest.fixture
def result(tiny_engine: Engine) -> XrayResult:
    return xray(tiny_engine, TEXT)


@pytest.fixture
def patched(tiny_engine: Engine, result: XrayResult) -> Patching:
    return patching(tiny_engine, result, OTHER, answers=ANSWERS)


def runs(engine: Engine, *texts: str) -> list[ModelOutputs]:
    model = engine.model(BertForMaskedLM)
    return [run(model, engine.tokenizer.encode(text)) for text in texts]


def test_grids_are_the_library_s_in_both_directions(tiny_engine: Engine, patched: Patching) -> None:
    found = patched
    model, tokenizer = tiny_engine.model(BertForMaskedLM), tiny_engine.tokenizer
    vocabulary = tokenizer.vocab
    target = Target.token_difference(5, vocabulary["cat"], vocabulary["dog"])
    given = (model, tokenizer.encode(TEXT), tokenizer.encode(OTHER), target)
    for grid, place, direction in (
        (found.restored, "layer", "denoise"),
        (1 - found.lost, "layer", "noise"),
        (found.heads_restored, "head", "denoise"),
        (1 - found.heads_lost, "head", "noise"),
    ):
        expected = patching_grid(*given, place, direction=direction)
        np.testing.assert_allclose(grid, expected, atol=1e-4)
    clean, corrupt = runs(tiny_engine, TEXT, OTHER)
    for value, outputs in zip(found.values, (clean, corrupt), strict=True):
        logits = outputs.logits[0, 5]
        difference = logits[vocabulary["cat"]] - logits[vocabulary["dog"]]
        assert value == pytest.approx(difference.item(), abs=1e-4)
    assert found.changed == (2,) and found.answers == ("cat", "dog") and found.is_contrast


def test_the_last_layer_restores_all_at_the_asked_piece_and_nothing_elsewhere(
    patched: Patching,
) -> None:
    expected = np.zeros(8)
    expected[5] = 1
    np.testing.assert_allclose(patched.restored[-1], expected, atol=1e-4)
    np.testing.assert_allclose(patched.lost[-1], expected, atol=1e-4)


def test_a_patch_with_itself_changes_nothing(tiny_engine: Engine, result: XrayResult) -> None:
    model, text = tiny_engine.model(BertForMaskedLM), tiny_engine.tokenizer.encode(TEXT)
    whole = run(model, text)
    for site in ("layer", "attention", "feed_forward", "head"):
        same = run(model, text, interventions=[Patch(site, 1, None, text)])
        assert same.logits.equal(whole.logits)
    with pytest.raises(InputError, match="Both sentences are the same"):
        patching(tiny_engine, result, TEXT)


def test_sentences_that_cannot_be_patched_get_a_reason(
    tiny_engine: Engine, result: XrayResult
) -> None:
    for other, answers, says in (
        ("the dog sat", "", "The sentences have 8 and 5 pieces"),
        (OTHER, "cat", "Expected two different words"),
        (OTHER, "cat / cat", "Expected two different words"),
        (OTHER, "cat / playing", "not one piece"),
    ):
        with pytest.raises(InputError, match=says):
            patching(tiny_engine, result, other, answers=answers)


def test_other_questions_are_patched_too(tiny_engine: Engine) -> None:
    result = xray(tiny_engine, "the cat sat", ask="label")
    found = patching(tiny_engine, result, "the dog sat")
    model = tiny_engine.model(BertForSequenceClassification)
    texts = [tiny_engine.tokenizer.encode(text) for text in ("the cat sat", "the dog sat")]
    target = Target.classification(result.question.chosen)
    np.testing.assert_allclose(found.restored, patching_grid(model, *texts, target), atol=1e-4)
    assert not found.is_contrast


def test_progress_counts_both_directions_and_may_cancel(
    tiny_engine: Engine, result: XrayResult
) -> None:
    steps: list[tuple[int, int]] = []
    patching(tiny_engine, result, "a cat sat on [MASK] mat", answers=ANSWERS,
             progress=lambda *step: steps.append(step))  # fmt: skip
    assert steps == [(n, 8) for n in range(1, 9)]
    with pytest.raises(ZeroDivisionError):
        patching(tiny_engine, result, "the mat sat on [MASK] mat", answers=ANSWERS,
                 progress=lambda *_: 1 // 0)  # fmt: skip


@pytest.mark.parametrize("preset", PRESETS, ids=lambda each: each.name)
def test_the_sentences_of_a_preset_differ_in_one_piece_and_in_the_answer(preset: Preset) -> None:
    engine = open_engine()
    first, second = (engine.tokenizer.encode(text) for text in (preset.text, preset.other))
    pairs = list(zip(first.tokens, second.tokens, strict=True))
    assert sum(one != other for one, other in pairs) == 1 and "[UNK]" not in first.tokens
    place = first.tokens.index("[MASK]")
    scores = [engine.scores_at(each, [place])[0] for each in (first, second)]
    numbers = [engine.tokenizer.vocab[word] for word in preset.answers.split(" / ")]
    one, other = (float(each[numbers[0]] - each[numbers[1]]) for each in scores)
    assert one > 0 > other


# --- drawings, and other faces --------------------------------------------------------------------


def test_the_grids_print_what_they_show(patched: Patching) -> None:
    picture = view_patching.pieces_picture(patched)
    table = picture.table
    assert len(table) == patched.restored.size
    np.testing.assert_array_equal(table["restored"], patched.restored.reshape(-1))
    np.testing.assert_array_equal(table["lost"], patched.lost.reshape(-1))
    printed = [each.text.replace("−", "-") for each in elements(picture.wide, "text")]
    shown = [value for grid in (patched.restored, patched.lost) for value in grid.reshape(-1)
             if abs(value) >= 0.05]  # fmt: skip
    for value in shown:
        assert f"{100 * value:.0f}" in printed
    assert "cat/dog" in printed
    assert len(view_patching.heads_picture(patched).table) == 8
    strongest = np.unravel_index(patched.heads_lost.argmax(), (2, 4))
    best = np.unravel_index(patched.heads_restored.argmax(), (2, 4))
    says = words(view_patching.screen(patched).report().blocks[0])
    assert (
        f"With only head {strongest[1]} of layer {strongest[0]} from the second sentence, the "
        f"first one loses {100 * patched.heads_lost.max():.0f} % of the difference."
    ) in says
    assert (
        f"With only head {best[1]} of layer {best[0]} from the first sentence, the second one "
        f"gets back {100 * patched.heads_restored.max():.0f} % of the difference."
    ) in says


def test_patching_as_json_has_its_grids(tiny_engine: Engine) -> None:
    patched = xray_patching(tiny_engine, TEXT, OTHER, answers=ANSWERS)
    answer = json.loads(json.dumps(as_json(patched), allow_nan=False))
    assert len(answer["restored"]) == 2 and len(answer["heads_lost"][0]) == 4


def test_equal_first_guesses_are_followed_by_their_probability(
    tiny_engine: Engine, result: XrayResult
) -> None:
    model, vocabulary = tiny_engine.model(BertForMaskedLM), tiny_engine.tokenizer.vocab
    guesses = [int(each.logits[0, 5].argmax()) for each in runs(tiny_engine, TEXT, OTHER)]
    found = patching(tiny_engine, result, OTHER)
    assert found.is_contrast is (guesses[0] != guesses[1])
    if not found.is_contrast:
        texts = [tiny_engine.tokenizer.encode(text) for text in (TEXT, OTHER)]
        grid = patching_grid(model, *texts, Target.token(5, guesses[0]))
        np.testing.assert_allclose(found.restored, grid, atol=1e-3)
    assert found.answers[0] in vocabulary
