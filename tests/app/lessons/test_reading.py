"""Files of lessons: ours can be read, and what is wrong with one is said with its place."""

from collections.abc import Callable
from pathlib import Path

import pytest

from app.lessons.paths import paths
from app.lessons.reading import Known, read_claims, read_glossary, read_lesson
from app.lessons.shelf import about, claims, following, glossary, lesson, shelf
from app.lessons.view import all_terms, prose
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
[step.another]
claim = "O4"
ask = "{0}"
yes = "yes"
no = "no"
say = "{first}, {plain.first}"
"""

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(text: str, name: str = "does-it.toml") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return written


def known() -> Known:
    return Known(claims(), glossary().keys())


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
    found = read_lesson(write(LESSON), known(), own=True)
    (step,) = found.steps
    assert (found.slug, found.own, step.page) == ("does-it", True, "fill_mask")
    assert step.looks[0].values == {"text": "The sun is [MASK]."}
    assert step.question and [each.is_ for each in step.question.choices] == ["{thing}", ""]
    assert step.change and step.change.edits == ("text",)


WRONG = [
    ("title = ", "titel = ", "does-it.toml: title is missing; expected a text."),
    ("minutes = 3", 'minutes = "3"', "minutes: found a text; expected a whole number"),
    ("minutes = 3", "minutes = 3\ncolour = 1", "found colour; no such key is known here"),
    ('page = "fill_mask"', 'page = "home"', "step 1: found the page 'home'; expected one of"),
    ("{ text =", "{ txt =", "step 1: fill_mask has no parameter 'txt'. Parameters are: text"),
    ("{ text =", "{ top_k = 1, text =", ""),
    ("{first}, {p}, ", "{firts}", "step 1: found the quantity 'firts'; expected one of first"),
    ("{plain.p}", "{plian.p}", "step 1: found the text 'plian'; expected one of plain"),
    ("{claim:O4.k}", "{claim:O5.k}", "found the claim 'O5'; expected one of"),
    ("{claim:O4.k}", "{claim:O4.x}", "found the figure 'x'; expected k, n, share, interval"),
    ("[[gap]]", "[[chasm]]", "step 1: found the term 'chasm'; expected one of piece"),
    ('of = "first"', "", "step 1, question: of is missing; expected the quantity"),
    ("otherwise = true", 'is = "x", right = true', "choices 2: right: which choice is right"),
    ('ask = "Which?"', 'kind = "draw"\nask = ""', "kind: found 'draw'; expected one of choose"),
    ("right = true", "right = false", "step 1, why: no choice is right"),
    ('edits = ["text"]', 'edits = ["txt"]', "change: found the parameter 'txt'; expected one of"),
    ('claim = "O4"', 'claim = "K5"', "another: the claim K5 is about qa, not about this page"),
    ("The sun is", "The sun is " + 2000 * "x", "characters in an address; expected at most 2,000"),
    ("title = ", "title == ", "does-it.toml: this is not TOML"),
]


@pytest.mark.parametrize(("right", "wrong", "says"), WRONG)
def test_what_is_wrong_with_a_file_is_said_in_words(
    write: Write, right: str, wrong: str, says: str
) -> None:
    assert right in LESSON
    path = write(LESSON.replace(right, wrong, 1))
    if not says:
        read_lesson(path, known())
        return
    with pytest.raises(InputError) as caught:
        read_lesson(path, known())
    assert says in str(caught.value) and str(caught.value).startswith("does-it.toml")


def test_a_lesson_has_at_most_six_steps(write: Write) -> None:
    head, step = LESSON.split("[[step]]")
    with pytest.raises(InputError, match="found 7 steps; expected 1 to 6"):
        read_lesson(write(head + 7 * f"[[step]]{step}"), known())


CLAIM = """
[X1]
says = "So it is"
task = "fill_mask"
items = [["a [MASK]", "b"], ["c [MASK]", "d"]]
values = { text = "{0}" }
counts = [{ of = "first", is = "{1}" }]
tell = { p = "p:{1}" }
test = [{ of = "k", least = 1 }, { of = "mean.p", least = 0.1 }]
"""


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ('["c [MASK]", "d"]', '["c [MASK]"]', "items: expected texts, or lists of equally many"),
        ('of = "mean.p"', 'of = "mean.q"', "found the figure 'mean.q'; expected k, n"),
        (', is = "{1}"', "", "expected of, and one of is, least, most, more, same, other"),
        ("[X1]", "[X1]\nitems_of = 'X2'", "found the claim 'X2'"),
    ],
)
def test_what_is_wrong_with_a_claim_is_said_in_words(
    write: Write, right: str, wrong: str, says: str
) -> None:
    assert read_claims([write(CLAIM)])["X1"].items == (("a [MASK]", "b"), ("c [MASK]", "d"))
    with pytest.raises(InputError) as caught:
        read_claims([write(CLAIM.replace(right, wrong, 1))])
    assert "does-it.toml, X1" in str(caught.value) and says in str(caught.value)


def test_a_term_must_name_a_page(write: Write) -> None:
    with pytest.raises(InputError, match="no page named 'nowhere'"):
        read_glossary(write('[gap]\nsays = "A hole."\npage = "nowhere"\n'))


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
        "broken.toml: title: found a whole number; expected a text.",
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
        assert 1 <= term.says.count(". ") + 1 <= 3 and term.says.endswith("."), name
        assert term.says.split()[0] in drawn
    assert drawn.count("<li") == len(glossary()) == drawn.count("href=")


def test_a_question_can_point_at_heads_only_where_there_are_heads(write: Write) -> None:
    pointing = LESSON.replace('of = "first"', 'of = "first"\nkind = "point"\nat = "heads"', 1)
    with pytest.raises(InputError, match="at: found 'heads'; expected words, or on attention"):
        read_lesson(write(pointing), known())


@pytest.mark.parametrize(
    ("off", "says"),
    [
        ("{head:previous} {random:3}", ""),
        ("{head:nobody}", "found the role 'nobody'; expected one of"),
        ("{random:some}", "off: found {random:some}; expected a number of heads"),
    ],
)
def test_heads_in_values_are_checked_when_a_file_is_read(write: Write, off: str, says: str) -> None:
    head, step = LESSON.split("[[step]]")
    short = step.partition("words =")[0].replace("fill_mask", "xray")
    text = f'{head}[[step]]{short}reveal = "{{now}}"\n'
    path = write(text.replace('text = "The sun is [MASK]."', f'text = "A [MASK].", off = "{off}"'))
    if not says:
        assert read_lesson(path, known()).steps[0].looks[0].values["off"] == off
        return
    with pytest.raises(InputError) as caught:
        read_lesson(path, known())
    assert says in str(caught.value)
