"""Reports on a terminal."""

import pandas as pd
import pytest

from app.catalog import feature
from app.engine.models import Engine
from app.faces.paper.text import as_text
from app.words.blocks import Html, fold, hint, record_table, tag, visible
from app.words.pictures import picture, svg
from app.words.screen import Report


@pytest.fixture
def said(tiny_engine: Engine):
    def say(*blocks: object, width: int = 60) -> str:
        report = Report("A headline.", tuple(blocks))  # type: ignore[arg-type]
        text = as_text(feature("qa"), tiny_engine.provenance, report, width=width)
        first, *middle, beware, model = text.strip().split("\n\n")
        assert first == "A headline." and beware.startswith("Note: ") and "weights" in model
        return "\n\n".join(middle)

    return say


def drawn(table: pd.DataFrame) -> object:
    return picture("name", lambda width: svg(width, 1), alt="What is drawn.", table=table)


def test_a_picture_is_its_words_and_its_table(said) -> None:
    table = pd.DataFrame({"word": ["a", "海"], "share": [0.123456, 10.0], "at": ["0.1", "0.2"]})
    assert said(drawn(table)) == "What is drawn.\n\nword  share\na     0.1235\n海    10"


def test_a_long_or_wide_table_says_what_it_leaves_out(said) -> None:
    assert said(drawn(pd.DataFrame({"n": range(40)}))).endswith("29\n… 10 more rows")
    wide = pd.DataFrame({f"column {n}": [n] for n in range(9)})
    assert said(drawn(wide)).splitlines()[-1] == "… 3 more columns"
    assert "x" * 39 + "…" in said(drawn(pd.DataFrame({"n": ["x" * 90]})))


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (tag("p", "a ", tag("b", "b"), tag("br"), "c"), "a b\nc"),
        (tag("p", "word " * 30), ("word " * 12).strip()),
        (tag("ul", *(tag("li", each) for each in "abc")), "a  b  c"),
        (tag("ul", tag("li", "a sentence of some length"), tag("li", "b")), "b"),
        (tag("p", "a", hint("explained"), tag("button", "Save"), svg(1, 1)), "a"),
        (tag("p", "forty minutes", tag("span", "answer", class_="bx-qa-badge")), "[answer]"),
        (tag("p", visible("<b>\x1b[31m &amp;")), "<b>␛[31m &amp;"),
        (record_table("", ("a", "b"), [("one", "1"), ("three", "3")]), "three  3"),
        (tag("p", tag("span", "x", aria_hidden="true"), "y"), "y"),
    ],
)
def test_markup_is_read_as_a_person_reads_it(said, markup: Html, text: str) -> None:
    found = said(markup)
    assert text in found and "explained" not in found and "Save" not in found
    assert max(map(len, found.splitlines())) <= 60


def test_a_fold_is_unfolded_under_its_title(said) -> None:
    assert said(fold("All <rows>", tag("p", "one row"))) == "All <rows>\none row"
