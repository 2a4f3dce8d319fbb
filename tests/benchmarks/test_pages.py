"""The timing in the browser: which texts it types, and what a line of its table says."""

import pytest

from app.catalog import HOME, feature, pages
from benchmarks.pages import COLUMNS, LONG, PICTURES, SHORT, Timing
from benchmarks.report import section
from benchmarks.texts import Texts

WORDS = ["the", "cat", "dog", "sat", "on", "mat", "river"]


@pytest.mark.parametrize(
    "row", [row for row in pages() if row.takes_text], ids=lambda row: row.slug
)
def test_every_text_is_new(row: object) -> None:
    texts = Texts(WORDS)
    found = {texts.boxes(row.slug, SHORT)["text"] for _ in range(5)}  # type: ignore[attr-defined]
    assert len(found) == 5


def test_the_text_for_senses_has_the_word_in_two_groups_of_sentences() -> None:
    first, second = Texts(WORDS).boxes("senses", 60)["text"].split("\n\n")
    for group in (first, second):
        lines = group.splitlines()
        assert len(lines) == 3 and all(line.count("bank") == 1 for line in lines)


def test_what_is_watched_is_on_a_page_of_the_site() -> None:
    assert HOME.endswith("home.py") and "" in PICTURES
    assert all(feature(slug).takes_text for slug in PICTURES if slug)


def test_a_line_has_the_median_and_whether_the_goal_of_its_length_is_reached() -> None:
    wall = [0.2, 0.3, 0.24]
    short, long = Timing("Page", SHORT, wall), Timing("Page", LONG, [0.6, 0.51, 0.7])
    assert short.cells() == ("Page", "12", "240 ms", "200 ms to 300 ms", "yes")
    assert long.cells()[-1] == "**no**"
    assert f"| {' | '.join(COLUMNS)} |" in section("Browser", [short], columns=COLUMNS)
