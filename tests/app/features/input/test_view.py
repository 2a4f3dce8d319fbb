"""What is drawn are the numbers of the result."""

import base64
import re
import struct
import zlib

import numpy as np
import pytest

from app.engine.models import Engine
from app.features.input import task, view
from app.words.pictures import listed
from app.words.pixels import STEPS
from tests.snippets import ran


@pytest.fixture
def result(tiny_engine: Engine):
    return task.input(tiny_engine, "the cat sat on the mat", "a dog", length=14)


def images(markup: str) -> list[np.ndarray]:
    """Return the steps (-31 to 31) of the pixels of every image of a drawing."""
    found = []
    for data in re.findall(r'href="data:image/png;base64,([^"]*)"', markup):
        file = base64.b64decode(data)
        columns, rows = struct.unpack(">II", file[16:24])
        start = file.index(b"IDAT")
        (size,) = struct.unpack(">I", file[start - 4 : start])
        lines = np.frombuffer(zlib.decompress(file[start + 4 : start + 4 + size]), np.uint8)
        found.append(lines.reshape(rows, columns + 1)[:, 1:].astype(int) - STEPS)
    return found


def test_every_vector_is_a_patch_in_the_order_of_the_sum(result) -> None:
    here = view.shown(result, 2)
    before, after = view.scales(result)
    drawn = images(str(view.sums(result, 2).wide))
    assert len(drawn) == 5 * len(here) + 1  # and the legend
    parts = (result.word, result.position, result.segment, result.sum, result.normalised)
    for place, piece in enumerate(here):
        for row, part in enumerate(parts):
            full = after if row == 4 else before
            expected = np.rint(np.clip(part[piece] / full, -1, 1) * STEPS)
            found = drawn[5 * place + row].ravel()[: result.width]
            np.testing.assert_allclose(found, expected, atol=1)


def test_the_scale_has_its_number_in_the_legend(result) -> None:
    before, after = view.scales(result)
    parts = np.abs([result.word, result.position, result.segment, result.sum])
    assert np.mean(parts <= before) == pytest.approx(0.99, abs=0.002)
    assert f"±{before:.2g}, LayerNorm ±{after:.2g}" in str(view.sums(result, 0).wide)


def test_the_chosen_piece_is_framed_and_can_be_chosen_in_both_places(result) -> None:
    drawn = str(view.sums(result, 3).wide)
    assert drawn.count("bx-in-chosen") == 1
    assert re.findall(r'data-pick="piece" data-value="(\d+)"', drawn) == [
        str(piece) for piece in view.shown(result, 3)
    ]
    row = str(view.pieces(result, 3))
    assert row.count('role="button"') == len(result)
    assert re.findall(r'tabindex="0"[^>]*data-value="(\d+)"', row) == ["3"]
    assert row.count('aria-pressed="true"') == 1


@pytest.mark.parametrize(
    ("at", "expected"), [(0, range(12)), (9, range(2, 14)), (13, range(2, 14))]
)
def test_the_picture_moves_with_the_chosen_piece(result, at: int, expected: range) -> None:
    assert len(result) == 14
    assert view.shown(result, at) == expected
    assert at in view.shown(result, at)
    assert "0 to 13" in str(view.part_shown(result, at))


@pytest.mark.parametrize("size", [1, 7, 32, 100, 384, 768, 1024])
def test_a_patch_holds_every_number_in_order(size: int) -> None:
    vector = np.arange(1, size + 1, dtype=np.float32)
    grid = view.patch(vector)
    np.testing.assert_array_equal(grid.ravel()[:size], vector)
    assert not grid.ravel()[size:].any()
    rows, columns = grid.shape
    assert rows * columns - size < columns
    assert rows <= columns < 2 * max(2, rows + 1)


def test_the_arithmetic_is_that_of_the_numbers_shown(result) -> None:
    text = re.sub("<[^>]*>", " ", str(view.arithmetic(result, 4, 5)))
    for value in (
        result.word[4, 5], result.position[4, 5], result.segment[4, 5], result.sum[4, 5],
        result.mean[4], result.variance[4], result.scale[5], result.shift[5],
        result.normalised[4, 5],
    ):  # fmt: skip
        assert view.number(float(value)) in text
    table = listed(view.first_values(result, 4))
    added = table["word"] + table["+ position"] + table["+ segment"]
    np.testing.assert_allclose(added, table["= sum"], atol=1e-6)
    np.testing.assert_allclose(
        table["÷ deviation"] * table["× gamma"] + table["+ beta"], table["= LayerNorm"], atol=1e-5
    )


def test_the_code_gives_the_numbers_of_the_page(tiny_folder, result) -> None:
    code = view.snippet(result, str(tiny_folder), 3)
    names, printed = ran(code)
    assert result.tokens[3] in printed
    np.testing.assert_allclose(
        names["parts"].normalised, result.normalised[: result.real], atol=1e-6
    )
