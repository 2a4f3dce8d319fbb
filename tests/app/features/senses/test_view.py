"""What is drawn are the numbers of the result."""

import re
from itertools import combinations

import numpy as np
import pytest

from app.engine.models import Engine
from app.features.senses import view
from app.features.senses.result import Occurrence, SensesResult
from app.features.senses.task import senses
from tests.drawings import words
from tests.snippets import ran

TEXT = "the river bank\nthe cat sat on the bank\n\nbank on the dog.\nplaying the mat\na <b>bank</b>"


@pytest.fixture
def result(tiny_engine: Engine) -> SensesResult:
    return senses(tiny_engine, TEXT, "bank", layer=0)


def marks(markup: str) -> dict[str, tuple[float, float]]:
    """Return where the marks are drawn, by their labels."""
    found = re.findall(
        r'<g transform="translate\(([\d.-]+) ([\d.-]+)\)".*?<text [^>]*>(\w+)</', markup
    )
    return {label: (float(x), float(y)) for x, y, label in found}


def test_distances_in_the_plane_are_in_proportion(result: SensesResult) -> None:
    drawn = marks(str(view.plane(result).wide))
    assert list(drawn) == ["1", "2", "3", "5"]
    places = np.array(list(drawn.values()))
    pairs = list(combinations(range(4), 2))
    shown = [np.linalg.norm(places[i] - places[j]) for i, j in pairs]
    real = [np.linalg.norm(result.coordinates[i] - result.coordinates[j]) for i, j in pairs]
    np.testing.assert_allclose(np.array(shown) / max(shown), np.array(real) / max(real), atol=0.01)
    first, second = drawn["1"], drawn["2"]
    higher = result.coordinates[0][1] > result.coordinates[1][1]
    assert (first[1] < second[1]) is bool(higher)  # up is more
    share = f"axis 1: {100 * result.shares[0]:.0f} % of variance"
    assert share in words(view.plane(result).wide) and share in words(view.plane(result).narrow)


def test_marks_that_would_cover_each_other_are_moved_and_tied_to_their_places() -> None:
    places = np.array([[100.0, 100.0], [100.0, 100.0], [104.0, 100.0], [200.0, 50.0], [0.0, 0.0]])
    moved = view.apart(places, width=(0, 400), height=300)
    gaps = [np.linalg.norm(moved[i] - moved[j]) for i, j in combinations(range(5), 2)]
    assert min(gaps) >= 24  # twice the radius
    assert (moved[3] == places[3]).all()
    assert (moved >= 12).all()
    each = Occurrence("1", 1, 0, 0, 4, (2,))
    assert "<line " not in str(view.mark(each, places[3], places[3]))
    tied = str(view.mark(each, moved[0], places[0]))
    x, y = re.search(r'<circle cx="([\d.-]+)" cy="([\d.-]+)" r="3"', tied).groups()
    np.testing.assert_allclose(moved[0] + [float(x), float(y)], places[0], atol=0.11)


def test_groups_differ_in_shape_and_marks_are_linked_to_their_sentences(
    result: SensesResult,
) -> None:
    drawn = str(view.plane(result).wide)
    assert drawn.count("bx-se-mark bx-se-0") == drawn.count("bx-se-mark bx-se-1") == 2
    assert drawn.count('<circle r="12"') == 2
    listed = str(view.sentences(result))
    for key in re.findall(r'data-at="([^"]*)"', drawn):
        assert f'data-at="{key}"' in listed
    assert listed.count("<b>bank</b>") == 4
    assert "&lt;b&gt;<b>bank</b>&lt;/b&gt;" in listed
    assert listed.count("(not here)") == 1


def test_the_headline_counts_neighbours_and_names_the_means(result: SensesResult) -> None:
    text = view.headline(result)
    assert f"{result.at_home} of 4" in text and "Mean cosine after layer 0: " in text
    assert f"{result.means(within=True)[1]:.2f} within groups" in text
    assert f"{result.means(within=False)[1]:.2f} between." in text


def test_without_groups_only_the_mean_is_told(tiny_engine: Engine) -> None:
    alone = senses(tiny_engine, "the bank\nbank", "bank")
    assert "one group" in view.headline(alone)
    assert list(view.over_layers(alone).table.columns) == ["after layer", "within"]


def test_single_places_in_two_groups_have_no_pairs_within(tiny_engine: Engine) -> None:
    split = senses(tiny_engine, "the bank\n\nbank", "bank")
    assert split.at_home == 0
    assert list(view.over_layers(split).table.columns) == ["after layer", "between"]
    assert "–" in view.headline(split)
    assert len(view.screen(split).report().blocks) == 5


def test_the_curve_has_a_point_for_every_layer(result: SensesResult) -> None:
    shown = view.over_layers(result)
    assert list(shown.table["after layer"]) == ["input", 0, 1]
    np.testing.assert_allclose(shown.table["between"], result.means(within=False))
    lines = re.findall(r'<polyline points="([^"]*)"', str(shown.wide))
    assert [len(line.split()) for line in lines] == [3, 3]
    assert "bx-svg-here" in str(shown.wide)


def test_the_code_gives_the_numbers_of_the_page(tiny_folder, result: SensesResult) -> None:
    names, _ = ran(view.snippet(result, str(tiny_folder)))
    np.testing.assert_allclose(names["similarity"], result.similarity[1], atol=1e-5)
    np.testing.assert_allclose(names["plane"].coordinates, result.coordinates, atol=1e-4)


def test_sentences_that_are_all_the_same_are_drawn(tiny_engine: Engine) -> None:
    same = senses(tiny_engine, "the cat sat\nthe cat sat", "cat")
    np.testing.assert_allclose(same.similarity, 1, atol=1e-6)
    for drawn in view.screen(same).report().drawn():
        assert "nan" not in str(drawn)
