"""Test the marks on examples: correct for the bundled model, and absent for other models."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.catalog import Example, Feature, Mark, examples, pages, read_examples, read_text
from app.engine.models import Engine
from app.settings import BUNDLED_MODEL
from app.words.notes import example_note
from bert_core.bundled import bundled_names
from bert_core.errors import InputError
from tests.visits import markup, opened
from tools.example_marks import JUDGED, ask, fits, remarked

ROOT = Path(__file__).resolve().parents[2]
MARKING = [row.slug for row in pages() if row.slug in JUDGED]
MARKED = [(row.slug, example) for row in pages() for example in examples(row.slug) if example.mark]

with_weights = pytest.mark.skipif(
    BUNDLED_MODEL not in bundled_names(), reason="the bundled weights are not here"
)


@pytest.fixture(scope="module")
def engine() -> Engine:
    """The bundled model."""
    return Engine(BUNDLED_MODEL)


@with_weights
@pytest.mark.parametrize(
    ("slug", "example"), MARKED, ids=[f"{slug}: {row.label}" for slug, row in MARKED]
)
def test_what_an_example_says_of_the_model_is_true(
    engine: Engine, slug: str, example: Example
) -> None:
    assert example.mark is not None
    found = ask(engine, slug, example, example.mark.wanted)
    assert found.all_right is example.mark.right, found
    assert example.mark.right or example.mark.seen  # a wrong answer is explained


@with_weights
def test_every_mark_was_made_with_the_weights_that_are_here(engine: Engine) -> None:
    made_with = {example.mark.weights for _, example in MARKED if example.mark}
    assert made_with == {engine.provenance.fingerprint}, (
        "Check the marks with the new weights: python -m tools.derive examples"
    )


@pytest.mark.parametrize("slug", MARKING)
def test_every_page_marks_an_example(slug: str) -> None:
    assert any(each.mark for each in examples(slug))


def test_the_marks_show_the_model_right_and_wrong() -> None:
    assert {example.mark.right for _, example in MARKED if example.mark} == {True, False}


def listed(page: AppTest) -> list[str]:
    """Return the labels in the list of examples, with their signs."""
    return [button.label for button in page.button if str(button.key).startswith("_example_")]


def note(page: AppTest) -> str:
    """Return the text of the note on the example in the boxes."""
    shown = markup(page).partition('class="bx-example"')[2].partition("</div>")[0]
    return re.sub("<[^>]*>", "", shown)


SIGNS = {True: "✓ ", False: "✗ "}


@with_weights
@pytest.mark.parametrize(
    "row", [row for row in pages() if row.slug in MARKING], ids=lambda row: row.slug
)
def test_signs_and_words_say_how_the_bundled_model_does(row: Feature) -> None:
    page = opened(row.page)
    rows = examples(row.slug)
    assert listed(page) == [(SIGNS[e.mark.right] if e.mark else "") + e.label for e in rows]
    marked = [(n, e) for n, e in enumerate(rows) if e.mark]
    if not marked:
        return  # what this page shows is neither right nor wrong
    number, shown = min(marked, key=lambda pair: pair[1].mark.right)  # a wrong one if there is one
    page.button(key=f"_example_{number}").click().run()
    assert shown.mark is not None
    assert shown.note in unescape(note(page))
    sign = "✓ agrees with a person" if shown.mark.right else "✗ disagrees with a person"
    assert sign in note(page)
    wanted = (*shown.mark.wanted, "nothing marked")[0]
    assert wanted.split(" | ")[0] in unescape(note(page))


def test_of_another_model_nothing_is_said(visit: Callable) -> None:
    page = visit("pages/2_fill_mask.py")
    rows = examples("fill_mask")
    assert listed(page.at) == [each.label for each in rows]
    shown = next(each for each in rows if each.mark)
    page.click(shown.label)
    assert shown.note in unescape(note(page.at))
    assert "person" not in note(page.at)


def test_a_link_with_one_other_text_is_no_example(visit: Callable) -> None:
    page, first = "pages/4_attention.py", examples("attention")[0]
    assert first.note in unescape(note(visit(page).at))
    assert note(visit(page, text_pair="The dog barked.").at) == ""
    assert first.note in unescape(note(visit(page, text=str(first.values["text"])).at))


@pytest.mark.parametrize("slug", ["fill_mask", "attention"])
def test_no_note_stays_beside_words_in_another_order(visit: Callable, slug: str) -> None:
    script = next(row.page for row in pages() if row.slug == slug)
    page = visit(script, mixed="3")
    assert note(page.at) == "" and page.errors == page.warnings == ""
    page.choose("mixed", 0)
    assert examples(slug)[0].note in unescape(note(page.at))


def test_a_mark_names_alternatives_and_escapes_what_it_says() -> None:
    wrong = Mark(right=False, wanted=("a | <b>", "no"), seen="<i> & so", weights="0")
    said = str(example_note("qa", "Look at <u>.", wrong))
    assert "a or &lt;b&gt;; no" in said and "&lt;i&gt; &amp; so" in said
    assert "Look at &lt;u&gt;." in said and "✗ disagrees with" in said
    right = Mark(right=True, wanted=(), seen="", weights="0")
    said = str(example_note("ner", "", right))
    assert "nothing marked" in said and "✓ agrees with a person" in said


@pytest.mark.parametrize(
    "line", ['model = "good"\nwanted = ["x"]', 'model = "right"', "model = true"]
)
def test_a_mark_that_rests_on_nothing_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(f'weights = "0"\n[[example]]\nlabel = "a"\n{line}\n', encoding="utf-8")
    with pytest.raises(InputError, match="right or wrong"):
        read_examples(path)
    path.write_text('[[example]]\nlabel = "a"\ntext = "b"\n', encoding="utf-8")
    assert read_examples(path)[0].mark is None
    path.write_text('[[example]]\nlabel = "a"\nmodel = "right"\nwanted = ["b"]\n', encoding="utf-8")
    with pytest.raises(InputError, match="weights"):
        read_examples(path)


@pytest.mark.parametrize(
    ("answer", "wanted", "same"),
    [
        ("The  Town\nHall.", "town hall", True),
        ("letter", "note | letter", True),
        ("letters", "note | letter", False),
        ("no answer", "Paris", False),
        ("“Ada”", "ada", True),
        ("in the hall", "hall", True),
        ("in", "at", False),
    ],
)
def test_answers_are_compared_as_a_person_would(answer: str, wanted: str, same: bool) -> None:
    assert fits(answer, wanted) is same


def test_a_judgement_needs_every_part(tiny_engine: Engine) -> None:
    wrong = Example("x", "", {"text": "the [MASK]"})
    with pytest.raises(ValueError, match="2 parts"):
        ask(tiny_engine, "fill_mask", wrong, ("cat", "dog"))
    link = Example("x", "", {"text": "the cat sat", "layer": 1, "head": -1})
    found = ask(tiny_engine, "attention", link, ("cat → sat", "cat → the"))
    assert sum(found.right) <= 1 and found.answers[0].startswith("cat: ")
    pieces = Example("x", "", {"text": "played"})
    assert ask(tiny_engine, "tokenizer", pieces, ("play ##ed", "##ed play")).right == (True, False)
    names = ask(tiny_engine, "ner", Example("x", "", {"text": "the cat"}), ("nobody: PER",))
    assert not names.all_right


def test_an_example_clears_what_only_another_one_has_set(visit: Callable) -> None:
    rows = examples("tokenizer")
    pair = next(row for row in rows if "text_pair" in row.values)
    cased = next(row for row in rows if "cased" in row.values)
    single = next(row for row in rows if set(row.values) == {"text"})
    page = visit("pages/1_tokenizer.py").click(pair.label)
    assert page.at.text_area(key="text_pair").value == pair.values["text_pair"]
    page.click(cased.label)
    assert page.at.text_area(key="text_pair").value == ""
    assert page.at.toggle(key="cased").value is True
    page.click(single.label)
    assert page.at.toggle(key="cased").value is False


@with_weights
def test_marks_of_other_weights_are_made_anew(engine: Engine) -> None:
    path = ROOT / "app" / "features" / "fill_mask" / "examples.toml"
    text = path.read_text(encoding="utf-8")
    found, left = remarked(text, engine, "fill_mask")
    assert found == text and lost(left) == []  # those of these weights stay

    other = re.sub('weights = "[0-9a-f]+"', f'weights = "{"0" * 12}"', text)
    other = other.replace('model = "right"', 'model = "wrong"')
    found, left = remarked(other, engine, "fill_mask")
    before, after = read_text(text), read_text(found)
    assert [each.mark and each.mark.right for each in after] == [
        each.mark and each.mark.right for each in before
    ]
    assert [each.values for each in after] == [each.values for each in before]
    marks = [each.mark for each in after if each.mark]
    assert {mark.weights for mark in marks} == {engine.provenance.fingerprint}
    assert all(not mark.seen if mark.right else "answers: " in mark.seen for mark in marks)
    assert len(lost(left)) == sum(bool(each.mark and each.mark.seen) for each in before)


def lost(left: list[str]) -> list[str]:
    """Return the lines about lost remarks among all that a person should look at."""
    return [line for line in left if "has lost its remark" in line]
