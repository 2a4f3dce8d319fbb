"""The pixels of an image are the numbers it was made from."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from app.words.html import tag
from app.words.pixels import NEGATIVE, POSITIVE, STEPS, pixels, png


def decoded(file: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Read a PNG with another program: colours (rows, columns, 3), opacities (rows, columns)."""
    found = np.asarray(Image.open(io.BytesIO(file)).convert("RGBA"))
    return found[..., :3], found[..., 3]


def test_sign_is_colour_and_size_is_opacity() -> None:
    values = np.array([[0.0, 1.0, -1.0], [0.5, -0.25, 7.0]], np.float32)
    found = str(pixels(values, x=0, y=0, width=30, height=20))
    colour, opacity = decoded(base64.b64decode(found.partition("base64,")[2].partition('"')[0]))
    expected = 255 * np.clip(np.abs(values), 0, 1)
    assert np.abs(opacity - expected).max() <= 255 / STEPS / 2 + 0.5
    assert (colour[values > 0] == POSITIVE).all() and (colour[values < 0] == NEGATIVE).all()
    assert opacity[0, 0] == 0  # the page itself


def test_a_file_holds_every_colour() -> None:
    colours = np.arange(1024, dtype=np.uint32).reshape(256, 4).astype(np.uint8)
    numbers = np.arange(256, dtype=np.uint8).reshape(2, 128)
    colour, opacity = decoded(png(numbers, colours))
    assert (colour == colours[numbers, :3]).all() and (opacity == colours[numbers, 3]).all()


def test_equal_steps_on_both_sides_are_equally_deep() -> None:
    values = np.linspace(-1, 1, 2 * STEPS + 1, dtype=np.float32)[None]
    found = str(pixels(values, x=0, y=0, width=9, height=9))
    _, opacity = decoded(base64.b64decode(found.partition("base64,")[2].partition('"')[0]))
    assert opacity.argmin() == STEPS and (np.diff(opacity[0].astype(int)[STEPS:]) > 0).all()
    assert (opacity[0] == opacity[0][::-1]).all()


def test_the_image_is_part_of_the_drawing() -> None:
    found = str(pixels(np.zeros((2, 3), np.float32), x=5, y=6, width=30, height=20))
    assert found.startswith("<image ") and 'preserveAspectRatio="none"' in found
    data = found.partition("base64,")[2].partition('"')[0]
    assert decoded(base64.b64decode(data))[1].shape == (2, 3)


@pytest.mark.parametrize(
    "address", ["https://example.org/x.png", "x.png", "data:image/svg+xml;base64,AA=="]
)
def test_an_image_cannot_be_fetched_from_elsewhere(address: str) -> None:
    with pytest.raises(ValueError):
        tag("image", href=address)
