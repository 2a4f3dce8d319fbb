"""What holds for every page, in one table over the catalog: a new feature is tested by its row.

A page opens with its first example, answers others, has words and numbers for every picture
of every tab, offers the same in Python, never turns a text into markup, meets what it cannot answer
with a sentence, and announces a head that was never trained before any number.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.catalog import examples, feature, pages
from tests.app.features.atlas.conftest import few_texts  # noqa: F401
from tests.conftest import NASTY

pytestmark = pytest.mark.usefixtures("few_texts", "few_rows")

Visit = Callable[..., Any]
SLUGS = [row.slug for row in pages()]
NEEDING = [row.slug for row in pages() if row.needs]
ANSWERS = ('role="status"', 'bx-tok-text"', 'bx-drawing bx-att-map"')
"""What an answer has, if it is no picture; the last one is the name of a component."""

ON_OPENING = {
    "tokenizer": set[str](),
    "fill_mask": {"fill-mask-1"},
    "next_sentence": {"next-sentence"},
    "qa": {"qa-answers"},
    "ner": set[str](),
    "classification": {"classification"},
    "data": set[str](),  # the tiny model has other labels than our reviews
    "attention": {"attention-grid"},
    "xray": {"xray"},
    "why": {"why"},
    "atlas": {"head-atlas"},
    "senses": {"senses", "senses-layers"},
    "variants": {"variants", "variants-sees"},
    "model_card": set[str](),
    "lab": set[str](),
}
"""The pictures of a page when it opens: a tab that is closed draws nothing. A page that is not here
has at least one."""

IN_TABS = {
    ("tokenizer", "Vectors"): {"input"},
    ("tokenizer", "Vocabulary"): {"neighbours"},
    ("classification", "Multiple choice"): {"multiple-choice"},
    ("fill_mask", "Gaps together"): {"fill-mask-together"},
    ("next_sentence", "Order of a paragraph"): {"sentence-order"},
    ("qa", "Other answers"): {"qa-answers"},
    ("qa", "Start and end"): {"qa-curves"},
    ("ner", "Pieces"): {"labels"},
    ("senses", "Over the layers"): {"senses-layers"},
}
"""The pictures of a tab; of other tabs there are none."""

FORMS = {
    ("next_sentence", "text"): "a {}",
    ("next_sentence", "text_pair"): "{} b",
    ("classification", "text"): "a {}",
    ("classification", "text_pair"): "{} b",
    ("qa", "text"): "a {} b. {} c",
    ("qa", "question"): "the {line:.14}?",
    ("ner", "text"): "{} cat",
    ("attention", "text"): "cat {}",
    ("xray", "text"): "cat {:.36}",
    ("why", "text"): "the [MASK] {}",
    ("senses", "text"): "the bank {}\n\nthe bank\n{}",
}
"""What is written around a nasty text, so that there is an answer; `line` is the text in one."""

ANSWERED = {
    "tokenizer",
    "next_sentence",
    "classification",
    "qa",
    "ner",
    "attention",
}
"""Pages that answer every text; others need a gap, a word twice, or a text that is not too long."""

MAY_BE_TOLD = {"qa", "xray", "why"}
"""Pages with examples that are too much for the tiny model: a sentence says so."""

IN_PYTHON = {"senses": "principal_axes", "why": "attribute(model, encoding"}
"""What must be in the code of a page, apart from the library."""

ODDEST = (
    NASTY["script"],
    NASTY["long word"],
    " ".join(NASTY[name] for name in ("controls", "right to left", "emoji", "specials")),
)
"""Texts for a whole page; the tests of the tasks have all of them."""

KINDS = ("text_area", "text_input", "selectbox", "toggle")
LONG = "the cat sat "
REFUSED = [
    ("tokenizer", {"text": "   "}, "empty"),
    ("tokenizer", {"text": "a" * 100_001}, "100,001", "100,000"),
    ("fill_mask", {"text": ""}, "empty"),
    ("fill_mask", {"text": "[MASK] " * 30}, "30 masks", "20"),
    ("next_sentence", {"text": "", "text_pair": ""}, "a sentence in each box"),
    ("next_sentence", {"text": "the cat", "text_pair": ""}, "a sentence in each box"),
    ("next_sentence", {"text": "", "text_pair": "sat"}, "a sentence in each box"),
    ("next_sentence", {"text": "  ", "text_pair": "a"}, "a sentence in each box"),
    ("next_sentence", {"text": "\u200b\x01"}, "first sentence has no piece"),
    ("next_sentence", {"text": "a " * 60_000}, "at most 100,000"),
    ("qa", {"text": " "}, "no text that the model can read"),
    ("qa", {"question": " "}, "pick an example"),
    ("qa", {"text": "\u200b\x01"}, "has no text that the model can read"),
    ("qa", {"question": "the cat " * 20}, "40 pieces", "at most 24"),
    ("qa", {"question": "cat?\n" * 11}, "11 questions"),
    ("ner", {"text": " "}, "no piece that the model reads"),
    ("classification", {"text": "  "}, "Write a text"),
    ("attention", {"text": ""}, "Write a word or pick an example"),
    ("attention", {"text": "  "}, "Write a word or pick an example"),
    ("attention", {"text": "\u200b\x02"}, "Write a word or pick an example"),
    ("xray", {"text": ""}, "no piece"),
    ("xray", {"text": "cat " * 90}, "the X-ray shows at most 48"),
    ("why", {"text": ""}, "no \\[MASK\\]"),
    ("why", {"text": "the cat"}, "no \\[MASK\\]"),
    ("senses", {"text": ""}, "at least two"),
]
"""A page, what is written into its boxes, and what must be in the sentence that follows."""

REFUSED += [
    (row.slug, {"text": ""}, "")
    for row in pages()
    if row.takes_text and row.slug not in {slug for slug, *_ in REFUSED}
]


def boxes(page: Any, *kinds: str) -> list[Any]:
    return [box for kind in kinds or ("text_area", "text_input") for box in getattr(page.at, kind)]


def shown(page: Any) -> str:
    """All markup of a page with its pictures, the options of its boxes, and its components."""
    options = [option for box in page.at.selectbox for option in box.options]
    names = [each.proto.component_name for each in page.at.get("bidi_component")]
    return page.markup + "".join([*page.pictures.values(), *options, *names])


def answered(page: Any, slug: str) -> bool:
    own = set.union(*ON_OPENING.values()) if slug in ON_OPENING else page.pictures.keys()
    here = page.pictures.keys() & own
    return bool(here) or any(each in shown(page) for each in ANSWERS)


def test_every_row_belongs_to_a_page() -> None:
    assert set(ON_OPENING) <= set(SLUGS)
    assert all(len(examples(row.slug)) >= 5 for row in pages() if row.has_examples)
    assert {slug for slug, *_ in REFUSED} == {row.slug for row in pages() if row.takes_text}


@pytest.mark.parametrize("slug", SLUGS)
def test_a_page_opens_with_its_first_example_and_answers_others(visit: Visit, slug: str) -> None:
    """The recorded site answers every example."""
    page = visit(feature(slug).page)
    assert page.markup.count("<h1") == 1 and len(page.at.title) == 0
    assert f"<h1>{feature(slug).title}</h1>" in page.markup
    code = "".join(each.value for each in page.at.code)
    compile(code, slug, "exec")
    assert "bert_core" in code and IN_PYTHON.get(slug, "") in code
    (menu,) = [each for each in page.at.get("popover") if each.proto.popover.label == "Save"]
    saved = [each.proto.label for each in menu.get("download_button")]
    assert saved[:2] == ["This page (HTML)", "Notebook (IPYNB)"]
    assert page.at.selectbox(key="model").label == "Model" and "bx-holdings" in page.markup
    assert set(page.pictures) == ON_OPENING.get(slug, set(page.pictures))
    assert answered(page, slug) or slug in {"model_card", "lab"}  # the lab draws in the browser
    rows = list(enumerate(examples(slug) if feature(slug).takes_text else ()))
    for number, row in (*rows[:2], *rows[-1:]):
        if number:
            page.at.button(key=f"_example_{number}").click()
            page.run()
        found = {box.key: box.value for box in boxes(page, *(KINDS if number else ()))}
        wanted = {key: value for key, value in row.values.items() if key in found}
        wanted = {key: value for key, value in wanted.items() if key not in ("layer", "head")}
        assert wanted == {key: found[key] for key in wanted}, row.label
        assert row.note in page.words or "layer" in row.values, (
            row.label
        )  # a head of a larger model
        assert page.errors == "", row.label
        if slug in MAY_BE_TOLD:  # what this model does not find, or what is too long for it
            asks = any(button.label.startswith("Explain this text") for button in page.at.button)
            assert answered(page, slug) or page.warnings or asks, row.label
        else:
            assert answered(page, slug) and page.warnings == "", row.label


@pytest.mark.parametrize("slug", SLUGS)
def test_every_picture_has_a_text_alternative_and_a_table_and_no_text_becomes_markup(
    visit: Visit, slug: str
) -> None:
    opened = visit(feature(slug).page, **({"why_test": "true"} if slug == "why" else {}))
    first, *tabs = [tab.label for tab in opened.at.tabs] or [""]
    for tab in (first, *tabs):
        more = {"text": "the cat"} if tab == "Vectors" else {}  # the example is too long for them
        page = opened if tab == first else visit(feature(slug).page, tab=tab, **more)
        assert page.errors == page.warnings == "", tab
        assert page.pictures.keys() & set.union(*IN_TABS.values()) == IN_TABS.get(
            (slug, tab), set()
        )
        for name, markup in page.pictures.items():
            assert re.search(r'role="(img|group)" aria-label="[^"]{30,}"', markup), name
            # The numbers of the grid are in the saved page.
            assert "bx-numbers" in markup or name == "attention-grid", name
        for text in ODDEST if tab == first else (NASTY["script"],):
            unharmed(page, slug, text)


def unharmed(page: Any, slug: str, nasty: str) -> None:
    """Write a nasty text into every large box, and then into every small one."""
    for kind in ("text_area", "text_input"):
        if not (written := boxes(page, kind)):
            continue
        for box in written:
            form = FORMS.get((slug, box.key), "{}")
            box.set_value(form.format(nasty, nasty, line=" ".join(nasty.split())))
        page.run()
        assert page.errors == "", nasty
        assert "<script" not in shown(page) and "<img" not in shown(page)
        if kind == "text_area" and slug in ANSWERED:
            assert answered(page, slug), nasty


@pytest.mark.parametrize(
    ("slug", "written", "says"), [(row[0], row[1], row[2:]) for row in REFUSED]
)
def test_what_cannot_be_answered_gets_a_sentence(
    visit: Visit, slug: str, written: dict[str, str], says: tuple[str, ...]
) -> None:
    page = visit(feature(slug).page)
    for box in boxes(page):
        if box.key in written:
            box.set_value(written[box.key])
    page.run()
    said = page.warnings + " ".join(box.value for box in page.at.info)
    assert said
    assert [words for words in says if words not in said] == []
    assert page.errors == "" and not answered(page, slug)
    assert "SHA-256" in page.words and "Note: " in page.words  # the foot stays


@pytest.mark.parametrize("slug", NEEDING)
@pytest.mark.parametrize("folder", ["untrained_folder", "headless_folder"])
def test_an_untrained_head_is_announced_before_any_number(
    visit: Visit,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    slug: str,
    folder: str,
) -> None:
    if (slug, folder) == ("fill_mask", "headless_folder"):
        return  # this one it has
    place: Path = request.getfixturevalue(folder)
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(place))
    page = visit(feature(slug).page)
    assert "no trained weights" in page.words and not answered(page, slug)
    page = visit(feature(slug).page, noise="true")
    assert answered(page, slug) and ".weight" in page.words  # what is missing has its name
    drawn = [str(getattr(each, "proto", "")) for each in page.at.main]
    warned = next(n for n, each in enumerate(drawn) if "bx-untrained" in each)
    assert not any(answer in each for each in drawn[:warned] for answer in ANSWERS)
