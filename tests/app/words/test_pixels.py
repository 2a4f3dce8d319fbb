"""The pixels of an image are the numbers it was made from."""

import base64
import struct
import zlib

import numpy as np
import pytest

from app.words.html import tag
from app.words.pixels import NEGATIVE, POSITIVE, STEPS, pixels, png


def decoded(file: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Read a PNG of ours: colours (rows, columns, 3) and opacities (rows, columns)."""
    assert file[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(file):
        (size,) = struct.unpack(">I", file[at : at + 4])
        name, body = file[at + 4 : at + 8], file[at + 8 : at + 8 + size]
        assert struct.unpack(">I", file[at + 8 + size : at + 12 + size])[0] == zlib.crc32(
            name + body
        )
        chunks[name] = body
        at += 12 + size
    columns, rows, depth, kind = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, kind) == (8, 3)
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(rows, columns + 1)
    assert not lines[:, 0].any()
    palette = np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3)
    opacity = np.frombuffer(chunks[b"tRNS"], np.uint8)
    return palette[lines[:, 1:]], opacity[lines[:, 1:]]


def test_sign_is_colour_and_size_is_opacity() -> None:
    values = np.array([[0.0, 1.0, -1.0], [0.5, -0.25, 7.0]], np.float32)
    found = str(pixels(values, x=0, y=0, width=30, height=20))
    colour, opacity = decoded(base64.b64decode(found.partition("base64,")[2].partition('"')[0]))
    expected = 255 * np.clip(np.abs(values), 0, 1)
    assert np.abs(opacity - expected).max() <= 255 / STEPS / 2 + 0.5
    assert (colour[values > 0] == POSITIVE).all() and (colour[values < 0] == NEGATIVE).all()
    assert opacity[0, 0] == 0  # the page itself


def test_a_file_holds_every_step() -> None:
    steps = np.arange(-STEPS, STEPS + 1, dtype=np.int8)[None]
    colour, opacity = decoded(png(steps))
    assert opacity.argmin() == STEPS and (np.diff(opacity[0].astype(int)[STEPS:]) > 0).all()
    assert (opacity[0] == opacity[0][::-1]).all()
    assert (colour[0, -1] == POSITIVE).all() and (colour[0, 0] == NEGATIVE).all()


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
