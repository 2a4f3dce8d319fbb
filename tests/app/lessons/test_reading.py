"""Files of lessons: ours can be read, and what is wrong with one is said with its place."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from app.catalog import feature
from app.engine.models import open_engine
from app.lessons.paths import paths
from app.lessons.reading import read_claims, read_lesson
from app.lessons.shelf import about, following, glossary, lesson, shelf
from app.lessons.view import all_terms, prose
from app.lessons.whole import looking_at
from app.settings import ROOT
from bert_core.errors import InputError
from tests.conftest import NASTY

LESSON = """
title = "Does it?"
goal = "Know it."
minutes = 3
last = "It does."

[[step]]
heading = "One"
say = "A [[gap]]."
page = "fill_mask"
values = { text = "The sun is [MASK]." }
words = { thing = "hot" }
beside = { plain = { text = "The sun was [MASK]." } }
reveal = "{first}, {p}, {p:{thing}}; before {plain.p}. {claim:O4.k} of {claim:O4.n}."
[step.question]
ask = "Which?"
of = "first"
choices = [{ say = "{thing}", is = "{thing}" }, { say = "another", otherwise = true }]
[step.why]
ask = "Why?"
choices = [{ say = "a", right = true, reply = "Yes." }, { say = "b", reply = "No." }]
[step.change]
ask = "Change it."
edits = ["text"]
watch = "{first}"
"""

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(text: str, name: str = "does-it.toml") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_our_lessons_can_be_read_and_every_path_leads_to_some() -> None:
    found = shelf()
    assert found.faults == () and len(found.lessons) >= 8
    for path in paths():
        assert path.lessons and set(path.lessons) <= found.lessons.keys()
        for slug in path.lessons[:-1]:
            after = following(slug, path.slug)
            assert after and after.slug == path.lessons[path.lessons.index(slug) + 1]
    assert [each.slug for each in about("tokenizer")] == ["pieces"]
    with pytest.raises(InputError, match="There is no lesson named 'none'"):
        lesson("none")


def test_a_lesson_has_what_its_file_says(write: Write) -> None:
    found = read_lesson(write(LESSON), own=True)
    (step,) = found.steps
    assert (found.slug, found.own, step.page) == ("does-it", True, "fill_mask")
    assert step.look.values == {"text": "The sun is [MASK]."}
    assert step.question and [each.is_ for each in step.question.choices] == ["{thing}", ""]
    assert step.change and step.change.edits == ("text",)


WRONG = [
    ("title = ", "titel = ", "does-it.toml, title: this key is missing."),
    ("minutes = 3", 'minutes = "3"', "minutes: found '3'; expected a valid integer"),
    ("minutes = 3", "minutes = 3\ncolour = 1", "colour: no such key is known here"),
    ('page = "fill_mask"', 'page = "home"', "step 1: found the page 'home'; expected one of"),
    ("{ text =", "{ txt =", "step 1: found the parameter 'txt'; expected one of text"),
    ("plain = {", "plain = [{", ""),
    ('ask = "Which?"', 'kind = "draw"\nask = ""', "kind: found 'draw'; expected 'choose', 'point'"),
    ('say = "another"', "say = 3", "choices, 2, say: found 3; expected a valid string"),
    ('edits = ["text"]', 'edits = ["txt"]', "found the parameter 'txt'; expected one of"),
    ("title = ", "title == ", "does-it.toml: this is not TOML"),
    ("[[step]]", "[step]", "step: found {"),
]


@pytest.mark.parametrize(("right", "wrong", "says"), WRONG)
def test_what_is_wrong_with_a_file_is_said_in_words(
    write: Write, right: str, wrong: str, says: str
) -> None:
    assert right in LESSON
    with pytest.raises(InputError) as caught:
        read_lesson(write(LESSON.replace(right, wrong, 1)))
    assert says in str(caught.value) and str(caught.value).startswith("does-it.toml")


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{firts}", "Found the quantity 'firts'; expected one of first"),
        ("{plian.p}", "Found the text 'plian'; expected one of plain"),
        ("{claim:O5.k}", "Found the claim 'O5'; expected one of"),
        ("{claim:O4.x}", "Found the figure 'x'; expected one of k, n, share"),
        ("{head:nobody}", "Found the role 'nobody'; expected one of"),
        ("[[chasm]]", "Found the term 'chasm'; expected one of"),
    ],
)
def test_what_a_text_names_and_is_not_there_is_said_where_it_is_shown(
    write: Write, monkeypatch: pytest.MonkeyPatch, template: str, says: str
) -> None:
    monkeypatch.delenv("BERT_EXPLORER_MODEL", raising=False)
    found = read_lesson(write(LESSON.replace("{first}, {p}, ", template, 1)))
    looking = looking_at(open_engine(), found, 1)
    with pytest.raises(InputError, match=re.escape(says)):
        prose(looking.fill(found.steps[0].reveal))


CLAIM = """
[X1]
says = "So it is"
task = "fill_mask"
items = [["a [MASK]", "b"], ["c [MASK]", "d"]]
values = { text = "{0}" }
counts = [{ of = "first", is = "{1}" }]
tell = { p = "p:{1}" }
"""


def test_a_claim_has_rows_of_texts(write: Write) -> None:
    assert read_claims([write(CLAIM)])["X1"].items == (("a [MASK]", "b"), ("c [MASK]", "d"))
    with pytest.raises(InputError, match=r"does-it.toml, X1, items, 2, 1: found 3"):
        read_claims([write(CLAIM.replace('"c [MASK]"', "3", 1))])


@pytest.mark.parametrize("text", NASTY.values())
def test_the_words_of_a_file_are_never_markup(text: str) -> None:
    drawn = prose(f"{text} [[gap]]").markup
    assert "<script" not in drawn and "<img" not in drawn and 'class="bx-term"' in drawn


def test_lessons_of_an_operator_are_offered_beside_ours_and_broken_ones_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.toml").write_text(LESSON, encoding="utf-8")
    (tmp_path / "pieces.toml").write_text(LESSON, encoding="utf-8")
    (tmp_path / "broken.toml").write_text("title = 1\n", encoding="utf-8")
    monkeypatch.setenv("BERT_EXPLORER_LESSONS", str(tmp_path))
    found = shelf()
    assert found.lessons["mine"].own and not found.lessons["pieces"].own
    assert found.faults == (
        "broken.toml, title: found 1; expected a valid string.",
        "pieces.toml: there is a lesson of ours with this name.",
    )


JARGON = (
    "[CLS]", "[SEP]", "[MASK]", "##", "head", "layer", "piece", "vector", "attention",
    "embedding", "logit", "nats", "softmax", "LayerNorm", "cosine", "calibrated", "lens",
    "integrated gradients", "comprehensiveness", "loss", "phenomena", "log V",
    "floor", "weights", "vocabulary", "log-probability", "feed-forward", "patching", "spread",
)  # fmt: skip
"""Words on the pages that a first visitor may not know; a new one is added here."""


def test_every_hard_word_of_the_pages_is_in_the_glossary() -> None:
    files = [*(ROOT / "pages").glob("*.py"), *(ROOT / "app" / "features").rglob("view*.py")]
    pages = "\n".join(path.read_text(encoding="utf-8") for path in files).lower()
    for word in JARGON:
        assert word.lower() in pages, f"{word} is on no page any more"
        assert word in glossary(), word


def test_a_term_is_explained_in_two_sentences_or_so() -> None:
    drawn = all_terms().markup
    for name, term in glossary().items():
        assert feature(term.page)
        assert 1 <= term.says.count(". ") + 1 <= 3 and term.says.endswith("."), name
        assert term.says.split()[0] in drawn
    assert drawn.count("<li") == len(glossary()) == drawn.count("href=")
