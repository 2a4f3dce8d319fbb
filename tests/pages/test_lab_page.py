"""Test the page "The lab" by driving it as a visitor would, with short runs of tiny models."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.faces.streamlit.features import lab as controls
from app.faces.streamlit.features import lab_distil as controls_distil
from app.faces.streamlit.features import lab_live as controls_live
from app.faces.streamlit.features import lab_watch as controls_watch
from app.features.lab import task, task_lab
from app.features.lab.result import State
from app.features.lab.result_settings import LabSettings
from app.features.lab.task_exercises import exercises
from app.features.lab.task_lab import Lab, Labs
from tests.conftest import NASTY
from tests.strangers import until

PAGE = "pages/16_lab.py"
SMALL = {"corpus": "facts", "layers": "1", "width": "32", "steps": "500", "predict": "false"}
ENDLESS = {**SMALL, "steps": "4000"}
RECORDED = {"lab-loss-recorded", "lab-accuracy-recorded"}
INSIDE = {"lab-loss", "lab-accuracy", "lab-attention", "lab-words"}


@pytest.fixture(autouse=True)
def own_labs(labs: Labs, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (controls, controls_distil, controls_live, task, task_lab):
        monkeypatch.setattr(module, "LABS", labs)


def address(page: Any) -> dict[str, str]:
    """Return the parameters of the page's address."""
    found = dict(page.at.query_params)
    return {key: value[0] if isinstance(value, list) else value for key, value in found.items()}


def started(page: Any, labs: Labs) -> Lab:
    """Press Start and wait for the first step."""
    page.click("Start")
    lab = labs._labs[page.at.session_state["_lab_key"]]
    until(lambda: lab.runs[0].step > 0 and lab.runs[0].points)
    page.run()
    return lab


def filled(page: Any) -> str:
    """The guesses for the gap that the visitor wrote."""
    return str(page.markup.partition('class="bx-lab-filled"')[2].partition("</ol>")[0])


def test_the_page_opens_with_a_model_that_knows_nothing(visit: Callable) -> None:
    page = visit(PAGE)
    assert page.warnings == page.errors == ""
    assert "not trained yet" in page.words and "step 0 of 2,000" in page.words
    assert set(page.pictures) == {"lab-loss", "lab-accuracy"}
    assert "norway is ✗" in page.words
    assert "Start" in page.labels and "Pause" not in page.labels


@pytest.mark.parametrize(
    ("given", "guess"), [({}, "pronoun by name"), ({"layers": "1"}, "about the same")]
)
def test_it_asks_before_it_shows(
    visit: Callable, labs: Labs, given: dict[str, str], guess: str
) -> None:
    page = visit(PAGE, **given)
    for press in ("Start", "Play a recorded run"):
        page.click(press)
        assert {guess, "Just watch"} <= set(page.labels)
        assert not labs.computing() and "not trained yet" in page.words


def test_a_run_is_started_paused_resumed_and_stopped(visit: Callable, labs: Labs) -> None:
    page = visit(PAGE, **ENDLESS)
    lab = started(page, labs)
    assert "● trains" in page.words
    assert set(page.pictures) == INSIDE
    assert address(page)["run"] == lab.key
    page.click("Pause")
    assert "paused" in page.words
    step = lab.runs[0].step
    page.click("Resume")
    until(lambda: lab.runs[0].step > step)
    page.run().click("Stop")
    until(lambda: not labs._working)
    assert "stopped" in page.run().words


def test_a_run_at_its_end_says_how_the_prediction_came_out_and_can_be_taken_along(
    visit: Callable, labs: Labs
) -> None:
    page = visit(PAGE, **SMALL)
    lab = started(page, labs)
    page.at.session_state["_lab_guess"] = "worse"
    assert "You predicted: worse." in page.run().words
    until(lambda: labs.ask(lab).state is State.DONE, 90)
    page.run()
    assert "✓ done" in page.words and "step 500 of 500" in page.words
    assert "You predicted: worse. This run" in page.words  # without the change, nothing is recorded
    assert any("PretrainingBatches" in code.value for code in page.at.code)
    newest = filled(page.run())
    page.choose("moment", 0)
    assert filled(page) != newest
    assert "step 0 of 500" in page.words
    assert 'class="bx-svg-here"' in page.pictures["lab-loss"]


def test_a_gap_of_ones_own_is_filled_by_the_model_just_trained(visit: Callable, labs: Labs) -> None:
    page = visit(PAGE, **ENDLESS)
    lab = started(page, labs)
    labs.pause(lab)
    for text in (
        "paris is the capital of [MASK] .",
        *(f"[MASK] {each}" for each in NASTY.values()),
    ):
        page.choose("gap", text)
        assert page.errors == page.warnings == ""
        assert "bx-lab-filled" in page.markup and "<script" not in page.markup
    assert "The text has no" in page.choose("gap", "no gap").warnings


def test_a_recorded_run_is_played_and_judged(
    visit: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controls_live, "EVERY", 1e-6)
    page = visit(PAGE, predict="false").click("Play a recorded run")
    page.at.session_state["_lab_guess"] = "facts"
    page.run()
    assert "◌ recorded" in page.words and "step 2,000 of 2,000" in page.words
    assert set(page.pictures) == INSIDE
    assert "✗ You predicted: facts. It was: pronoun by name." in page.words
    page = visit(PAGE, predict="false", mask_rate="80", beside="true")
    page.click("Play a recorded run").run()
    assert "hidden words: 15 % | hidden words: 80 %" in page.words
    assert page.pictures["lab-loss"].count("bx-lab-run1 bx-lab-held_out") == 4  # with the legend


def test_a_link_opens_a_moment_of_a_recorded_run(visit: Callable) -> None:
    page = visit(PAGE, predict="false", moment="316")
    assert page.at.select_slider(key="moment").value == 316
    assert "step 2,000 of" not in page.words and page.errors == page.warnings == ""
    page.choose("moment", 421)
    assert address(page)["moment"] == "421"
    page = visit(PAGE, predict="false", moment="317")
    assert page.at.select_slider(key="moment").value == 2_000
    assert any("moment=317" in each.value for each in page.at.caption)


def test_a_public_site_plays_recorded_runs_and_trains_nothing(
    visit: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_PUBLIC", "1")
    page = visit(PAGE)
    assert "Start" not in page.labels and "Play a recorded run" in page.labels
    assert "it plays recorded runs." in page.words and "There is none" not in page.words
    page = visit(PAGE, layers="4")
    assert "There is none with these settings" in page.words
    assert "Play a recorded run" not in page.labels
    monkeypatch.setenv("BERT_EXPLORER_LAB", "on")  # the host allows it
    assert "Start" in visit(PAGE).labels


def test_a_crowded_lab_shows_the_place_and_a_recorded_run_meanwhile(
    visit: Callable, labs: Labs, monkeypatch: pytest.MonkeyPatch
) -> None:
    labs.start(LabSettings(corpus="facts", width=32, layers=1, steps=4_000), owner="another")
    page = visit(PAGE, predict="false").click("Start")
    assert "waits for its turn: 1 run before yours" in page.words
    monkeypatch.setattr(controls_live, "EVERY", 1e-6)
    page.click("Play a recorded run").run()
    assert "1 run before yours" in page.words and "◌ recorded" in page.words
    assert labs.computing() == 2


def test_ones_own_text_stays_out_of_the_address_and_of_the_disk(
    visit: Callable, labs: Labs, tmp_path: Path
) -> None:
    page = visit(PAGE, corpus="own", steps="4000", layers="1", width="32", predict="false")
    assert "Paste nothing private" in page.words
    page.type("Too short.", key="own_text").click("Start")
    until(lambda: not labs._working)
    assert "expected at least 20" in page.run().words
    page.type("The cat sat here. A dog ran home. We saw the cat. " * 20, key="own_text")
    lab = started(page, labs)
    assert lab.private and set(page.pictures) == INSIDE
    assert "cat" not in json.dumps(address(page))
    labs.pause(lab)
    assert not (tmp_path / "lab").exists()


def test_the_address_names_the_settings_and_bad_ones_are_refused(visit: Callable) -> None:
    page = visit(PAGE, mask_rate="80")
    assert page.at.selectbox(key="_lab_what").value == 1
    assert "Little of each sentence" in page.words
    page = visit(PAGE, mask_rate="<u>")
    assert "expected one of 15, 30, 40, 80" in page.warnings and "<u>" not in page.markup
    assert page.at.selectbox(key="_lab_what").value == 0


def test_one_change_at_a_time_unless_several_are_wanted(visit: Callable) -> None:
    page = visit(PAGE)
    page.choose("_lab_set_layers", 4)
    page.choose("_lab_set_heads", 8)
    assert address(page) == {"heads": "8"}
    page.at.toggle(key="several").set_value(True)
    page.choose("_lab_set_layers", 4)
    assert address(page) == {"heads": "8", "layers": "4"}
    assert page.at.selectbox(key="_lab_what").value == -1
    page.choose("_lab_what", 1)
    assert address(page) == {"mask_rate": "80"}


def test_the_lab_of_another_visitor_can_be_watched_but_not_stopped(
    visit: Callable, labs: Labs
) -> None:
    lab = labs.start(LabSettings(corpus="facts", width=32, layers=1, steps=4_000), owner="another")
    until(lambda: lab.runs[0].points)
    page = visit(PAGE, run=lab.key)
    assert "● trains" in page.words
    assert not {"Pause", "Stop", "Resume"} & set(page.labels)
    assert visit(PAGE, run="../../etc").errors == ""


def test_rows_and_vocabulary_show_what_the_model_is_given(visit: Callable) -> None:
    page = visit(PAGE, tab="Rows", next_sentence="True")
    assert "(masked)" in page.words and "bx-lab-s1" in page.markup
    assert "follow" in page.words
    page = visit(PAGE, tab="Vocabulary", joins="0")
    assert "t·h·e" in page.words
    assert "t·h·e" not in page.choose("joins", 288).words


@pytest.mark.slow
def test_the_model_just_trained_teaches_one_of_half_its_layers(visit: Callable, labs: Labs) -> None:
    page = visit(PAGE, **{**SMALL, "layers": "2", "tab": "Distil"})
    assert "Press Start first" in page.words and "Distil" not in page.labels
    assert "The teacher helps." in page.words  # in the recording
    assert page.errors == "" and set(page.pictures) >= RECORDED
    teacher = started(page, labs).runs[0]
    page.click("Distil")
    lab = labs._labs[page.at.session_state["_lab_key"]]
    assert lab.runs[1].origin is teacher and teacher.points[-1].step == teacher.step
    assert address(page)["run"] == lab.key
    until(lambda: labs.ask(lab).state is State.DONE, 120)
    page.run()
    assert "✓ done student alone | student with its teacher" in page.words
    assert page.errors == page.warnings == ""
    assert "with the teacher" in page.words and "so far" not in page.words
    assert "Measured" not in page.words  # only the usual teacher was
    assert "teacher" in page.pictures["lab-loss"] and set(page.pictures) == INSIDE
    assert "step 0 of 500" in page.choose("moment", 0).words
    assert page.click("Distil").at.session_state["_lab_key"] != lab.key  # the same teacher again
    assert next(iter(labs._line)).runs[1].origin is teacher


@pytest.mark.parametrize(("layers", "says"), [("1", "has 1 layer,"), ("3", "has 3 layers")])
def test_a_model_that_cannot_be_halved_does_not_teach(
    visit: Callable, labs: Labs, layers: str, says: str
) -> None:
    page = visit(PAGE, **{**ENDLESS, "layers": layers, "tab": "Distil"})
    lab = started(page, labs)
    page.click("Distil")
    assert says in page.warnings and page.at.session_state["_lab_key"] == lab.key


def test_a_public_site_shows_a_recorded_distillation(
    visit: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_PUBLIC", "1")
    page = visit(PAGE, tab="Distil")
    assert "this is a recorded distillation" in page.words and "Distil" not in page.labels
    assert "The teacher helps." in page.words and "Press Start" not in page.words
    assert page.errors == "" and set(page.pictures) >= RECORDED
    assert not {"start", "read", "temperature"} & {each.key for each in page.at.button_group}


def test_a_run_whose_visitor_looked_elsewhere_goes_on_when_the_visitor_comes_back(
    visit: Callable, labs: Labs
) -> None:
    page = visit(PAGE, **ENDLESS)
    lab = started(page, labs)
    labs._patience = 0.0  # the page is left: it asks no more
    until(lambda: lab.state is State.STOPPED and not labs._working)
    labs._patience = 30.0
    step = lab.runs[0].step
    page.run()
    assert lab.state in {State.WAITING, State.RUNNING}
    until(lambda: lab.runs[0].step > step)
    page.click("Stop")  # what the visitor has stopped does not go on by itself
    until(lambda: not labs._working)
    assert page.run() and lab.state is State.STOPPED and not labs.computing()


def test_a_paused_run_is_trained_step_by_step(visit: Callable, labs: Labs) -> None:
    page = visit(PAGE, **ENDLESS)
    lab = started(page, labs)
    page.click("Pause")
    until(lambda: not labs._working)
    step = lab.runs[0].step
    for done in (1, 2):
        page.run().click("One step")
        assert lab.runs[0].step == lab.runs[0].points[-1].step == step + done
        assert f"step {step + done:,} of 4,000" in page.words
    assert lab.state is State.PAUSED


def test_what_is_measured_is_explained_before_a_prediction_is_asked(visit: Callable) -> None:
    page = visit(PAGE, layers="1")
    page.click("Play a recorded run")
    assert "What is measured, with an example of each" in page.words
    assert "___" in page.words and "agreement" in page.words


def test_an_exercise_shows_its_bands_after_a_guess_and_sets_up_a_run(visit: Callable) -> None:
    page = visit(PAGE, tab="Exercises")
    exercise = exercises()[0]
    assert exercise.ask in labels_of(page) and "lab-exercise" not in page.pictures
    assert next(each for each in page.at.button if each.label == "Check").disabled
    page.choose("_exercise_0", 1).click("Check")
    assert f"You: {exercise.options[1].say}." in page.words
    assert exercise.right is not None
    assert f"Three seeds of each: {exercise.options[exercise.right].say}." in page.words
    assert page.pictures["lab-exercise"].count("<circle") == 2 * 9  # on wide and narrow screens
    page.at.button(key="_setup_0_0").click()
    page.run()
    assert address(page) == {"tab": "exercises", "learning_rate": "0.03", "steps": "500",
                             "several": "true"}  # fmt: skip


def labels_of(page: Any) -> list[str]:
    return [each.label for each in page.at.radio]


def test_a_link_opens_the_run_of_another_without_what_steers_it(
    visit: Callable, labs: Labs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controls_watch, "LABS", labs)
    lab = labs.start(LabSettings(corpus="facts", layers=1, width=32, steps=4_000), owner="ada")
    labs.share(lab, "ada")
    until(lambda: lab.runs[0].step > 0 and lab.runs[0].points)
    page = visit(PAGE, watch=lab.share.key, predict="false")
    assert "You are watching a run that someone else started" in page.words
    assert address(page)["watch"] == lab.share.key and "run" not in address(page)
    assert not {"Pause", "Stop", "Start", "Watch together"} & set(page.labels)
    assert {"lab-loss", "lab-accuracy"} <= set(page.pictures)
    assert labs.ask(lab).state is State.RUNNING
    page.click("A lab of your own")
    assert "Start" in page.labels and "watch" not in address(page)


@pytest.mark.parametrize("key", ["no-such-key-anywhere", "<script>alert(7)</script>"])
def test_a_link_that_leads_nowhere_is_said_and_the_page_is_a_lab(visit: Callable, key: str) -> None:
    page = visit(PAGE, watch=key)
    assert "This link leads to no run" in page.warnings
    assert "Start" in page.labels and key not in page.markup
