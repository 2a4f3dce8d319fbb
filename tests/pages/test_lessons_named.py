"""Every "?" of a page names the lessons that use the page most; a click opens one."""

import re

import pytest

from app.catalog import feature, pages
from app.faces.streamlit.lesson_way import PICK
from app.faces.streamlit.site import ON_SITE
from app.lessons.shelf import mostly_about, shelf
from app.words.html import visible
from tests.visits import Visit

MOST = {
    "tokenizer": ["pieces"],
    "fill_mask": ["both-sides", "sure", "he-or-she"],  # 5, 4 and 4 steps; of others at most 3
    "next_sentence": ["together"],
    "qa": ["know-or-copy", "not"],
    "ner": ["names"],
    "classification": ["not"],
    "attention": ["heads", "reasons"],
    "xray": ["one-head", "layers"],
    "why": ["reasons"],
    "senses": ["senses"],
    "lab": ["order"],
}
"""Counted by hand in `assets/lessons`; of other pages there are no lessons."""


class OnSite(Visit):
    """A page that is part of the site, which has lessons."""

    def run(self) -> "Visit":
        self.at.session_state[ON_SITE] = True
        return super().run()


def drawn(page: Visit) -> str:
    """All of the site's own markup, pictures included."""
    return "".join([page.markup, *page.pictures.values()])


def named(page: Visit) -> set[str]:
    return set(re.findall(r'<a href="lessons\?lesson=([\w-]+)"', drawn(page)))


@pytest.mark.parametrize("slug", [row.slug for row in pages()])
def test_a_page_names_its_lessons_behind_its_question_marks_and_only_there(
    tiny_model: object, monkeypatch: pytest.MonkeyPatch, slug: str
) -> None:
    if slug != "atlas":  # of a head of the bundled model the page is long
        monkeypatch.delenv("BERT_EXPLORER_MODEL")
    assert [each.slug for each in mostly_about(slug)] == MOST.get(slug, [])
    page = OnSite(feature(slug).page)
    assert named(page) == set(MOST.get(slug, []))
    assert "bx-hint-end" not in drawn(page)
    for mark in drawn(page).split('class="bx-hint"')[1:] if slug in MOST else ():
        unfolded = mark.partition("</details>")[0]
        for number, lesson in enumerate(MOST[slug]):
            link = f'data-pick="{PICK}" data-value="{number}"'
            assert f"{link}>{visible(shelf().lessons[lesson].title)}</a>" in unfolded
        assert '<a href="lessons?terms=true" target="_blank">' in unfolded


def test_a_page_that_is_no_part_of_the_site_names_no_lesson(tiny_model: object) -> None:
    page = Visit(feature("tokenizer").page)
    assert 'class="bx-hint"' in page.markup
    assert named(page) == set() and "bx-hint-end" not in drawn(page)


@pytest.mark.parametrize("number", [-1, 3, 10**9])
def test_a_number_that_is_no_lesson_does_nothing(tiny_model: object, number: int) -> None:
    page = OnSite(feature("fill_mask").page).pick(PICK, number)
    assert "<h1>Fill-mask</h1>" in page.markup and page.errors == ""
