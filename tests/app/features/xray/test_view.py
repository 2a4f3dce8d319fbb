"""Test that what is drawn of an X-ray is what was computed, and that nothing becomes markup."""

import re
from dataclasses import replace
from html import unescape
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from app.engine.models import Engine
from app.features.xray import view_switches, view_zoom
from app.features.xray.result import Part, PartEffect, XrayResult, all_parts, names_of
from app.features.xray.task import xray
from app.features.xray.task_run import head_notes
from app.features.xray.view import screen, snippet
from app.features.xray.view_overview import links, live, of_heads, overview, table
from app.features.xray.view_words import column_words, headline, label_note, thread_words
from app.words.html import Html
from tests.drawings import words
from tests.snippets import ran

TEXT = "the cat sat on the [MASK] ."


@pytest.fixture(scope="module")
def result(tiny_engine: Engine) -> XrayResult:
    return xray(tiny_engine, TEXT, rank=True)


@pytest.fixture(scope="module")
def off(tiny_engine: Engine) -> XrayResult:
    return xray(tiny_engine, TEXT, off="0.1 1.a 1.f")


def nodes(drawn: Html | str, kind: str) -> list[dict[str, str]]:
    """Return the attributes of all elements with a class, in order."""
    root = ElementTree.fromstring(str(drawn))  # noqa: S314 - our own drawing
    return [dict(each.attrib) for each in root.iter() if kind in each.get("class", "").split()]


def texts(drawn: Html | str, kind: str) -> list[str]:
    root = ElementTree.fromstring(str(drawn))  # noqa: S314 - our own drawing
    return [each.text or "" for each in root.iter() if kind in each.get("class", "").split()]


def test_every_piece_of_every_layer_is_a_cell_as_deep_as_it_agrees(result: XrayResult) -> None:
    for drawn in (overview(result).wide, overview(result).narrow):
        cells = nodes(drawn, "bx-xr-cell")
        assert len(cells) == 9 * 3
        depth = np.array([float(each["fill-opacity"]) for each in cells]).reshape(3, 9)
        np.testing.assert_allclose(depth / 0.34, result.readings.agreement, atol=2e-3)
        x = np.array([float(each["x"]) for each in cells]).reshape(3, 9)
        assert (np.diff(x, axis=0) > 0).all() and (np.ptp(x, axis=1) == 0).all()
        y = np.array([float(each["y"]) for each in cells]).reshape(3, 9)
        assert (np.diff(y, axis=1) > 0).all() and (np.ptp(y, axis=0) == 0).all()


def test_bars_are_as_long_as_what_was_added(result: XrayResult) -> None:
    drawn = overview(result).wide
    changes = result.changes
    most = np.percentile(np.stack([changes.by_attention, changes.by_feed_forward]), 90)
    width = float(nodes(drawn, "bx-xr-cell")[0]["width"]) - 2
    for kind, values in (
        ("bx-xr-attention", changes.by_attention),
        ("bx-xr-forward", changes.by_feed_forward),
    ):
        bars = [float(each["width"]) for each in nodes(drawn, kind)]
        np.testing.assert_allclose(bars, np.minimum(1, values.ravel() / most) * width, atol=0.1)


@pytest.mark.parametrize("head", ["mean", "2"])
def test_threads_are_the_strongest_links_of_each_layer(result: XrayResult, head: str) -> None:
    drawn = re.findall(r'<div class="bx-wide">(<svg.*?</svg>)</div>', str(live(result, head)))[0]
    threads = [each for each in nodes(drawn, "bx-xr-thread") if "data-say" in each]
    expected = []
    for layer, attention in enumerate(result.attentions):
        chosen = attention.mean(0) if head == "mean" else attention[2]
        found = links(of_heads(attention, head), result.question.position)
        for at, to, weight in found:
            assert weight == pytest.approx(float(chosen[at, to]))
        for at in range(9):
            kept = [weight for i, _, weight in found if i == at]
            most = 6 if at == result.question.position else 3
            best = sorted(chosen[at][chosen[at] >= 0.03], reverse=True)[:most]
            np.testing.assert_allclose(kept, best)
        expected += [thread_words(result, layer, link, head) for link in found]
    assert sorted(each["data-say"] for each in threads) == sorted(expected)
    for each in threads:
        weight = float(re.findall(r"([\d.]+) %", each["data-say"])[0]) / 100
        assert each["data-say"] in words(overview(result, head).wide)
        slope = 6 if "bx-xr-strong" in each["class"] else 3
        assert float(each["stroke-width"]) == pytest.approx(0.6 + slope * weight, abs=0.01)


def test_a_layer_without_attention_has_no_threads(off: XrayResult) -> None:
    threads = nodes(overview(off).wide, "bx-xr-thread")
    assert {each["data-at"].split(".")[0] for each in threads if "data-at" in each} == {"1"}
    heads = texts(overview(off).wide, "bx-xr-quiet")
    assert heads == ["piece", "input", "layer 0 ✕1", "1 ✕2", "answer"]


def test_answers_are_bars_with_a_mark_where_they_were(off: XrayResult) -> None:
    drawn = overview(off).wide
    bars, tracks = nodes(drawn, "bx-xr-bar"), nodes(drawn, "bx-svg-track")
    marks = nodes(drawn, "bx-xr-before")
    assert len(bars) == len(marks) == len(off.candidates)
    for bar, track, mark, each in zip(bars, tracks, marks, off.candidates, strict=True):
        room = float(track["width"])
        assert float(bar["width"]) == pytest.approx(max(1, room * each.probability), abs=0.1)
        assert float(mark["x1"]) - float(track["x"]) == pytest.approx(room * each.before, abs=0.2)


def test_paper_explains_itself_under_the_pointer(result: XrayResult) -> None:
    drawn = unescape(str(overview(result).wide))
    for column in range(3):
        for says in column_words(result, column):
            assert says in words(drawn)
    assert "tabindex" not in drawn and "data-pick" not in drawn


def test_the_page_can_be_walked_through_by_keyboard(result: XrayResult) -> None:
    drawn = str(live(result))
    for size in ("wide", "narrow"):
        part = re.findall(rf'<div class="bx-{size}">(<svg.*?</svg>)</div>', drawn)[0]
        root = ElementTree.fromstring(part)  # noqa: S314 - our own drawing
        stops = [each.attrib for each in root.iter() if "tabindex" in each.attrib]
        assert all(each["aria-label"] and each["role"] == "button" for each in stops)
        assert [each["tabindex"] for each in stops].count("0") == 1
        columns = 4  # pieces, input, two layers
        height = int(root.attrib["data-rove"])
        assert height == 10 and len(stops) >= columns * height
        for column in range(columns):  # left and right move by this many stops
            rows = [each["aria-label"] for each in stops[column * height : (column + 1) * height]]
            names = [f"Piece {at}" if not column else result.tokens[at] for at in range(9)]
            assert all(name in row for name, row in zip(names, rows[1:], strict=True))


def test_what_is_said_of_a_cell_has_its_exact_numbers(result: XrayResult) -> None:
    said = column_words(result, 2)[3]
    assert f"{result.changes.turned[1, 3]:.3f}" in said
    assert f"{result.changes.by_attention[1, 3]:.2f}" in said
    assert f"{100 * result.readings.shares[2, 3]:.1f} %" in said
    mean = result.attentions[1][:, 3].mean(0)
    assert f"{result.tokens[mean.argmax()]} {100 * mean.max():.0f} %" in said
    assert "Turned" not in column_words(result, 0)[3]


def test_the_table_has_the_numbers_of_the_picture(result: XrayResult) -> None:
    rows = table(result)
    assert len(rows) == 9 * 3
    np.testing.assert_allclose(rows["final answer here"], result.readings.agreement.T.ravel())
    turned = rows["turned (1 - cosine)"].to_numpy().reshape(9, 3)
    np.testing.assert_allclose(turned[:, 1:], result.changes.turned.T)
    assert list(rows["lens"])[:3] == [row[0] for row in result.readings.names]


def larger(result: XrayResult, tokens: int, layers: int) -> XrayResult:
    """Return a made-up result of another size."""
    chance = np.random.default_rng(0)
    grid = chance.random((layers + 1, tokens), dtype=np.float32)
    maps = tuple(chance.dirichlet(np.ones(tokens), (12, tokens)) for _ in range(layers))
    return replace(
        result,
        tokens=("word",) * tokens,
        layers=layers,
        heads=12,
        attentions=maps,
        readings=replace(
            result.readings, names=(("word",) * tokens,) * (layers + 1), shares=grid, agreement=grid
        ),
        changes=replace(
            result.changes, turned=grid[1:], by_attention=grid[1:], by_feed_forward=grid[1:]
        ),
    )


@pytest.mark.parametrize(("tokens", "layers"), [(18, 12), (42, 12), (128, 12)])
def test_twelve_layers_and_forty_pieces_fit_one_screen(
    result: XrayResult, tokens: int, layers: int
) -> None:
    big = larger(result, tokens, layers)
    drawn = overview(big).wide
    width, height = map(float, re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', str(drawn))[0])
    assert width == 760
    assert height <= 450 or tokens == 128
    cells = nodes(drawn, "bx-xr-cell")
    assert len(cells) == tokens * (layers + 1)
    assert all(float(each["x"]) + float(each["width"]) < 640 for each in cells)
    assert all(float(each["width"]) >= 28 and float(each["height"]) >= 7.5 for each in cells)
    words = [each for each in texts(drawn, "bx-svg-middle") if each == "word"]
    assert len(words) == (len(cells) if tokens <= 18 else layers + 1)  # the row that is asked
    tops = sorted((float(each["y"]), float(each["height"])) for each in cells)[:: layers + 1]
    ends = [top + high for top, high in tops]
    assert all(end <= top for end, (top, _) in zip(ends, tops[1:], strict=False))
    assert ends[-1] <= height
    assert len(table(big)) <= 100


def test_the_switchboard_has_every_part_with_its_effect(
    tiny_engine: Engine, result: XrayResult, off: XrayResult
) -> None:
    notes = head_notes(tiny_engine, off)
    drawn: Any = view_switches.board(replace(off, ranking=result.ranking), notes)
    parts = all_parts(2, 4)
    assert [parts[number].name for number in drawn["off"]] == ["0.1", "1.a", "1.f"]
    effects = {each.part: each.effect for each in result.ranking}
    assert drawn["effects"] == [effects[part.name] for part in parts]
    assert all(f"of {len(parts)}." in note for note in drawn["notes"])
    assert view_switches.board(off, notes)["effects"] is None
    assert view_switches.off_by_number(off, [0, 4, 5, 99, -1]) == names_of(
        [Part(0, "head", 0), Part(0, "attention"), Part(0, "feed_forward")]
    )


def test_presets_switch_off_what_they_say(tiny_engine: Engine, result: XrayResult) -> None:
    notes = head_notes(tiny_engine, result)
    attention, forward, last, rests, near = view_switches.presets(result, notes).values()
    assert (names_of(attention), names_of(forward), names_of(last)) == ("0.a 1.a", "0.f 1.f", "1.a")
    for found, names in ((rests, ("[CLS]", "[SEP]")), (near, ("previous", "next"))):
        heads = (part for part in all_parts(2, 4) if part.place == "head")
        assert found == tuple(p for p in heads if notes[p.layer][p.head].name in names)


def test_next_sentence_changes_by_odds(tiny_engine: Engine) -> None:
    pair = xray(tiny_engine, "the cat sat", text_pair="on the mat", ask="next", rank=True)
    table = view_switches.ranking_picture(pair).table
    assert all(str(words).startswith("odds ") for words in table["in words"])
    assert "halves the odds" in str(view_switches.ranking_line(pair))


def test_bars_of_the_ranking_are_in_proportion(result: XrayResult) -> None:
    drawn = view_switches.ranking_picture(result)
    needed = [each.effect for each in result.ranking if each.effect < 0][:12]
    better = [each.effect for each in result.ranking[::-1] if each.effect > 0][:4]
    low = [float(each["width"]) for each in nodes(drawn.wide, "bx-svg-bar")]
    high = [float(each["width"]) for each in nodes(drawn.wide, "bx-svg-mark")]
    assert len(low) == len(needed) and len(high) == len(better)
    scale = max(low) / max(map(abs, needed))
    np.testing.assert_allclose(low, np.maximum(1, np.abs(needed) * scale), atol=0.1)
    np.testing.assert_allclose(high, np.maximum(1, np.abs(better) * scale), atol=0.1)
    assert list(drawn.table["change without it (nats)"]) == [e.effect for e in result.ranking]


def test_the_zoom_says_the_way_back(tiny_engine: Engine, result: XrayResult) -> None:
    assert re.findall(r'data-value="(\d)"', str(view_zoom.crumbs((1, 2)))) == ["0", "1"]
    for zoom, level in (((1,), "0"), ((1, 2), "1")):
        drawn = str(view_zoom.crumbs(zoom))
        assert re.findall(r'data-value="(\d)" data-escape=""', drawn) == [level]
    notes = head_notes(tiny_engine, result)
    ranked = replace(result, ranking=(PartEffect("1.0", -0.5),))
    heads = str(view_zoom.heads_of(ranked, 1, notes))
    assert heads.count('data-pick="head"') == 4 and "−0.500 nats" in heads


def test_the_report_has_everything(result: XrayResult, off: XrayResult) -> None:
    found = screen(result).report()
    assert found.headline == headline(result) and len(found.blocks) == 6
    assert f"“{result.best.name}” ({100 * result.best.probability:.1f} %)." in found.headline
    assert "3 parts off" in headline(off) and off.first.name in headline(off)
    # The bars have a key that needs no colours, on paper and on the page.
    assert words(found.blocks[1]) in words(live(result))
    assert "Upper bar : attention; lower bar : feed-forward." in words(found.blocks[1])
    assert f"the log-probability of “{result.followed}”." in str(found.blocks[2])
    assert "the affine lens" in str(found.blocks[3])


def test_a_label_is_explained_by_what_the_head_knows(tiny_engine: Engine) -> None:
    found = xray(tiny_engine, "the cat sat", ask="label")
    said = words(label_note(found))
    assert f"knows {len(found.labels)} labels only: {', '.join(found.labels)}." in said
    assert label_note(xray(tiny_engine, "the cat sat", ask="word")).markup == ""


@pytest.mark.parametrize("kind", ["word", "start", "end", "entity", "label", "next"])
def test_the_snippet_computes_the_same(tiny_engine: Engine, tiny_folder: Any, kind: Any) -> None:
    found = xray(tiny_engine, "the cat sat", text_pair="on the mat", ask=kind, off="0.1 1.a",
                 mode="zero")  # fmt: skip
    _, printed = ran(snippet(found, str(tiny_folder)))
    assert printed.startswith(found.question.target)
