"""Test the entity page by driving it as a visitor would."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

from tests.taggers import KNOWN, save_tagger

PAGE = "pages/6_ner.py"
PIECES = "Pieces"


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tagger(tmp_path_factory.mktemp("tagger"), known=KNOWN)


@pytest.fixture
def visit(tagger: Path, visit: Callable, monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Open the page on the planted tagger."""
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(tagger))
    return visit


def pictures(page) -> list[str]:
    """Return the markup of every picture on the page."""
    return list(page.pictures.values())


def marks(page) -> list[tuple[str, str]]:
    """Return the marked words and the style of each."""
    found = re.findall(
        r'<mark class="bx-ner-mark.*?style="(.*?)".*?>(.*?)<small', page.markup, re.S
    )
    return [(unescape(re.sub("<.*?>", "", text)), style) for style, text in found]


def rows(page, name: str) -> list[list[str]]:
    """Return the cells of a table of the site's own markup, as text."""
    [table] = re.findall(
        rf'<table class="bx-numbers" data-name="{name}">(.*?)</table>', page.markup, re.DOTALL
    )
    found = re.findall(r"<tr[^>]*>(.*?)</tr>", table, re.DOTALL)
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in found]
    return [[unescape(cell) for cell in row] for row in cells if row]


def texts(page) -> list[str]:
    return [row[0] for row in rows(page, "entities")]


def test_entities_are_marked_listed_and_counted(visit: Callable) -> None:
    page = visit(PAGE, text="The cat dog sat on the River bank.")
    assert [text for text, _ in marks(page)] == ["cat dog", "River bank"]
    assert page.markup.count('class="bx-ner-chip"') == 2
    assert "The model finds 2 entities." in page.words
    assert 'class="bx-ner-pieces"' not in page.markup and pictures(page) == []
    assert texts(page) == ["cat dog", "River bank"]


def test_the_address_seeds_every_setting(visit: Callable) -> None:
    page = visit(
        PAGE,
        text="cat river",
        aggregation="Average",
        labels="1: river",
        tab=PIECES,
    )
    assert page.at.button_group(key="aggregation").value == "average"
    assert page.at.selectbox(key="labels").value == "1: river"
    assert [text for text, _ in marks(page)] == ["cat", "river"]


def test_a_long_text_is_read_whole_and_shown_in_parts(visit: Callable) -> None:
    page = visit(PAGE, tab=PIECES).type("the sat on " * 190 + "river bank")
    assert "Long text, read whole." in page.words
    assert [text for text, _ in marks(page)] == ["river bank"]
    page.choose("labels", "571: bank")
    assert "Drawn are pieces 480 to 571" in page.words
    assert 'aria-label="Labels of piece 571, bank: ' in pictures(page)[0]
    page.type("cat")
    assert page.errors == ""
    assert page.at.selectbox(key="labels").value == "0: cat"


def test_a_hostile_label_stays_text(
    visit: Callable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = ("O", "B-![x](http://example.invalid/x.png)", "B-<img src=x>")
    save_tagger(tmp_path, names=names, known={"cat": names[1], "dog": names[2]})
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(tmp_path))
    page = visit(PAGE, text="cat dog")
    assert page.errors == ""
    assert "<img" not in page.markup + "".join(pictures(page))
