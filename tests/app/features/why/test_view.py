"""What is drawn are the numbers of the result: directions and lengths, bands and dots."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.engine.models import Engine
from app.features.why import view, view_duel, view_text
from app.features.why.result import METHODS, SIGNED, Curve, Duel, Many, Story, WhyResult
from app.features.why.task import why
from app.features.why.task_measured import measured
from app.settings import ROOT
from tests.drawings import elements, words
from tests.snippets import ran

TEXT = "the cat <b>sat [MASK] the mat & dog"


@pytest.fixture(scope="module")
def result(tiny_engine: Engine) -> WhyResult:
    return why(tiny_engine, TEXT)


def with_scores(result: WhyResult, *scores: float) -> WhyResult:
    """Put made-up scores into the shown story, zeros after them."""
    padded = (*scores, *[0.0] * (len(result.words) - len(scores)))
    story = Story(result.method, padded, 0.002, 8, 9)
    return replace(result, stories=(story, *result.stories[1:]))


def bars(markup: object) -> list[tuple[str, float, float]]:
    """Return the kind, the top and the height of each word's bar."""
    found = re.findall(r'<g class="bx-why-bar".*?</g>', str(markup))
    rects = [elements(each, "rect")[0] for each in found]
    return [
        (each.attributes["class"].removeprefix("bx-why-"), each.number("y"), each.number("height"))
        for each in rects
    ]


def test_a_word_for_the_answer_rises_and_one_against_it_hangs(result: WhyResult) -> None:
    drawn = bars(view.text(with_scores(result, 2.0, -1.0, 0.5, 0.0)).wide)
    kinds, tops, heights = zip(*drawn, strict=True)
    assert kinds[:4] == ("for", "against", "for", "none")
    axis = tops[0] + heights[0]
    assert tops[1] == pytest.approx(axis)  # below the line
    assert tops[2] + heights[2] == pytest.approx(axis)
    assert heights[1] / heights[0] == pytest.approx(0.5, abs=0.01)
    assert heights[2] / heights[0] == pytest.approx(0.25, abs=0.01)


def test_a_sign_is_never_colour_alone(result: WhyResult) -> None:
    drawn = str(view.text(with_scores(result, 2.0, -1.0)).wide)
    groups = re.findall(r'<g class="bx-why-bar".*?</g>', drawn)
    assert ["bx-why-stripes" in each for each in groups[:3]] == [False, True, False]
    assert "for the answer" in words(drawn) and "against it" in words(drawn)
    plain = str(view.text(replace(result, method="attention")).wide)
    assert "bx-why-for" not in plain and "no sign" in words(plain)


def test_every_word_is_drawn_once_with_its_number(result: WhyResult) -> None:
    drawn = view.text(result)
    titles = [each.text for each in elements(drawn.wide, "title")]
    assert titles == [
        f"{word.text}: {view_text.printed(result, score)}"
        for word, score in zip(result.words, result.story.scores, strict=True)
    ]
    letters = [each.text for each in elements(drawn.wide, "text", "bx-why-word")]
    assert "".join(letters) == TEXT.replace(" ", "")
    table = drawn.table
    assert list(table.columns[1:-1]) == [view_duel.NAMES[each] for each in METHODS]
    for story in result.stories:
        np.testing.assert_allclose(table[view_duel.NAMES[story.method]], story.scores)
    assert "<b>" not in str(drawn.wide) and "&amp;" in str(drawn.wide)


def test_the_answer_is_framed_where_it_is(result: WhyResult) -> None:
    drawn = view.text(result).wide
    (frame,) = elements(drawn, "rect", "bx-why-asked")
    mask = next(each for each in elements(drawn, "text", "bx-why-word") if each.text == "[MASK]")
    assert frame.number("x") == pytest.approx(mask.number("x") - 1, abs=0.1)
    assert frame.number("width") == pytest.approx(mask.number("textlength") + 2, abs=0.1)


def test_two_texts_are_drawn_one_below_the_other(tiny_engine: Engine) -> None:
    pair = why(tiny_engine, "the cat sat", "a dog", of="next_sentence", duel=False)
    letters = elements(view.text(pair).narrow, "text", "bx-why-word")
    assert [each.text for each in letters] == ["the", "cat", "sat", "a", "dog"]
    assert letters[0].number("y") == letters[2].number("y") < letters[3].number("y")


def curve(comp: float, suff: float) -> Curve:
    return Curve((1.0, *[0.5] * 9, 0.0), (0.0, *[0.5] * 9, 1.0), comp, suff)


def test_the_verdict_compares_with_the_band(result: WhyResult) -> None:
    duel = Duel("mask", (curve(0.6, 0.1),) * 9, curve(0.2, 0.5), curve(0.1, 0.3), curve(0.5, 0.7))
    assert words(view.verdict(result, duel)) == (
        "✓ Survives deletion: hiding its strongest words lowers the probability by 0.60, "
        "random ones by 0.20 (5 to 95 %: 0.10 to 0.50)."
    )
    weak = replace(duel, curves=(curve(0.5, 0.1),) * 9)
    assert words(view.verdict(result, weak)).startswith("✗ Does not survive deletion:")


def test_falls_that_are_printed_as_zero_get_no_sign(result: WhyResult) -> None:
    still = Duel("mask", (curve(1e-7, 0),) * 9, curve(0, 0), curve(-1e-9, 0), curve(1e-9, 0))
    said = words(view.verdict(result, still))
    assert said.startswith("– Nothing to compare: hiding its strongest words lowers")
    assert "✓" not in said and "✗" not in said
    assert set(view_duel.ranking(result, still).table.iloc[:, -1]) == {"–"}
    moved = replace(still, curves=(curve(0.005, 0),) * 9)
    assert words(view.verdict(result, moved)).startswith("✓ Survives deletion:")


def test_the_gauge_shows_the_verdict(result: WhyResult) -> None:
    duel = Duel("mask", (curve(0.6, 0.1),) * 9, curve(0.2, 0.5), curve(0.1, 0.3), curve(0.5, 0.7))
    drawn = view_duel.gauge(duel, 0)
    (band,) = elements(drawn, "rect", "bx-why-band")
    (dot,) = elements(drawn, "circle", "bx-why-dot")
    end = band.number("x") + band.number("width")
    unit = band.number("width") / 0.4  # from 0.1 to 0.5
    assert dot.number("cx") == pytest.approx(end + 0.1 * unit, abs=0.1)
    assert str(drawn) in str(view.verdict(result, duel))


def test_dots_are_where_their_numbers_are(result: WhyResult) -> None:
    duel = result.duel
    drawn = view_duel.ranking(result, duel).wide
    names = [each.text for each in elements(drawn, "text")][: len(METHODS) + 1]
    by_name = {view_duel.NAMES[s.method]: c for s, c in zip(result.stories, duel.curves)}  # noqa: B905
    by_name["random order"] = duel.mean
    found = elements(drawn, "circle")
    for panel, value in enumerate(("comprehensiveness", "sufficiency")):
        x = [each.number("cx") for each in found[panel * 10 : panel * 10 + 10]]
        real = [getattr(by_name[name], value) for name in names]
        slope, start = np.polyfit(real, x, 1)
        np.testing.assert_allclose(slope * np.array(real) + start, x, atol=0.1)
        assert slope > 0
        band = elements(drawn, "rect", "bx-why-band")[panel]
        low = slope * getattr(duel.low, value) + start
        assert band.number("x") == pytest.approx(low, abs=0.1)
        high = slope * getattr(duel.high, value) + start
        assert band.number("x") + band.number("width") == pytest.approx(high, abs=1)
    comp = [by_name[name].comprehensiveness for name in names[:-1]]
    assert comp == sorted(comp, reverse=True)


def test_curves_are_drawn_through_their_numbers(result: WhyResult) -> None:
    drawn = view_duel.curves(result, result.duel)
    shown = elements(drawn.wide, "polyline", "bx-why-shown")
    for line, values in zip(
        shown, (result.duel.curves[0].deletion, result.duel.curves[0].insertion), strict=True
    ):
        points = np.array([p.split(",") for p in line.attributes["points"].split()], float)
        np.testing.assert_allclose(np.diff(points[:, 0]), np.diff(points[:, 0])[0], atol=0.02)
        slope, start = np.polyfit(values, points[:, 1], 1)
        assert slope < 0  # up is more
        np.testing.assert_allclose(slope * np.array(values) + start, points[:, 1], atol=0.1)
    assert len(elements(drawn.wide, "polyline", "bx-why-other")) == 2 * (len(METHODS) - 1)
    np.testing.assert_allclose(drawn.table["deletion, random"], result.duel.mean.deletion)


def test_side_by_side_each_method_has_its_own_scale(result: WhyResult) -> None:
    drawn = view.methods(result)
    kinds = [each.attributes["class"] for each in elements(drawn.wide, "rect")]
    rows = len(result.words)
    assert len(kinds) == rows * len(METHODS)
    for number, story in enumerate(result.stories):
        own = elements(drawn.wide, "rect")[number * rows : (number + 1) * rows]
        long = [each.number("width") for each in own]
        most = max(map(abs, story.scores))
        expected = [abs(score) / most * max(long) for score in story.scores]
        np.testing.assert_allclose(long, expected, atol=0.05)
        against = ["against" in each.attributes["class"] for each in own]
        assert against == [s < 0 and story.method in SIGNED for s in story.scores]


def test_the_sum_and_the_gap_are_printed(result: WhyResult) -> None:
    one = result.explained
    said = words(view.sums(with_scores(result, 1.25)))
    assert said.endswith("completeness gap 0.20 % at 8 steps.")
    assert f"Sum +1.25 of {view.signed(one.value - one.empty, 2)} nats" in said
    assert "need not sum" in words(view.sums(replace(result, method="occlusion")))
    assert "does not say for or against" in words(view.sums(replace(result, method="rollout")))


def test_leaders_are_named_by_sign(result: WhyResult) -> None:
    shown = with_scores(result, 0.5, 2.0, -1.0)
    assert view.leaders(shown) == "For it: “cat”, “the”. Against it: “<”."
    assert view.leaders(with_scores(result, 1.0)).endswith("Against it: no word.")


def test_the_code_computes_the_same(result: WhyResult, tiny_folder: Path) -> None:
    for method in ("integrated_gradients", "attention_last"):
        shown = replace(result, method=method, model=str(tiny_folder))
        names, _ = ran(view.snippet(shown))
        scores = [word.score for word in names["by_word"](names["found"].scores, names["encoding"])]
        np.testing.assert_allclose(scores, shown.story.scores, atol=1e-6)
        np.testing.assert_allclose(
            names["curves"].deletion, shown.duel.curves[shown.shown].deletion, atol=1e-6
        )


# -- what was measured on the bundled model ------------------------------------------------------


@pytest.fixture(scope="module")
def figures() -> Many:
    class Bundled:
        class provenance:
            fingerprint = re.search(
                r'weights = "(\w+)"',
                (ROOT / "app/features/why/measured.toml").read_text(encoding="utf-8"),
            )[1]

    found = measured(Bundled)  # type: ignore[arg-type]
    assert found is not None
    return found


def test_the_figures_are_those_of_the_document(figures: Many, tiny_engine: Engine) -> None:
    page = (ROOT / "docs" / "causes.md").read_text(encoding="utf-8")
    assert f"{figures.texts} sentences" in page
    names = {"attention_last": "attention, last layer", "random": "random order"}
    for each in figures.figures:
        pair = ((each.comprehensiveness, each.spread[0]), (each.sufficiency, each.spread[1]))
        cells = " | ".join(re.sub(r"\b0\.", ".", f"{v:.2f} ± {s:.2f}") for v, s in pair)
        assert f"| {names.get(each.method, each.method)} | {cells} |" in page
    assert measured(tiny_engine) is None  # of other weights nothing is said


def test_what_is_said_of_the_model_follows_from_the_figures(figures: Many) -> None:
    """Ties are overlapping intervals; "clearly better" is above."""
    said = words(view.measured_note(figures))
    for each in figures.figures:
        if each.method in ("shapley", "gradient", "gradient_x_input", "rollout", "random"):
            assert f"{each.comprehensiveness:.2f} ± {each.spread[0]:.2f}" in said
    own = {each.method: each for each in figures.figures}
    for low, how in ((0.9, "is clearly better"), (0.2, "is not clearly better")):
        good = replace(own["gradient_x_input"], comprehensiveness=low)
        other = replace(own["random"], comprehensiveness=0.24)
        some = [each for each in figures.figures if each.method not in (good.method, "random")]
        changed = replace(figures, figures=(*some, good, other))
        assert how in words(view.measured_note(changed))
    for low, how in ((0.6, "these are ties"), (0.1, "these are not all ties")):
        some = [replace(each, comprehensiveness=0.6, spread=(0.06, 0.04)) for each in own.values()]
        last = replace(own["occlusion"], comprehensiveness=low, spread=(0.06, 0.04))
        changed = replace(figures, figures=(*some, last))
        assert how in words(view.measured_note(changed))


def test_the_report_has_everything(result: WhyResult, figures: Many) -> None:
    whole = replace(result, many=replace(figures, texts=7), measured=figures, untrained=("a.b",))
    report = view.screen(whole).report()
    drawn = "".join(map(str, report.drawn()))
    for name in ("why", "why-methods", "why-curves", "why-duel", "why-texts", "why-measured"):
        assert f'data-name="{name}"' in drawn
    assert "no trained weights" in words(report.first[0])
    assert "7 shipped texts" in words(drawn)
    assert report.headline.count(result.explained.answer) >= 1
