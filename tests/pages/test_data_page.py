"""The page of tables as a visitor uses it: own rows, labels, budgets, a row that is opened."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from app.catalog import feature
from app.data.answering import AT_ONCE, Guess, answer_rows
from app.data.columns import TaskName
from app.data.gold import Asked
from app.engine.compute.recent import Cache
from app.engine.compute.visitor import LimitError
from app.engine.models import Engine
from tests.conftest import NASTY
from tests.visits import Visit, press

PAGE = feature("data").page
ROWS = "text,label,shop\n" + "".join(
    f"the cat sat {n},{('good', 'BAD', 'fine')[n % 3]},{('north', 'south')[n % 2]}\n"
    for n in range(3 * AT_ONCE)
)


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch, tiny_model: object) -> None:
    monkeypatch.setattr("app.faces.streamlit.features.data.WORKS", Cache(2**24))


def pasted(text: str = ROWS, **address: str) -> Visit:
    """Open the page and give it rows."""
    page = Visit(PAGE, table="own", **address)
    page.type(text, key="_data_pasted")
    press(page.at, "Use these rows")
    return page


def answered(text: str = ROWS) -> Visit:
    page = pasted(text)
    press(page.at, next(each for each in page.labels if each.startswith("Answer ")))
    return page


def table(page: Visit) -> Any:
    """Return the rows that are shown."""
    return page.at.dataframe[0].value


def test_own_rows_are_answered_when_that_is_asked_for_and_are_in_no_address() -> None:
    page = pasted()
    assert f"Answer {3 * AT_ONCE} rows" in page.labels and not page.at.dataframe
    press(page.at, f"Answer {3 * AT_ONCE} rows")
    assert "rows are right (95 % interval" in page.words
    assert "labels “fine” are none of the model’s" in page.words
    assert len(table(page)) == 3 * AT_ONCE
    assert "cat" not in json.dumps(dict(page.at.query_params))


def test_what_a_label_means_can_be_said() -> None:
    page = pasted()
    box = next(each for each in page.at.selectbox if each.label == "“fine” means")
    assert box.value == "" and list(box.options)[1:] == ["bad", "good", "odd"]
    box.set_value("odd")
    page.run()
    press(page.at, f"Answer {3 * AT_ONCE} rows")
    assert "none of the model’s. Rows" not in page.words


def test_a_column_can_be_chosen_and_a_missing_one_is_named() -> None:
    page = pasted("a,b\nthe cat,good\na dog,bad\n")
    assert "wants a column for text" in page.warnings
    next(each for each in page.at.selectbox if each.label == "Text").set_value("a")
    page.run()
    press(page.at, "Answer 2 rows")
    assert "% of 2 rows are right" in page.words  # the labels are the gold, whatever it is called


def test_the_budget_keeps_what_was_answered_names_the_wait_and_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: Iterator[int] = iter(range(99))

    def limited(engine: Engine, task: TaskName, rows: Sequence[Asked]) -> list[Guess]:
        if next(calls) == 2:
            raise LimitError("You used 20 seconds. Wait 7 seconds.", 7)
        return answer_rows(engine, task, rows)

    monkeypatch.setattr("app.data.work.answer_rows", limited)
    page = answered()
    assert f"{2 * AT_ONCE} of {3 * AT_ONCE} rows are answered" in page.warnings
    assert "Wait 7 seconds" in page.warnings and len(table(page)) == 2 * AT_ONCE
    press(page.at, "Go on")
    assert not page.warnings and len(table(page)) == 3 * AT_ONCE


def test_a_click_shows_the_rows_of_a_cell_or_a_slice() -> None:
    page = answered()
    page.pick("cell", 1)
    shown = table(page)
    assert 0 < len(shown) < 3 * AT_ONCE or "There are no such rows" in page.words
    for forged in (-1, 10**6):
        page.pick("cell", forged)
    page.at.button_group(key="_data_only").set_value("wrong")
    page.run()
    assert set(table(page)["correct"]) <= {"✗"}


def test_a_row_that_is_selected_shows_its_answer_below() -> None:
    page = answered()
    assert "Select a row to see its answer" in page.words
    page.at.session_state["_data_row"] = 5
    page.run()
    assert "text: the cat sat 4" in page.words and "The model: " in page.words


def test_rows_of_strangers_are_answered_and_never_become_markup() -> None:
    text = NASTY["script"]
    page = pasted(json.dumps([{"text": f"cat {text}", "label": "good", text[:20]: text}] * 2))
    for each in [each for each in page.labels if each.startswith("Answer ")]:
        press(page.at, each)
    assert "<script>alert" not in page.markup and "<img src" not in page.markup


def test_rows_that_are_no_longer_kept_are_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    page = pasted()
    monkeypatch.setattr("app.faces.streamlit.features.data.TABLES", Cache(1))
    assert "no longer kept" in page.run().words


def test_a_file_is_read_at_once_and_what_is_no_table_is_refused() -> None:
    page = Visit(PAGE, table="own")
    page.at.file_uploader[0].upload("rows.csv", ROWS.encode(), "text/csv")
    page.run()
    assert f"Answer {3 * AT_ONCE} rows" in page.labels
    page.at.file_uploader[0].upload("rows.parquet", b"PAR1 nothing", "application/octet-stream")
    page.run()
    assert "cannot be read as Parquet" in page.warnings


def test_a_second_model_answers_beside_the_results_that_are_there() -> None:
    page = pasted("text,label\nthe cat,good\na dog,bad\n")
    press(page.at, "Answer 2 rows")
    first = list(table(page)["answer"])
    box = next(each for each in page.at.selectbox if each.label.startswith("Second model"))
    box.set_value(next(each for each in box.options if "mini" in each))
    page.run()
    assert list(table(page)["answer"]) == first and set(table(page)["second model"]) <= {
        "negative", "positive",
    }  # fmt: skip
    assert "Two models" in [each.label for each in page.at.tabs]
