"""Two students of one teacher: same start, same batches, exact repetition, and what is recorded."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import mean

import pytest
import torch
from transformers import BertForPreTraining as Reference

from app.engine.compute.processor import PROCESSOR
from app.engine.models import Engine
from app.faces.paper.json import as_json
from app.features.lab import task, view_distil
from app.features.lab.result import State
from app.features.lab.result_distil import (
    CHANCE,
    SENTENCES,
    STARTS,
    TEMPERATURES,
    DistilResult,
    Ended,
    Recipe,
)
from app.features.lab.result_settings import LabSettings
from app.features.lab.task_distil import (
    compared,
    distilled,
    ended,
    lab_distil,
    recorded_distil,
    train_teacher,
)
from app.features.lab.task_distil_run import STEPS, Student, students
from app.features.lab.task_lab import Labs
from app.features.lab.task_run import Run
from app.features.lab.view_curves import losses
from app.features.lab.view_words import STUDENTS
from app.settings import ROOT
from bert_core import BertForPreTraining
from bert_core.errors import InputError
from tests.snippets import ran
from tests.strangers import until

TINY = LabSettings(corpus="facts", width=32, layers=2, steps=500)
EVERY = [Recipe(*each) for each in product(STARTS, SENTENCES, TEMPERATURES)]
TEXT = "The cat sat on the mat. A dog ran to the old house. We saw the cat near the river. " * 30


def taught(settings: LabSettings = TINY, steps: int = 3, text: str = "") -> Run:
    """Return a run that has been trained a little and looked at."""
    run = Run(settings, text)
    run.prepare()
    for _ in range(steps):
        PROCESSOR.run(lambda: run.advance(0), tokens=0, training=True)
    PROCESSOR.run(run.look, tokens=0)
    return run


def prepared(origin: Run, recipe: Recipe) -> tuple[Student, Student]:
    pair = students(origin, recipe)
    for each in pair:
        each.prepare()
    return pair


def trained(student: Student, steps: int) -> list[float]:
    trainer = student._ready[1].trainer
    return [trainer.step().loss for _ in range(steps)]


def usual() -> DistilResult:
    found = recorded_distil(LabSettings(), Recipe())
    assert found is not None
    return found


@pytest.mark.parametrize("start", STARTS)
def test_students_have_one_start_and_the_same_batches(start: str) -> None:
    origin = taught()
    one, other = prepared(origin, Recipe(start))
    assert one.settings == other.settings == replace(TINY, layers=1, sentences=200, steps=STEPS)
    weights = [dict(each._ready[1].model.named_parameters()) for each in (one, other)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    teacher = dict(origin._ready[1].model.named_parameters())
    first = "bert.encoder.layer.0.output.dense.weight"
    assert torch.equal(weights[0][first], teacher[first]) == (start == "layers")
    for step in (0, 7):
        rows = [each._ready[1].batches(step)[0].input_ids for each in (one, other)]
        assert torch.equal(*rows)
    before = {name: each.detach().clone() for name, each in teacher.items()}
    assert trained(one, 3) != trained(other, 3)
    assert all(torch.equal(before[name], each) for name, each in teacher.items())


@pytest.mark.parametrize(
    ("settings", "recipe", "teaches"),
    [
        (TINY, Recipe(), True),
        (TINY, Recipe("random", 20_000), False),
        (replace(TINY, layers=4, shared=True, positions=False, next_sentence=True, seed=3),
         Recipe("layers", 200, 4), True),
    ],
)  # fmt: skip
def test_the_python_lines_repeat_teacher_and_student(
    settings: LabSettings,
    recipe: Recipe,
    teaches: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    student = prepared(taught(settings, 4), recipe)[teaches]
    found = trained(student, 6)
    monkeypatch.chdir(tmp_path)
    for name in ("corpus.txt", "train.py"):
        (tmp_path / name).write_bytes(student.files()[name])
    script = student.python()
    assert "while trainer.steps_done < 4:" in script
    assert ("distilled_loss(model" in script) == teaches
    script = script.replace("while not trainer.done:", "for _ in range(6):")
    _, printed = ran(script)
    # But for the last digit: on some processors a sum depends on where its numbers lie.
    losses = [float(line) for line in printed.splitlines()]
    assert losses == pytest.approx(found, rel=1e-6)


def test_a_student_is_a_folder_that_python_and_transformers_open(tmp_path: Path) -> None:
    _, student = prepared(taught(), Recipe())
    trained(student, 5)
    for name, content in student.files().items():
        (tmp_path / name).write_bytes(content)
    assert BertForPreTraining.from_pretrained(tmp_path).config.num_hidden_layers == 1
    reference = Reference.from_pretrained(tmp_path).eval()
    ids = torch.tensor([student.tokenizer.encode("france is a country .").input_ids])
    with torch.inference_mode():
        torch.testing.assert_close(
            student.model_at().eval()(ids)[0], reference(ids).prediction_logits,
            atol=1e-5, rtol=1e-5,
        )  # fmt: skip


def test_what_cannot_teach_is_refused_with_the_reason() -> None:
    with pytest.raises(InputError, match="has 1 layer, and a student has half"):
        students(taught(replace(TINY, layers=1)), Recipe())
    broken = taught()
    broken.diverged = "After step 3, the loss is nan."
    with pytest.raises(InputError, match=r"cannot teach\. After step 3"):
        students(broken, Recipe())
    for wrong, says in (
        (("half",), "start is 'half'; expected one of layers, random"),
        (("layers", 300), "sentences is '300'; expected one of 200, 20000"),
        (("layers", 200, 3), "temperature is '3'; expected one of 1, 2, 4"),
    ):
        with pytest.raises(InputError, match=says):
            Recipe(*wrong)


@pytest.mark.slow
def test_students_keep_the_rules_of_the_lab(labs: Labs, tmp_path: Path) -> None:
    lab = labs.teach(students(taught(), Recipe()), owner="ada")
    with pytest.raises(InputError, match="run already"):
        labs.teach(students(taught(), Recipe()), owner="ada")
    until(lambda: labs.ask(lab).state is State.DONE, 60)
    assert labs.find(lab.key) is lab
    assert [run.step for run in lab.runs] == [STEPS, STEPS]
    assert [len(run.states) for run in lab.runs] == [20, 20]  # to look back to
    assert not (tmp_path / "lab").exists()
    name = labs.open_elsewhere(lab, 1)
    assert name.startswith("student-") and (tmp_path / "lab/models" / name).is_dir()


def test_students_of_a_model_of_ones_own_text_are_private_too(labs: Labs) -> None:
    origin = taught(replace(TINY, corpus="own"), text=TEXT)
    lab = labs.teach(students(origin, Recipe()), owner="ada")
    assert labs.find(lab.key, "ada") is lab and labs.find(lab.key, "bob") is None
    with pytest.raises(InputError, match="Download it"):
        labs.open_elsewhere(lab)


# -- what is recorded ------------------------------------------------------------------------------


def test_every_recipe_was_measured_with_three_seeds() -> None:
    for recipe in EVERY:
        assert [each.seed for each in ended(recipe)] == [0, 1, 2]


def test_the_verdict_on_the_usual_recipe_holds_for_every_seed_and_is_not_chance() -> None:
    found = ended(Recipe())
    assert min(each.gain for each in found) > 2 * CHANCE
    assert all(each.teacher < each.taught < each.alone for each in found)
    assert usual().ended == found[0]


def test_students_of_other_seeds_differ_by_less_than_what_counts_as_a_difference() -> None:
    for recipe in EVERY:
        for name in ("alone", "taught"):
            found = [getattr(each, name) for each in ended(recipe)]
            assert max(abs(each - mean(found)) for each in found) < CHANCE


def test_page_and_guide_say_that_the_teacher_is_worth_little_where_students_read_all() -> None:
    all_read, few = ended(Recipe(sentences=20_000)), ended(Recipe())
    worth = f"{mean(each.gain for each in all_read):.2f}"
    assert f"read all, the mean difference is {worth}." in str(view_distil.measured(usual()))
    guide = " ".join((ROOT / "docs/guide.md").read_text(encoding="utf-8").split())
    taught, alone = (mean(getattr(each, name) for each in few) for name in ("taught", "alone"))
    gains = [each.gain for each in few]
    assert (
        f"a mean loss of {taught:.2f} with the teacher and {alone:.2f} alone: a difference of "
        f"{mean(gains):.2f}, with each seed between {min(gains):.2f} and {max(gains):.2f}."
    ) in guide
    assert f"the difference is {worth}, which is too little" in guide and float(worth) < CHANCE
    assert f"The teacher itself has {mean(each.teacher for each in few):.2f}." in guide
    random = [each.gain for each in ended(Recipe("random"))]
    assert f"{mean(random):.2f} ({min(random):.2f} to {max(random):.2f})" in guide


def test_the_recorded_distillation_is_answered_at_once_where_nothing_is_trained(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_LAB", "off")
    found = lab_distil(tiny_engine)
    assert found.taught.points[-1].step == STEPS and found.ended == ended(Recipe())[0]
    assert len(json.dumps(as_json(found), allow_nan=False)) < 120_000
    with pytest.raises(InputError, match="trains no models"):
        lab_distil(tiny_engine, temperature=2)


def test_who_is_not_at_the_end_in_time_says_so() -> None:
    with pytest.raises(
        InputError, match=r"The teacher’s training did not finish\. Ended after 0 s"
    ):
        train_teacher(Run(TINY), longest=0.0)
    found = distilled(students(taught(), Recipe()), longest=0.0)
    assert found.measured == ()  # its teacher is not the usual one
    assert all("Ended after 0 s" in run.diverged for run in (found.alone, found.taught))
    assert "Ended after 0 s" in "".join(map(str, view_distil.screen(found).first))


def test_the_recording_begins_as_a_distillation_does_today() -> None:
    origin = Run(LabSettings())
    origin.prepare()
    PROCESSOR.run(origin.look, tokens=0)
    for now, then in zip(prepared(origin, Recipe()), (usual().alone, usual().taught), strict=True):
        # Since Python 3.12, `sum` rounds floats less.
        assert now.start == replace(then.start, unigram=pytest.approx(then.start.unigram))
        assert now.python().replace("steps_done < 0", "steps_done < 2000") == then.python


@pytest.mark.slow
def test_the_recording_is_what_a_distillation_does_today() -> None:
    origin = Run(LabSettings())
    task.completed(origin, longest=3600)
    found = distilled(students(origin, Recipe()), longest=3600)
    for now, then in zip(found.taught.points, usual().taught.points, strict=True):
        # Rounding differs between kinds of processors: by 0.043 between two of them.
        assert now.held_out == pytest.approx(then.held_out, abs=CHANCE)


# -- what is shown ---------------------------------------------------------------------------------


def ending(alone: float, taught: float) -> DistilResult:
    """Return the recorded distillation with other losses at its end."""
    found = usual()
    runs = (
        replace(run, points=(*run.points[:-1], replace(run.points[-1], held_out=loss)))
        for run, loss in ((found.alone, alone), (found.taught, taught))
    )
    return replace(found, **dict(zip(("alone", "taught"), runs, strict=True)))


@pytest.mark.parametrize(
    ("alone", "taught", "says"),
    [
        (1.0, 0.89, "The teacher helps."),
        (1.0, 0.91, "One run cannot tell"),
        (1.0, 1.09, "One run cannot tell"),
        (1.0, 1.11, "The teacher harms."),
    ],
)
def test_the_verdict_says_what_the_numbers_do(alone: float, taught: float, says: str) -> None:
    found = ending(alone, taught)
    headline = view_distil.screen(found).headline
    assert headline.startswith(says)
    assert f"{taught:.2f} with the teacher, {alone:.2f} alone" in headline
    assert ("bx-open" in str(view_distil.headline(found))) == ("cannot" in says)


def test_the_verdict_has_mean_and_range_of_the_seeds_and_says_what_is_unfinished() -> None:
    gains = (0.1, 0.2, 0.6)
    measured = tuple(Ended(n, 0.5, 1.0 + gain, 1.0) for n, gain in enumerate(gains))
    found = replace(usual(), measured=measured, alone=usual().alone.until(200))
    headline = view_distil.screen(found).headline
    assert "Measured with 3 seeds: 0.30 less with the teacher on average (0.10 to 0.60)" in headline
    step = found.alone.points[-1].step
    assert f"so far: step {step:,} of {STEPS}." in headline
    alone = compared(found.alone, found.taught, replace(TINY), Recipe())
    assert "Measured" not in view_distil.screen(alone).headline


def test_the_losses_of_both_are_on_one_axis_with_the_teacher_s_level() -> None:
    found = usual()
    drawn = losses((found.alone, found.taught), STUDENTS)
    svg = str(drawn.wide)
    assert f"teacher {found.ended.teacher:.2f}" in svg and "training" not in svg
    for number in (0, 1):
        assert f"bx-lab-run{number} bx-lab-held_out" in svg
    assert f"Their teacher has {found.ended.teacher:.2f}." in drawn.alt
