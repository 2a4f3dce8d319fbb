"""The page of tables: what it says of the rows, and the files it gives."""

import csv
import io
import json

import pyarrow.parquet as pq
import pytest

from app.data.judged import Judged, compare
from app.data.samples import SAMPLES
from app.data.tables import read_pasted
from app.declared import declared
from app.engine.models import Engine
from app.features.data import view, view_tabs
from app.features.data.task import MOST, begun, data, result_of
from app.settings import BUNDLED_MODEL
from app.words.screen import Table
from bert_core.errors import BertError, InputError
from tests.conftest import NASTY
from tests.sample_answers import answered
from tests.snippets import ran

ROWS = """text,label,shop
the cat sat,good,north
a dog,bad,north
the river,0,south
=1+1,ODD,south
mat,unheard,south
,good,south
"""


@pytest.mark.parametrize(
    ("name", "headline", "tabs"),
    [
        ("reviews", "rows are right (95 % interval", ["Labels", "How sure", "Slices"]),
        ("names", "entities are found, and", ["Labels", "How sure", "Slices"]),
        ("questions", "answers match exactly", ["How sure", "Slices"]),
        ("gaps", "among the first five", ["How sure", "Slices"]),
        ("pairs", "rows are right (95 % interval", ["Labels", "How sure", "Slices"]),
        ("choices", "rows are right", ["How sure", "Slices"]),
    ],
)
def test_every_kind_of_table_has_headline_tabs_and_code_with_the_same_answers(
    name: str, headline: str, tabs: list[str]
) -> None:
    found = answered(name)
    screen = view.screen(found)
    assert headline in screen.headline and list(screen.tabs) == tabs
    assert all(make() for make in screen.tabs.values()) and screen.report().blocks
    _, printed = ran(view.snippet(found, BUNDLED_MODEL))
    labels = {"negative": "0", "positive": "1", "follows": "0", "does not follow": "1"}
    for row, line in zip(found.rows, printed.splitlines(), strict=False):
        assert labels.get(row.answer, row.answer.removesuffix(".")) in line or name == "names"


def test_labels_are_read_and_what_is_left_out_is_named(tiny_engine: Engine) -> None:
    found = data(tiny_engine, ROWS)
    assert found.task == "classification" and found.columns == {"text": "text", "gold": "label"}
    assert found.meanings == {"good": "good", "bad": "bad", "0": "bad", "ODD": "odd", "unheard": ""}
    assert found.unknown == ("unheard",) and found.report.counted == 4
    assert found.bad == ("Row 6: found nothing in 'text'; expected a text.",)
    said = " ".join(map(str, view.notes(found)))
    assert "unheard" in said and "Row 6" in said
    right = sum(row.answer == row.wanted for row in found.rows)
    assert found.report.right is not None and found.report.right.right == right
    table = view.rows_table(found, found.rows)  # the worst first
    signs = list(table["correct"])
    assert signs == sorted(signs, key="✗–✓".index)
    losses = [loss for sign, loss in zip(signs, table["loss"], strict=True) if sign == "✗"]
    assert losses == sorted(losses, reverse=True)


def test_without_gold_the_rows_are_answered_and_nothing_is_counted(tiny_engine: Engine) -> None:
    screen = view.screen(data(tiny_engine, "review\nthe cat\na dog\n"))
    assert screen.headline == "2 rows answered; the table has no right answers to compare with."
    assert not screen.tabs


def test_rows_can_be_chosen_by_what_they_have_in_common(tiny_engine: Engine) -> None:
    found = data(tiny_engine, ROWS)
    tests = {
        "wrong": lambda row: row.right is False,
        "right": lambda row: row.right is True,
        "shop=south": lambda row: (
            found.values[row.number]["shop"] == "south" and row.right is not None
        ),
        "word=c*": lambda row: "cat" in row.texts[0],
        "bad → odd": lambda row: (row.wanted, row.answer) == ("bad", "odd"),
    }
    for only, test in tests.items():
        assert view_tabs.chosen(found, only) == [row for row in found.rows if test(row)], only


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_files_have_all_rows_and_no_formula(tiny_engine: Engine, kind: str) -> None:
    content = view.written(data(tiny_engine, ROWS), kind)
    if kind == "csv":
        rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
        assert rows[3]["text"] == "'=1+1"
    elif kind == "jsonl":
        rows = [json.loads(line) for line in content.splitlines()]
    else:
        rows = pq.read_table(io.BytesIO(content)).to_pylist()
    assert [int(row["row"]) for row in rows] == [1, 2, 3, 4, 5]
    assert {"text", "shop", "label", "wanted", "answer", "sure"} <= rows[0].keys()


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
def test_any_text_is_shown_and_nothing_of_it_becomes_markup(tiny_engine: Engine, text: str) -> None:
    rows = json.dumps([{"text": text, "label": text}, {"text": "the cat", "label": "good"}])
    found = data(tiny_engine, rows, of="classification")
    number = found.rows[0].number
    blocks = (*view.opened(found, number), *view.screen(found).report().blocks)
    drawn = "".join(map(str, blocks))
    assert "<script" not in drawn and "<img" not in drawn


def test_a_row_marks_the_answer_and_names_what_was_expected(tiny_engine: Engine) -> None:
    found = data(tiny_engine, "text,label\nthe cat,good\nthe cat,bad\nthe cat,odd\n")
    wrong = next(row for row in found.rows if not row.right)
    bars = str(view.opened(found, wrong.number)[1].wide)  # type: ignore[union-attr]
    assert bars.count("bx-svg-mark") == 1 and f"{wrong.wanted} (expected)" in bars
    assert bars.index(f">{wrong.answer}<") < bars.index("bx-svg-mark")


def test_two_models_are_compared_row_by_row(tiny_engine: Engine) -> None:
    work = begun(tiny_engine, read_pasted(ROWS, most=9), "guess", "", "")
    works = [(work, tiny_engine), (work.beside(tiny_engine, tiny_engine), tiny_engine)]
    assert [list(each.answer(engine)) for each, engine in works] == [[5], [5]]
    found = result_of(*works)
    assert found.compared is not None and found.compared.p == 1.0
    assert (found.compared.first_only, found.compared.second_only) == (0, 0)
    screen = view.screen(found)
    assert "right and wrong in the same rows" in str(screen.tabs["Two models"]()[0])
    table = next(part for part in screen.parts if isinstance(part, Table))
    assert list(table.rows["second model"]) == list(table.rows["answer"])  # type: ignore[index]


def test_the_same_word_at_another_place_is_another_answer() -> None:
    rows = [
        Judged(1, ("Rome Rome",), "", "Rome (LOC)", None, None, names=frozenset({("LOC", *place)}))
        for place in ((0, 4), (5, 9))
    ]
    assert [compare(("a", "b"), rows[:1], [row]).same.right for row in rows] == [1, 0]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"table": ""}, "Found no rows"),
        ({"table": "a,b\n1,2\n"}, "wants a column for text"),
        ({"table": ROWS, "columns": "text=odd"}, "no column 'odd'"),
        ({"table": ROWS, "labels": "good=nice"}, "found 'nice'; expected one of bad, good, odd"),
        ({"table": ROWS, "beside": "no such model"}, "no such model"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(
    tiny_engine: Engine, given: dict[str, str], error: str
) -> None:
    with pytest.raises(BertError, match=error):
        data(tiny_engine, **given)


def test_a_call_takes_so_many_rows_and_says_if_there_are_more(tiny_engine: Engine) -> None:
    found = data(tiny_engine, "text\n" + "cat\n" * (MOST + 1))
    assert found.cut and len(found.rows) == MOST
    assert "more rows than are read here" in " ".join(map(str, view.notes(found)))


def test_the_declaration_has_what_every_interface_needs() -> None:
    task = declared("data")
    assert [each.name for each in task.typed] == ["table"]
    assert {str(each.values["table"]) for each in task.examples} == set(SAMPLES)
    with pytest.raises(InputError, match="expected guess or classification"):
        task.read({"table": "x", "of": "odd"})
