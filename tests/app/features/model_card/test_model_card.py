"""The model card without a page: what is reached, what a curve may be, what bias says."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.engine.models import Engine
from app.engine.models.papers import read_papers, split_card
from app.faces.streamlit.about import BESIDE
from app.faces.streamlit.address import old_labels
from app.features.model_card import view as model_card
from app.features.model_card import view_leanings as leanings
from app.features.model_card.result import Reached, Verified, reached
from app.features.model_card.task import model_card as card_of
from app.features.model_card.view_curves import curve, curves_picture, read_curves
from app.features.model_card.view_text import sections
from app.features.model_card.view_verified import number, report
from app.settings import BUNDLED_MODEL
from app.words.blocks import record_table
from app.words.pictures import figure
from bert_core.bundled import bundled_folder, bundled_names
from bert_core.bundled.figures import Bin, Figure, read_figures
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
    shown = figure(model_card.figures_picture([HOSTILE], "figures"))
    drawn = f"{shown}{model_card.figures_table([HOSTILE])}{model_card.meanings([HOSTILE])}"
    assert "<b>" not in drawn and "<img" not in drawn and drawn.count("</ul>") == 1


FIGURES = [
    Figure("a", "m", 0.8, 0.75, 0.9, 10, "w", 0.5, None),
    Figure("b", "m", 0.7, 0.6, 0.72, 10, "w", None, 0.65),
    Figure("c", "m", 0.3, 0.2, 0.31, 10, "w", 0.4, 0.55),
]
BAR = (
    r'<g><rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="14" class="(.*?)"></rect>'
    r'<path d="M([\d.]+) [\d.]+v8m0-4H([\d.]+)m0-4v8"[^>]*></path>'
    r'(?:<line x1="([\d.]+)"[^>]*class="bx-card-floor"[^>]*></line>)?'
    r'(?:<path d="M([\d.]+) [^"]*" class="bx-card-goal"></path>)?</g>'
)


@pytest.mark.parametrize("figures", [FIGURES, [replace(f, task=f.task * 40) for f in FIGURES]])
@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_every_figure_has_its_bar_its_interval_and_its_aims(
    figures: list[Figure], size: str
) -> None:
    drawn = getattr(model_card.figures_picture(figures, "figures"), size).markup
    bars = re.findall(BAR, drawn)
    grid = [float(x) for x in re.findall(r'<line x1="([\d.]+)"[^>]*bx-svg-grid', drawn)]
    start, room = grid[0], grid[-1] - grid[0]
    assert "100 %" in drawn and len(bars) == len(figures)

    def share(x: str) -> float | None:
        return round((float(x) - start) / room, 3) if x else None

    for each, (x, _, width, look, low, high, floor, goal) in zip(figures, bars, strict=True):
        assert float(x) == start
        assert float(width) / room == pytest.approx(each.share, abs=1e-3)
        assert (share(low), share(high)) == (each.low, each.high)
        assert (share(floor), share(goal)) == (each.floor, each.goal)
        assert ("bx-card-missed" in look) == (each.task[0] == "c")
    assert [float(y) for _, y, *_ in bars] == sorted(float(y) for _, y, *_ in bars)
    signs = re.findall(r'class="bx-card-value">(.*?)</text>', drawn)
    assert [sign.partition("%")[2].strip() for sign in signs] == ["✓ floor", "✓ goal", "✗"]


def test_names_above_their_bars_are_whole() -> None:
    figures = model_card.of_calibration(read_figures(bundled_folder(BUNDLED_MODEL)))
    shown = model_card.figures_picture(figures, "calibration")
    for drawn in (shown.wide.markup, shown.narrow.markup):
        assert "…" not in drawn
        lines = re.findall(r'class="bx-card-name">(.*?)</text>', drawn)
        assert " ".join(lines) == " ".join(each.task for each in figures)


def test_small_figures_get_a_short_axis_and_the_table_every_number() -> None:
    errors = [replace(each, share=0.01, low=0.0, high=0.02, floor=0.04, goal=None,
                      lower_is_better=True) for each in FIGURES]  # fmt: skip
    shown = model_card.figures_picture(errors, "calibration")
    assert ">5 %</text>" in shown.wide.markup and ">100 %" not in shown.wide.markup
    assert list(shown.table["share"]) == [0.01] * 3 and list(shown.table["floor"]) == [0.04] * 3


def test_a_task_is_drawn_once_and_errors_and_bias_elsewhere() -> None:
    names = ["a", "a", "calibration error, b", "bias, c", "d, first guess", "d, among first five",
             "e, among first five"]  # fmt: skip
    figures = [
        replace(FIGURES[0], task=name, measured_on=str(n), lower_is_better=n == 2)
        for n, name in enumerate(names)
    ]
    figures.append(replace(FIGURES[0], task="f", floor=None, goal=None))
    assert [(f.task, f.measured_on) for f in model_card.of_tasks(figures)] == [
        ("a", "0"),
        ("d, first guess", "4"),
        ("e, among first five", "6"),
    ]
    assert [f.task for f in model_card.of_calibration(figures)] == ["b (2)"]


CHART = f"""{HEAD}<title>Loss over
 9 steps</title>
<line x1="60" y1="300" x2="700" y2="300" stroke="#ddd"/><text x="5" y="3" text-anchor="end">0</text>
<line x1="60" y1="100" x2="700" y2="100" stroke="#ddd"/><text x="5" y="3" text-anchor="end">4</text>
<text x="60" y="9" text-anchor="middle">0</text><text x="660" y="9" text-anchor="middle">300</text>
<text x="5" y="9" text-anchor="middle">step</text><text x="64" y="16">loss (nats)</text>
<polyline points="60,100 260,150.0 660,250" fill="none"/><line x1="1" y1="2" x2="3" y2="2"/>
<text x="1" y="2">masked &lt;b&gt;</text>
<polyline points="60,250 660,300" fill="none"/><line x1="1" y1="2" x2="3" y2="2"/>
<text x="1" y="2">pairs</text></svg>"""


def test_a_chart_is_read_in_the_units_of_its_axes() -> None:
    found = read_curves(CHART.encode())
    assert found is not None
    assert (found.title, found.x, found.y) == ("Loss over 9 steps", "step", "loss (nats)")
    assert found.lines["masked <b>"].tolist() == [[0, 4], [100, 3], [300, 1]]
    assert found.lines["pairs"].tolist() == [[0, 1], [300, 0]]


def test_a_chart_is_drawn_again_with_every_point_and_its_numbers() -> None:
    found = read_curves(CHART.encode())
    assert found is not None
    shown = curves_picture("curve-1.svg", found)
    for drawing in (shown.wide.markup, shown.narrow.markup):
        points = [[tuple(map(float, each.split(","))) for each in line.split()]
                  for line in re.findall(r'<polyline points="(.*?)"', drawing)]  # fmt: skip
        zero, four = points[1][1][1], points[0][0][1]
        assert [round((zero - y) / (zero - four) * 4, 2) for _, y in points[0]] == [4, 3, 1]
        assert zero > four, "4 is above 0"
        (left, _), (middle, _), (right, _) = points[0]
        assert (middle - left) / (right - left) == pytest.approx(1 / 3, abs=1e-3)
        assert "masked &lt;b&gt;" in drawing and "<b>" not in drawing
    assert shown.alt.endswith("Last values, loss (nats): masked <b> 1.00, pairs 0.00.")
    assert shown.table.iloc[0].tolist() == [0, 4, 1]
    assert shown.table.iloc[-1].tolist() == [300, 1, 0]


@pytest.mark.parametrize(
    "file",
    [
        b"\xff\xfe",
        b"",
        b'<!DOCTYPE a [<!ENTITY b "c">]><svg xmlns="http://www.w3.org/2000/svg">&b;</svg>',
        (HEAD + "<g/>" * 20_001 + "</svg>").encode(),
        (HEAD + "</svg>").encode("utf-16"),
        b"<svg/>",
        f"{HEAD}<script>alert(1)</script></svg>".encode(),
        CHART.replace("</svg>", "<!-- <b> --></svg>").encode(),
        CHART.replace("260,150.0", "260,nan").encode(),
        CHART.replace("260,150.0", "50,150").encode(),
        CHART.replace("260,150.0", "260").encode(),
        CHART.replace(">300<", "><").encode(),
        CHART.replace(' text-anchor="end"', "").encode(),
        CHART.replace("60,100 260,150.0", "60,100 " * 2_001).encode(),
    ],
)
def test_files_that_are_no_chart_are_not_shown(file: bytes) -> None:
    drawn = str(curve("curve-<1>.svg", file))
    assert "curve-&lt;1&gt;.svg is not shown" in drawn and "<script" not in drawn


@pytest.mark.parametrize("name", bundled_names())
def test_what_is_beside_bundled_weights_is_all_shown(name: str) -> None:
    folder = bundled_folder(name)
    papers = read_papers(folder)
    assert papers.problems == () and papers.curves
    assert {file for file, _ in papers.curves} == {each.name for each in folder.glob("curve-*")}
    for file, content in papers.curves:
        drawn = str(curve(file, content))
        assert drawn.count("<polyline") == 2 * content.count(b"<polyline") > 0
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
    assert "Furthest towards “he”: judge (+1.00). Furthest towards “she”: nurse (−2.00)." in said
    one_sided = str(leanings.summary(replace(BIAS, leanings=ROWS[1:])))
    assert "None leans towards “she”; nearest to it: &lt;b&gt; (+0.10)." in one_sided
    assert "“she” is 1.2 times as likely" in said
    assert "● leans to “he”, ◆ to “she”, ○ cannot be told" in str(leanings.legend(BIAS))
    names = re.findall(r'bx-svg-name bx-svg-small">(.*?)</text>', leanings.chart(BIAS).wide.markup)
    assert names[:3] == ["judge", "&lt;b&gt;", "nurse"]
    assert "1 lean to “he”, 1 to “she”, for 1 it cannot be told" in leanings.chart(BIAS).alt
    assert leanings.chart(BIAS).table["log-odds (nats)"].tolist() == [1.0, 0.1, -2.0]


ROW = (
    r'<text x="[\d.]+" y="([\d.]+)" class="bx-svg-name bx-svg-small">(\w+)</text>'
    r'<path d="M([\d.]+) [\d.]+v6m0-3H([\d.]+)m0-3v6"[^>]*></path>'
    r'<\w+ (?:cx="([\d.]+)"|d="M([\d.]+) )[^>]*class="bx-card-(\w+)"'
)


@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_every_occupation_has_its_own_row_and_both_ends_of_its_interval(size: str) -> None:
    uneven = (
        lean("nurse", -2.0, -2.5, -1.0),
        lean("cook", -1.0, -1.25, -0.5),
        lean("judge", 1.0, 0.75, 2.0),
        lean("clerk", 0.1, -0.5, 0.25),
    )
    drawn = getattr(leanings.chart(replace(BIAS, leanings=uneven)), size).markup
    ticks = dict(
        zip(
            re.findall(r'bx-card-tick">(.*?)</text>', drawn),
            [float(x) for x in re.findall(r'<line x1="([\d.]+)"', drawn)],
            strict=True,
        )
    )
    unit = (ticks["+2"] - ticks["−2"]) / 4

    def nats(x: str) -> float:
        return (float(x) - ticks["0"]) / unit

    rows = re.findall(ROW, drawn)
    assert [name for _, name, *_ in rows] == ["judge", "clerk", "cook", "nurse"]
    assert [float(y) for y, *_ in rows] == sorted(float(y) for y, *_ in rows)
    assert [side for *_, side in rows] == ["first", "neither", "second", "second"]
    odds = {each.occupation: each.log_odds for each in uneven}
    for _, name, low, high, dot, diamond, _ in rows:
        assert nats(low) == pytest.approx(odds[name].low, abs=0.01)
        assert nats(high) == pytest.approx(odds[name].high, abs=0.01)
        assert nats(dot or diamond) == pytest.approx(odds[name].value, abs=0.01)


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


def test_the_direction_of_each_calibration_error_is_said() -> None:
    rows = (
        Figure("shy", "m", 0.06, 0.0, 0.1, 10, "w", bins=(Bin(10, 0.839, 0.9),)),
        Figure("bold", "m", 0.05, 0.0, 0.1, 10, "w", bins=(Bin(4, 0.6, 0.5), Bin(6, 0.9, 0.8))),
        Figure("unknown", "m", 0.05, 0.0, 0.1, 10, "w"),
    )
    told = re.sub("<[^>]*>", " ", str(model_card.stated_table(rows)))
    assert "too unsure by 6.1 points" in told and "too sure by 10.0 points" in told
    assert "unknown" not in told
    assert str(model_card.stated_table(rows[2:])) == ""


def test_the_bundled_model_is_told_from_bert_base() -> None:
    engine = Engine(BUNDLED_MODEL)
    card = card_of(engine)
    told = {each.what: each for each in card.beside}
    assert (told["layers"].here, told["layers"].base) == ("6", "12")
    assert told["trained from"].here == engine.facts.began
    statistics = engine.head_statistics()
    assert statistics is not None
    by_layer = statistics.statistics.to_sep.mean(axis=1)
    assert told["attention of a layer to [SEP]"].here == (
        f"at most {100 * by_layer.max():.0f} %, in layer {by_layer.argmax()}"
    )
    kept = "".join(map(str, model_card.screen(card).report().drawn()))
    assert all(each.here in kept and each.base in kept for each in card.beside)


def test_a_model_without_papers_is_compared_by_its_sizes(tiny_engine: Engine) -> None:
    assert [each.what for each in card_of(tiny_engine).beside] == [
        "layers", "heads in a layer", "width of the vectors", "weights",
    ]  # fmt: skip


def test_the_foot_of_every_page_links_to_a_tab_that_is_there() -> None:
    assert BESIDE in [old_labels()["tab"][title] for title in model_card.TABS]
