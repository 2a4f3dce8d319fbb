"""The drawings of the variants page, measured against the counts."""

import re
from itertools import pairwise

import pytest

from app.engine.models import Engine
from app.features.variants import view
from app.features.variants.result import VariantsResult
from app.features.variants.task import variants
from bert_core.model.sizes import PARTS
from tests.snippets import ran


@pytest.fixture(scope="module")
def found(tiny_engine: Engine) -> VariantsResult:
    return variants(tiny_engine, "modernbert", length=1_024)


def rects(markup: str) -> list[tuple[float, float, float, int]]:
    """Left edge, upper edge, width and part of each piece of a bar; the legend's are left out."""
    pattern = (
        r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="24" '
        r'class="bx-va-part bx-va-(\d)"'
    )
    return [
        (float(x), float(y), float(wide), int(part))
        for x, y, wide, part in re.findall(pattern, markup)
    ]


@pytest.mark.parametrize("drawing", ["wide", "narrow"])
def test_every_bar_is_as_long_as_its_number(found: VariantsResult, drawing: str) -> None:
    drawn = rects(str(getattr(view.bars(found), drawing)))
    assert len(drawn) == 2 * len(PARTS) * len(found.rows)
    splits = [split for each in found.rows for split in (each.parameters, each.flops)]
    bars = [drawn[at : at + 4] for at in range(0, len(drawn), 4)]
    for kind in (0, 1):
        scales = []
        for bar, split in zip(bars[kind::2], splits[kind::2], strict=True):
            assert [part for *_, part in bar] == [0, 1, 2, 3]
            for (x, _, wide, _), (following, *_) in pairwise(bar):
                assert x + wide == pytest.approx(following, abs=0.03)
            scales += [
                wide / value for (_, _, wide, _), value in zip(bar, split.parts, strict=True)
                if wide > 4
            ]  # fmt: skip
        assert max(scales) == pytest.approx(min(scales), rel=0.01)


def test_the_table_adds_up(found: VariantsResult) -> None:
    table = view.bars(found).table
    for what in ("parameters", "operations"):
        parts = table[[f"{what}: {part}" for part in PARTS]].sum(axis=1)
        total = table["parameters" if what == "parameters" else "operations per token"]
        assert list(parts) == list(total)
    assert table["tokens of the text"].to_list() == [512] * 5 + [1_024] * 2
    assert table["bytes to train"].to_list() == [each.memory.training for each in found.rows]
    assert view.size_text(found.own.memory.training) in view.headline(found)


def test_what_is_not_read_is_said_beside_the_bar(found: VariantsResult) -> None:
    assert str(view.bars(found).wide).count(" (512)</text>") == 5
    assert "BERT in a text of 512, the most it reads" in str(view.headline(found))


def test_the_snippet_prints_the_same_numbers(found: VariantsResult) -> None:
    _, said = ran(view.snippet(found, ""))
    assert str(found.own.parameters) in said and str(found.own.flops) in said
    assert str(found.own.memory) in said


def test_the_ideas_lead_into_the_lab_only_where_there_is_one(found: VariantsResult) -> None:
    links = re.findall(r'href="([^"]+)"', str(view.ideas(found, "lab")))
    assert [each for each in links if "arxiv" not in each] == [
        "lab?next_sentence=True",
        "lab",
        "lab?shared=True",
        "lab?mask_rate=30",
    ]
    assert "href" not in str(view.ideas(found))
    assert str(view.ideas(found)).count('role="rowheader"') == 6
