"""The model card without a page: what is reached, what a curve may be, what bias says."""

import base64
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.features.model_card import view as model_card
from app.features.model_card import view_leanings as leanings
from app.features.model_card.result import Reached, Verified, reached
from app.features.model_card.view_curves import curve
from app.features.model_card.view_text import sections
from app.features.model_card.view_verified import number, report
from app.models.papers import read_papers, split_card
from app.words.blocks import record_table
from app.words.charts import csv
from bert_core.bundled import bundled_folder, bundled_names
from bert_core.bundled.figures import Figure
from bert_core.bundled.leanings import Bias, Estimate, Leaning
from bert_core.verification import FileCheck, OutputCheck, TextCheck, VerificationReport

HEAD = '<svg xmlns="http://www.w3.org/2000/svg">'


@pytest.mark.parametrize(
    ("card", "rest"),
    [
        ("---\na: b\n---\nText", "Text"),
        ("\ufeff---\r\na: b\r\n---\r\nText\r\n", "Text"),
        ("Text\n---\nmore", "Text\n---\nmore"),
        ("---\nnever closed", "---\nnever closed"),
        ("", ""),
    ],
)
def test_front_matter_is_left_out(card: str, rest: str) -> None:
    assert split_card(card)[1] == rest


@pytest.mark.parametrize(
    ("share", "floor", "goal", "expected", "said"),
    [
        (0.8, 0.5, 0.7, Reached.GOAL, "goal reached"),
        (0.6, 0.5, 0.7, Reached.FLOOR, "floor reached, goal not"),
        (0.6, 0.5, None, Reached.FLOOR, "floor reached"),
        (0.4, 0.5, 0.7, Reached.NOTHING, "floor not reached"),
        (0.4, None, 0.7, Reached.NOTHING, "goal not reached"),
        (0.7, None, 0.7, Reached.GOAL, "goal reached"),
        (0.4, None, None, Reached.NO_AIM, "nothing was set"),
    ],
)
def test_what_a_figure_reaches_is_said(
    share: float, floor: float | None, goal: float | None, expected: Reached, said: str
) -> None:
    found = Figure("t", "m", share, 0.1, 0.9, 10, "w", floor, goal)
    assert reached(found) is expected
    assert model_card.words_of(found) == said


def test_a_goal_above_chance_that_the_interval_does_not_clear_is_not_reached() -> None:
    found = Figure("t", "m", 0.5, 0.2, 0.8, 10, "w", 0.25, 0.45, chance=0.25)
    assert reached(found) is Reached.NOTHING


HOSTILE = Figure("<b>" * 30, "<img src=x>" * 9, 0.5, 0.4, 0.6, 9, "</ul>")


def test_names_of_figures_never_become_markup() -> None:
    fig = model_card.figures_chart([HOSTILE])
    labels = [note.text for note in fig.layout.annotations]
    assert "<b>" not in "".join(labels) and "<img" not in "".join(labels)
    drawn = str(model_card.figures_table([HOSTILE])) + str(model_card.meanings([HOSTILE]))
    assert "<b>" not in drawn and "<img" not in drawn and drawn.count("</ul>") == 1


def test_a_chart_holds_every_figure_with_its_interval_and_aims() -> None:
    figures = [
        Figure("a", "m", 0.8, 0.7, 0.9, 10, "w", 0.5, 0.75),
        Figure("b", "m", 0.3, 0.2, 0.4, 10, "w", 0.5, None),
    ]
    traces = {trace.name: trace for trace in model_card.figures_chart(figures).data}
    assert set(traces) == {"goal reached", "floor not reached", "floor", "goal"}
    good = traces["goal reached"]
    assert list(good.x) == [0.8]
    assert good.error_x.array[0] == pytest.approx(0.1)
    assert good.error_x.arrayminus[0] == pytest.approx(0.1)
    assert list(traces["floor"].x) == [0.5, 0.5] and list(traces["goal"].x) == [0.75]
    assert len({trace.marker.symbol for trace in traces.values()}) == 4
    assert csv(model_card.frame(figures)).decode("utf-8-sig").count("\n") == 3


def test_a_plain_drawing_is_shown_as_a_picture_with_its_title() -> None:
    svg = f'{HEAD}<title>Loss over\n 9 steps</title><path d="M0 0L1 1"/></svg>'.encode()
    drawn = str(curve("curve-1.svg", svg))
    assert 'alt="Loss over 9 steps"' in drawn
    assert base64.b64encode(svg).decode() in drawn
    assert 'alt="Learning curve, curve-2.svg"' in str(
        curve("curve-2.svg", f"{HEAD}</svg>".encode())
    )


@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        "<foreignObject/>",
        '<image href="https://a.example/x.png"/>',
        '<use href="#a"/>',
        '<path fill="url(#a)"/>',
        '<path onload="x"/>',
        '<path style="fill: red"/>',
        '<a xmlns:x="http://www.w3.org/1999/xlink" x:href="y"/>',
        "<style>* { }</style>",
        "<?xml-stylesheet href='x'?>",
        "<!-- <b> -->",
        '<b xmlns="http://www.w3.org/1999/xhtml"/>',
        "<g>",
    ],
)
def test_anything_else_than_a_plain_drawing_is_not_shown(inside: str) -> None:
    drawn = str(curve("curve-1.svg", f"{HEAD}{inside}</svg>".encode()))
    assert "<img" not in drawn and "curve-1.svg is not shown" in drawn


@pytest.mark.parametrize(
    "svg",
    [
        b"\xff\xfe",
        b"",
        b'<!DOCTYPE a [<!ENTITY b "c">]><svg xmlns="http://www.w3.org/2000/svg">&b;</svg>',
        (HEAD + "<g/>" * 20_001 + "</svg>").encode(),
        (HEAD + "</svg>").encode("utf-16"),
        b"<svg/>",
    ],
)
def test_files_that_are_no_drawing_are_not_shown(svg: bytes) -> None:
    assert "is not shown" in str(curve("curve-1.svg", svg))


@pytest.mark.parametrize("name", bundled_names())
def test_what_lies_beside_bundled_weights_is_all_shown(name: str) -> None:
    papers = read_papers(bundled_folder(name))
    assert papers.problems == () and papers.curves
    for file, svg in papers.curves:
        assert "<img" in str(curve(file, svg))
    titles = [part.title for part in sections(papers.card)]
    assert {"", "Licence", "Data", "Recipe", "Limits", "Hash"} <= set(titles)


def lean(occupation: str, log_odds: float, low: float, high: float) -> Leaning:
    return Leaning(occupation, Estimate(log_odds, low, high), log_odds, log_odds)


ROWS = (lean("nurse", -2.0, -2.5, -1.5), lean("judge", 1.0, 0.5, 1.5), lean("<b>", 0.1, -0.2, 0.4))
BIAS = Bias(
    ("he", "she"), ("t",) * 12, ROWS, Estimate(0.69, 0.5, 0.9), Estimate(0.5, 0.2, 0.8), -0.2
)


def test_bias_is_said_in_words_and_drawn_with_its_intervals() -> None:
    said = str(leanings.summary(BIAS))
    assert "2.0 times as likely as the other" in said
    assert "Furthest towards “he”: judge (+1.00). Furthest towards “she”: nurse (-2.00)." in said
    one_sided = str(leanings.summary(replace(BIAS, leanings=ROWS[1:])))
    assert "None leans to “she”; nearest to it: &lt;b&gt; (+0.10)." in one_sided
    assert "it prefers “she”, 1.2 times" in said
    names = [trace.name for trace in leanings.chart(BIAS).data]
    assert names == ["leans to “he”", "leans to “she”", "cannot be told"]
    assert list(leanings.chart(BIAS).layout.yaxis.ticktext) == ["judge", "&lt;b&gt;", "nurse"]
    assert "1 lean to “he”, 1 to “she”, for 1 it cannot be told" in leanings.describe(BIAS)
    assert leanings.table(BIAS)["log-odds (nats)"].tolist() == [1.0, 0.1, -2.0]


def test_every_occupation_has_its_own_row_and_both_ends_of_its_interval() -> None:
    uneven = (
        lean("nurse", -2.0, -2.5, -1.0),
        lean("cook", -1.0, -1.25, -0.5),
        lean("judge", 1.0, 0.75, 2.0),
        lean("clerk", 0.1, -0.5, 0.25),
    )
    fig = leanings.chart(replace(BIAS, leanings=uneven))
    names = list(fig.layout.yaxis.ticktext)
    assert fig.layout.yaxis.range[0] > fig.layout.yaxis.range[1], "the first row is on top"
    drawn = {
        names[at]: (middle, middle - less, middle + more)
        for trace in fig.data
        for at, middle, less, more in zip(
            trace.y, trace.x, trace.error_x.arrayminus, trace.error_x.array, strict=True
        )
    }
    assert list(names) == ["judge", "clerk", "cook", "nurse"]
    for each in uneven:
        odds = each.log_odds
        assert drawn[each.occupation] == pytest.approx((odds.value, odds.low, odds.high))


def test_every_figure_has_its_own_row_its_interval_and_its_aims() -> None:
    figures = [
        Figure("a", "m", 0.8, 0.75, 0.9, 10, "w", 0.5, None),
        Figure("b", "m", 0.7, 0.6, 0.72, 10, "w", None, 0.65),
        Figure("c", "m", 0.3, 0.2, 0.31, 10, "w", 0.4, 0.55),
    ]
    fig = model_card.figures_chart(figures)
    rows = [note.y for note in fig.layout.annotations]
    assert fig.layout.yaxis.range[0] > fig.layout.yaxis.range[1], "the first row is on top"

    def row(y: float) -> int:
        return sum(top < y for top in rows) - 1

    found: dict[str, dict[int, object]] = {"floor": {}, "goal": {}, "dot": {}}
    for trace in fig.data:
        for at, (y, x) in enumerate(zip(trace.y, trace.x, strict=True)):
            if trace.name in ("floor", "goal"):
                found[trace.name][row(y)] = x
            else:
                low, high = trace.error_x.arrayminus[at], trace.error_x.array[at]
                found["dot"][row(y)] = pytest.approx((x, x - low, x + high))
    assert found["floor"] == {0: 0.5, 2: 0.4} and found["goal"] == {1: 0.65, 2: 0.55}
    for at, each in enumerate(figures):
        assert found["dot"][at] == (each.share, each.low, each.high)


@pytest.mark.parametrize("agrees", [True, False])
def test_a_table_is_open_only_where_something_in_it_disagrees(agrees: bool) -> None:
    files = (FileCheck("a", "0", "0"), FileCheck("b", "0", "0" * agrees))
    outputs = (OutputCheck("BertModel", "x", (0,), 9, 1.0, 0.1, 0.0),)
    texts = (TextCheck("t", None, (1,), (1,)),)
    compared = VerificationReport("m", files, texts, outputs)
    found = Verified(compared, "f", True, datetime(2020, 1, 2, tzinfo=UTC), 1.0)
    folds = re.findall(r"<details([^>]*)><summary>(.*?)</summary>", str(report(found)))
    assert [title.partition(" ")[2] for _, title in folds] == [
        "outputs computed again",
        "files and their hashes",
    ]
    assert ["open" in attributes for attributes, _ in folds] == [False, not agrees]


def test_a_table_of_records_stays_a_table_for_who_hears_it() -> None:
    drawn = str(record_table("Figures", ("a", "b"), [("x", "<y>")]))
    assert 'role="table" aria-label="Figures"' in drawn
    assert '<th scope="row" role="rowheader">x</th>' in drawn
    assert '<td role="cell" data-label="b"><span>&lt;y&gt;</span></td>' in drawn


def test_differences_are_printed_also_where_there_is_no_number() -> None:
    assert number(None) == "not computed"
    assert number(float("inf")) == "no number"
    assert number(0.00012) == "0.00012"
    assert number(12_345.6) == "12,346"


def test_words_of_any_length_end_above_their_dot() -> None:
    names = ["short", "a name of some " * 5, "a much longer name of a figure " * 8]
    figures = [Figure(name, "m", 0.02, 0.01, 0.1, 10, "w", 0.5, None) for name in names]
    fig = model_card.figures_chart(figures)
    (dots,) = [list(trace.y) for trace in fig.data if trace.name == "floor not reached"]
    tops = [note.y for note in fig.layout.annotations]
    lines = [note.text.count("<br>") + 1 for note in fig.layout.annotations]
    assert max(lines) > 3 and dots == sorted(dots)
    assert fig.layout.height >= fig.layout.yaxis.range[0]  # a unit is a pixel at least
    for top, count, dot, following in zip(tops, lines, dots, [*tops[1:], 1e9], strict=True):
        assert top + 18 * count + 8 <= dot <= following - 8
