"""The drawings of the variants page, measured against the counts."""

import re
from itertools import pairwise

import pytest

from app.engine.models import Engine
from app.features.variants import view
from app.features.variants.result import VariantsResult
from app.features.variants.task import variants
from bert_core.families import FAMILIES
from bert_core.model.sizes import PARTS
from tests.drawings import words
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


def test_the_longest_bars_end_before_the_edge(found: VariantsResult) -> None:
    for picture, width in ((view.bars(found).wide, 760), (view.bars(found).narrow, 380)):
        assert max(x + wide for x, _, wide, _ in rects(str(picture))) <= width - 90


def test_the_table_adds_up(found: VariantsResult) -> None:
    table = view.bars(found).table
    for what in ("parameters", "operations"):
        parts = table[[f"{what}: {part}" for part in PARTS]].sum(axis=1)
        total = table["parameters" if what == "parameters" else "operations per token"]
        assert list(parts) == list(total)
    assert table["tokens of the text"].to_list() == [512] * 5 + [1_024] * 2


def test_what_is_not_read_is_said_beside_the_bar(found: VariantsResult) -> None:
    assert str(view.bars(found).wide).count(" (512)</text>") == 5
    assert "BERT in a text of 512, the most it reads" in str(view.headline(found))


def test_the_reach_is_drawn_to_scale(found: VariantsResult) -> None:
    shown = view.reach(found)
    assert shown.table["tokens seen by each"].to_list() == [512] * 5 + [1_024, 129, 1_024, 129]
    assert shown.table["layers"].to_list() == [12, 12, 12, 6, 12, 8, 14, 8, 14]
    paths = re.findall(r'<path d="([^"]+)"', str(shown.wide))
    assert paths[0] == "M0 0H75.00V75.00H0Z"  # 512 of 1,024 tokens: half of 150
    half = 150 * 64 / 1_024
    assert paths[6].startswith(f"M0 0H{half:.2f}L150.00 {150 - half:.2f}V150.00")


def test_the_cards_lead_into_the_lab_only_where_there_is_one(found: VariantsResult) -> None:
    links = re.findall(r'href="([^"]+)"', str(view.cards(found, "lab")))
    assert links == [
        "lab?next_sentence=True",
        "lab",
        "lab?shared=True",
        "lab",
        "lab?mask_rate=30",
    ]
    assert "href" not in str(view.cards(found))


def test_each_family_that_can_be_opened_is_a_row_of_its_differences() -> None:
    rows = [
        [words(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
        for row in re.findall(r"<tr[^>]*>(.*?)</tr>", str(view.families()))
    ]
    heads, *rows = rows
    assert [row[0] for row in rows] == [each.title for each in FAMILIES.values()]
    told = {row[0]: dict(zip(heads, row, strict=True)) for row in rows}
    assert told["RoBERTa"]["first, last, gap"] == "<s> </s> <mask>"
    assert told["RoBERTa"]["positions from"] == "padding + 1"
    assert told["DistilBERT"]["token types"] == "none"
    assert [name for name, row in told.items() if row["layers’ weights"] == "shared"] == ["ALBERT"]
    assert {told[name]["also trained on"] for name in ("BERT", "ALBERT", "ELECTRA")} == {
        "does it follow?", "in order?", "replaced pieces",
    }  # fmt: skip


def test_computed_and_published_numbers_stand_side_by_side(found: VariantsResult) -> None:
    cards = str(view.cards(found))
    assert "109,482,240 parameters; the authors say 110 million" in cards
    assert "149,014,272 parameters; the authors say 149 million" in cards


def test_the_arithmetic_comes_to_the_numbers_shown(found: VariantsResult) -> None:
    rows = re.findall(r">([\d,]+)</span></td><td[^>]*><span>[\d.]+ %", str(view.arithmetic(found)))
    assert sum(int(each.replace(",", "")) for each in rows) == found.own.parameters.total
    products, mixing, together = (
        int(each.replace(",", ""))
        for each in re.search(
            r"passes through, ([\d,]+), .* layers, ([\d,]+); together ([\d,]+)",
            str(view.arithmetic_note(found)),
        ).groups()  # type: ignore[union-attr]
    )
    assert products + mixing == together == found.own.flops.total


def test_memory_is_printed_for_every_model(found: VariantsResult) -> None:
    markup = str(view.memory(found))
    assert "437.9 MB" in markup and "219.0 MB" in markup and "1.8 GB" in markup
    assert markup.count('role="rowheader"') == 7


def test_the_snippet_prints_the_same_numbers(found: VariantsResult) -> None:
    _, said = ran(view.snippet(found, ""))
    assert str(found.own.parameters) in said and str(found.own.flops) in said
    assert str(found.own.memory) in said
