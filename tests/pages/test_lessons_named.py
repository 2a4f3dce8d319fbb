"""Every "?" of a page names the lessons that use the page most."""

import re

from app.catalog import feature, pages
from app.faces.streamlit.site import ON_SITE
from app.lessons.shelf import mostly_about
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


def test_a_page_names_its_lessons_behind_its_question_marks_and_only_there(
    tiny_model: object,
) -> None:
    for row in pages():
        assert [each.slug for each in mostly_about(row.slug)] == MOST.get(row.slug, [])
    page = OnSite(feature("fill_mask").page)
    drawn = "".join([page.markup, *page.pictures.values()])
    found = re.findall(r'<a href="lessons\?lesson=([\w-]+)" target="_blank">', drawn)
    assert set(found) == set(MOST["fill_mask"])
    for mark in drawn.split('class="bx-hint"')[1:]:
        assert '<a href="lessons?terms=true" target="_blank">' in mark.partition("</details>")[0]


def test_a_page_that_is_no_part_of_the_site_names_no_lesson(tiny_model: object) -> None:
    page = Visit(feature("tokenizer").page)
    assert 'class="bx-hint"' in page.markup
    assert "lessons?" not in page.markup and "bx-hint-end" not in page.markup
