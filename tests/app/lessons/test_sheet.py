"""Teacher's notes, and the sheet that is printed: its answers are those that are computed."""

import html
import re
from pathlib import Path

import pytest

from app.__main__ import run
from app.engine.models import Engine, open_engine
from app.engine.models.shelf import offer_of
from app.lessons.claims import figures_of
from app.lessons.measured import stored
from app.lessons.measuring import steps_of
from app.lessons.notes import notes_of
from app.lessons.records import Lesson
from app.lessons.sheet import sheet
from app.lessons.shelf import lesson, shelf
from app.lessons.view import shown_by
from app.lessons.whole import looking_at
from bert_core.errors import InputError
from tests.app.lessons.test_reading import LESSON

OURS = [each for each in shelf().lessons.values() if not each.own]
SITE = "http://192.168.1.20:8501"


def pages(engine: Engine, found: Lesson) -> tuple[str, str]:
    text = html.unescape(sheet(engine, found, SITE).decode()).partition("</style>")[2]
    text = text.replace("\xa0", " ")  # which keeps a number and its % together
    return text.partition('class="page teacher"')[::2]  # type: ignore[return-value]


@pytest.mark.parametrize(
    "found",
    [pytest.param(each, id=each.slug, marks=pytest.mark.slow if each.slug == "reasons" else ())
     for each in OURS],
)  # fmt: skip
def test_each_step_is_what_is_computed_and_the_sheet_keeps_the_answers_to_the_teacher(
    bundled: Engine, found: Lesson
) -> None:
    for name, seen in steps_of(bundled, found).items():
        assert seen.holds and seen.values.keys() == stored().steps[name].values.keys()
    for number, step in enumerate(found.steps, 1):
        looking = looking_at(bundled, found, number)
        assert "{" not in looking.fill(step.change.watch if step.change else "")
        if step.question and step.question.kind == "choose":
            assert looking.right(step.question) is not None
        if step.question and step.question.kind == "number":
            kind, truth = looking.truth(step.question)
            low, high = looking.ends(step.question)
            assert low <= float(truth) * (100 if kind == "share" else 1) <= high
    notes = notes_of(found)
    assert notes is not None and found.minutes <= notes.minutes <= 60
    students, teacher = pages(bundled, found)
    assert f"{SITE}/lessons?lesson={found.slug}" in students and "<svg" in students
    assert "{" not in students and "{" not in teacher
    assert "[[" not in students and "[[" not in teacher
    for step in found.steps:
        assert step.heading in students and step.heading in teacher
    choices = [each.question.kind == "choose" for each in found.steps if each.question]
    assert ("☐" in students) == any(choices)
    assert "<mark>" not in students and "<mark>" in teacher
    for says in (*notes.before, *notes.run, notes.offline, *notes.wrong):
        assert says in teacher
    for name in found.claims:
        figures = figures_of(bundled, name)
        assert f"{figures.k} of {figures.n}" in teacher


def test_the_answers_are_computed(bundled: Engine) -> None:
    teacher = pages(bundled, lesson("pieces"))[1]
    marked = re.findall(r"<mark>(.*?)</mark>", teacher)
    assert marked[0] == "more than two" and marked[2] == "It falls into several pieces."
    assert marked[3] == "0.06 %" and marked[4] == "nothing at all"
    assert marked[5] == "23.5 pieces"
    assert "“paris”" not in pages(bundled, lesson("know-or-copy"))[0]


def test_what_a_model_without_the_head_cannot_show_is_said(headless_folder: Path) -> None:
    engine = open_engine(offer_of(str(headless_folder)))  # it has the head of fill-mask alone
    found = lesson("not")
    students, teacher = pages(engine, found)
    able = [step.page == "fill_mask" for step in found.steps]
    assert students.count("cannot answer here") == able.count(False) == 4
    holds = {says: each for says, each, _ in shown_by(engine, found)}
    assert list(holds.values()).count(None) == teacher.count("cannot answer here") - 4 == 5
    assert holds["With and without “not” the first guess is the same"] is not None
    pieces = [each for _, each, _ in shown_by(engine, lesson("pieces"))]
    assert False in pieces and None not in pieces  # its vocabulary is another one
    assert "This model does not show it." in pages(engine, lesson("pieces"))[1]


def test_settings_of_a_step_are_not_among_its_texts(bundled: Engine) -> None:
    looking = looking_at(bundled, lesson("reasons"), 3)
    assert looking.look.values["method"] == "occlusion"
    assert [text for _, text in looking.given()] == ["In winter the lake is covered with [MASK]."]


def test_notes_of_an_own_lesson_are_beside_it_and_faults_are_said(
    bundled: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.toml").write_text(LESSON.replace('title = "', 'title = "<script>'), "utf-8")
    monkeypatch.setenv("BERT_EXPLORER_LESSONS", str(tmp_path))
    found = lesson("mine")
    assert notes_of(found) is None
    written = sheet(bundled, found, SITE).decode()
    assert "<script>" not in written and "&lt;script&gt;" in written
    assert "no further notes" in written
    (tmp_path / "teacher").mkdir()
    notes = tmp_path / "teacher" / "mine.toml"
    notes.write_text('minutes = 9\nbefore = "x"\nrun = "y"\noffline = "<b>"\n', "utf-8")
    assert "&lt;b&gt;" in sheet(bundled, found, SITE).decode()
    notes.write_text('minutes = "9"\n', "utf-8")
    with pytest.raises(InputError, match=r"mine.toml, minutes: found '9'; expected"):
        notes_of(found)


def test_the_command_lists_claims_and_writes_a_sheet(
    bundled: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["lesson", "not"]) == 0
    said = capsys.readouterr().out
    found = figures_of(bundled, "O4")
    assert f"holds: With and without “not” the first guess is the same: {found.k} of 31" in said
    out = tmp_path / "not.html"
    assert run(["lesson", "not", "--sheet", str(out), "--site", SITE]) == 0
    assert out.read_bytes() == sheet(bundled, lesson("not"), SITE)
    assert run(["lesson", "note"]) == 2
    assert run(["lesson", "not", "--sheet", str(tmp_path / "no" / "x.html")]) == 2
    refused = capsys.readouterr().err
    assert "There is no lesson named 'note'" in refused and "cannot be written" in refused
    with pytest.raises(SystemExit, match="2"):
        run(["lesson", "--sheet", "x"])
