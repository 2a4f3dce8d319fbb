"""What is drawn are the numbers of the result: directions and lengths, bands and dots."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.engine.models import Engine
from app.features.why import view, view_check
from app.features.why.result import Check, Curve, Method, WhyResult
from app.features.why.task import why
from tests.drawings import elements, words
from tests.snippets import ran

TEXT = "the cat <b>sat [MASK] the mat & dog"


@pytest.fixture(scope="module")
def result(tiny_engine: Engine) -> WhyResult:
    return why(tiny_engine, TEXT)


def with_scores(result: WhyResult, *scores: float) -> WhyResult:
    """Put made-up scores into the story, zeros after them."""
    padded = (*scores, *[0.0] * (len(result.words) - len(scores)))
    return replace(result, story=replace(result.story, scores=padded, gap=0.002, steps=8))


def by(result: WhyResult, method: Method) -> WhyResult:
    return replace(result, story=replace(result.story, method=method, gap=None))


def bars(result: WhyResult) -> list[tuple[str, float]]:
    """Return the kind and the length of each word's bar."""
    drawn = view.text(result)
    marks = [each.attributes for each in elements(drawn, "mark")]
    return [
        (each["class"].removeprefix("bx-why-bar bx-why-"), float(each["style"].split(":")[1]))
        for each in marks
    ]


def test_bars_are_as_long_as_scores_and_a_sign_is_never_colour_alone(result: WhyResult) -> None:
    drawn = bars(with_scores(result, 2.0, -1.0, 0.5, 0.0))
    assert drawn[:4] == [("for", 1), ("against", 0.5), ("for", 0.25), ("none", 0)]
    shown = str(view.text(with_scores(result, 2.0, -1.0)))
    assert "--bx-below:0.500" in shown  # room for what hangs below the line
    assert "for the answer" in words(shown) and "against it" in words(shown)
    plain = str(view.text(by(result, "attention")))
    assert "bx-why-for" not in plain and "no sign" in words(plain)


def test_every_word_is_drawn_once_with_its_number_and_the_answer_framed(result: WhyResult) -> None:
    drawn = view.text(result)
    assert [each.attributes["title"] for each in elements(drawn, "mark")] == [
        f"{word.text}: {view.printed(result, score)}"
        for word, score in zip(result.words, result.story.scores, strict=True)
    ]
    assert elements(drawn, "p")[0].text == TEXT
    table = view.text_table(result)
    np.testing.assert_allclose(table[view_check.NAMES[result.story.method]], result.story.scores)
    assert "<b>" not in str(drawn) and "&amp;" in str(drawn)
    (frame,) = elements(drawn, "span", "bx-why-asked")
    assert frame.text == "[MASK]"


def test_two_texts_are_drawn_one_below_the_other(tiny_engine: Engine) -> None:
    pair = why(tiny_engine, "the cat sat", "a dog", of="next_sentence", check=False)
    texts = elements(view.text(pair), "p", "bx-why-text")
    assert [each.text for each in texts] == ["the cat sat", "a dog"]


def curve(comp: float, suff: float) -> Curve:
    return Curve((1.0, *[0.5] * 9, 0.0), (0.0, *[0.5] * 9, 1.0), comp, suff)


def check(fall: float, chance: float, low: float, high: float) -> Check:
    curves = [
        Curve((1.0, *[0.5] * 9, 0.0), (0.0, *[0.5] * 9, 1.0), each, 0.1)
        for each in (fall, chance, low, high)
    ]
    return Check(*curves)


FAIR = (0.2, 0.1, 0.5)


def test_the_verdict_compares_with_the_band() -> None:
    assert words(view_check.verdict(check(0.6, *FAIR))) == (
        "✓ Survives deletion: hiding its strongest words lowers the probability by 0.60, "
        "random ones by 0.20 (5 to 95 %: 0.10 to 0.50)."
    )
    said = words(view_check.verdict(check(0.5, *FAIR)))
    assert said.startswith("✗ Does not survive deletion:")


def test_falls_that_are_printed_as_zero_get_no_sign() -> None:
    said = words(view_check.verdict(check(1e-7, 0, -1e-9, 1e-9)))
    assert said.startswith("– Nothing to compare: hiding its strongest words lowers")
    assert "✓" not in said and "✗" not in said
    moved = words(view_check.verdict(check(0.005, 0, -1e-9, 1e-9)))
    assert moved.startswith("✓ Survives deletion:")


def test_curves_are_drawn_through_their_numbers(result: WhyResult) -> None:
    found = result.check
    assert found is not None
    drawn = view_check.curves(result, found)
    shown = elements(drawn.wide, "polyline", "bx-why-shown")
    for line, values in zip(shown, (found.shown.deletion, found.shown.insertion), strict=True):
        points = np.array([p.split(",") for p in line.attributes["points"].split()], float)
        np.testing.assert_allclose(np.diff(points[:, 0]), np.diff(points[:, 0])[0], atol=0.02)
        slope, start = np.polyfit(values, points[:, 1], 1)
        assert slope < 0  # up is more
        np.testing.assert_allclose(slope * np.array(values) + start, points[:, 1], atol=0.1)
    np.testing.assert_allclose(drawn.table["deletion, random"], found.mean.deletion)


def test_the_sum_and_the_gap_are_printed(result: WhyResult) -> None:
    one = result.explained
    said = words(view.sums(with_scores(result, 1.25)))
    assert said.endswith("completeness gap 0.20 % at 8 steps.")
    assert f"Sum +1.25 of {view.signed(one.value - one.empty, 2)} nats" in said
    assert "need not sum" in words(view.sums(by(result, "occlusion")))
    assert "does not say for or against" in words(view.sums(by(result, "attention")))


def test_leaders_are_named_by_sign(result: WhyResult) -> None:
    shown = with_scores(result, 0.5, 2.0, -1.0)
    assert view.leaders(shown) == "For it: “cat”, “the”. Against it: “<”."
    assert view.leaders(with_scores(result, 1.0)).endswith("Against it: no word.")


def test_a_word_that_answers_is_quoted_and_both_its_probabilities_are_named(
    result: WhyResult,
) -> None:
    one = replace(result.explained, probability=0.893, calibrated=0.726)
    said = words(view.answer(replace(result, explained=one)))
    assert f"“{one.answer}” (89.3 % before calibration; 72.6 % after)" in said
    alone = replace(result, explained=replace(one, calibrated=None))
    assert f"“{one.answer}” (89.3 %)" in words(view.answer(alone))


def test_a_sum_against_the_answer_is_explained(result: WhyResult) -> None:
    one = replace(result.explained, value=-1.0, empty=-0.5, own=True)
    against = words(view.sums(replace(result, explained=one)))
    assert "the words speak against it, though not enough to change it." in against
    asked = words(view.sums(replace(result, explained=replace(one, own=False))))
    assert asked.endswith("the words speak against it.")
    assert "negative" not in words(view.sums(replace(result, explained=replace(one, empty=-2))))


@pytest.mark.parametrize("method", ["integrated_gradients", "occlusion"])
def test_the_code_computes_the_same(tiny_engine: Engine, tiny_folder: Path, method: Method) -> None:
    shown = replace(why(tiny_engine, TEXT, method=method), model=str(tiny_folder))
    names, _ = ran(view.snippet(shown))
    scores = [word.score for word in names["by_word"](names["found"].scores, names["encoding"])]
    np.testing.assert_allclose(scores, shown.story.scores, atol=1e-6)
    assert shown.check is not None
    np.testing.assert_allclose(names["curves"].deletion, shown.check.shown.deletion, atol=1e-6)


def test_the_report_has_everything(result: WhyResult) -> None:
    report = view.screen(replace(result, untrained=("a.b",))).report()
    drawn = "".join(map(str, report.drawn()))
    assert all(f'data-name="{name}"' in drawn for name in ("why", "why-curves"))
    assert "no trained weights" in words(report.first[0])
    assert report.headline.count(result.explained.answer) >= 1
