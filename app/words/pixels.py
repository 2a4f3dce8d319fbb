"""Many numbers as pixels: an image that a drawing contains, for grids too large for shapes.

One pixel is one number. The colours are transparent towards 0, so that one image suits the light
and the dark page: 0 is the page itself.
"""

import base64
import struct
import zlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from app.words.html import Html, tag

STEPS = 31  # steps from 0 to the full colour: more than the eye tells apart, and a small palette

POSITIVE, NEGATIVE = (0, 114, 178), (213, 94, 0)  # Okabe and Ito's blue and vermilion

Bytes = NDArray[np.uint8]

_SHADES = np.array(
    [
        (*(POSITIVE if step > 0 else NEGATIVE), round(255 * abs(step) / STEPS))
        for step in range(-STEPS, STEPS + 1)
    ],
    np.uint8,
)


def pixels(values: NDArray[np.float32], *, x: float, y: float, width: float, height: float) -> Html:
    """Draw a grid of numbers: blue above 0, vermilion below, full colour from 1 and -1."""
    steps = (np.rint(np.clip(values, -1, 1) * STEPS) + STEPS).astype(np.uint8)
    return image(_address(steps.shape[1], steps.tobytes()), x=x, y=y, width=width, height=height)


def image(href: str, *, x: float, y: float, width: float, height: float) -> Html:
    """Draw an image whose pixels stay sharp, stretched to a place in a drawing."""
    return tag(
        "image", href=href, x=f"{x:g}", y=f"{y:g}", width=f"{width:.6g}", height=f"{height:.6g}",
        preserve_aspect_ratio="none", image_rendering="pixelated",
    )  # fmt: skip


@lru_cache(2048)
def _address(columns: int, steps: bytes) -> str:
    return address(np.frombuffer(steps, np.uint8).reshape(-1, columns), _SHADES)


def address(numbers: Bytes, colours: Bytes) -> str:
    """Return a PNG file as an address; see `png`."""
    return f"data:image/png;base64,{base64.b64encode(png(numbers, colours)).decode()}"


def png(numbers: Bytes, colours: Bytes) -> bytes:
    """Write a PNG file with a palette (ISO/IEC 15948).

    `numbers` (rows, columns) name colours (N, 3) or (N, 4): red, green, blue and, if any, opacity.
    """
    rows, columns = numbers.shape
    lines = np.zeros((rows, columns + 1), np.uint8)  # each row begins with 0, "no filter"
    lines[:, 1:] = numbers
    opacity = colours[:, 3:].tobytes()
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0))
        + _chunk(b"PLTE", colours[:, :3].tobytes())
        + (_chunk(b"tRNS", opacity) if opacity else b"")
        + _chunk(b"IDAT", zlib.compress(lines.tobytes(), level=6))
        + _chunk(b"IEND", b"")
    )


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
