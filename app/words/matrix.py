"""A matrix: a number for every pair as a cell, deeper for larger ones, with names on two sides."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from app.words.html import Html, tag, visible
from app.words.pixels import pixels

Floats = NDArray[np.floating[Any]]
# What lines are called, "" for no name, and the keys that link them (`pictures.linked`).
Names = Iterable[tuple[str, str | None]]

_LIGHT, _DARK = 0.85, 0.58  # depths from which a number is white, on the dark page black
_DEEP = 0.7  # the same of an image
_WIDE = 44  # from this width of a cell on, letters have their full size


@dataclass(frozen=True, slots=True)
class Matrix:
    """The place of a matrix in a drawing."""

    left: Annotated[float, "edge of the first column"]
    top: Annotated[float, "edge of the first row"]
    width: Annotated[float, "of a cell"]
    height: Annotated[float, "of a cell"]

    def place(self, row: int, column: int, *, inset: float = 0) -> dict[str, str]:
        """Return the place of a cell as attributes of a `rect`."""
        return {
            "x": f"{self.left + column * self.width + inset:.2f}",
            "y": f"{self.top + row * self.height + inset:.2f}",
            "width": f"{self.width - 2 * inset:.2f}",
            "height": f"{self.height - 2 * inset:.2f}",
        }

    @property
    def _middle(self) -> str:
        return "bx-svg-middle" if self.width >= _WIDE else "bx-svg-middle bx-svg-small"

    def rows(self, names: Names, *, x: float | None = None) -> list[Html]:
        """Draw the names at the left: they end at the matrix, or begin at `x`."""
        return [
            tag("text", visible(name), x=f"{self.left - 8 if x is None else x:g}",
                y=f"{self.top + (row + 0.5) * self.height:.2f}", data_at=keys,
                class_="bx-svg-name bx-svg-small" if x is None else None)
            for row, (name, keys) in enumerate(names) if name
        ]  # fmt: skip

    def columns(
        self, names: Names, *, slanted: bool = False, strong: Container[int] = ()
    ) -> list[Html]:
        """Draw the names on top; slanted ones may be words, and some may be strong."""
        y, look = self.top - (8 if slanted else 13), "bx-svg-small" if slanted else self._middle
        middles = (f"{self.left + (n + 0.5) * self.width:.2f}" for n in count())
        return [
            tag("text", visible(name), x=x, y=f"{y:g}", data_at=keys,
                class_=f"{look} bx-svg-strong" if n in strong else look,
                transform=f"rotate(-45 {x} {y:g})" if slanted else None)
            for n, (x, (name, keys)) in enumerate(zip(middles, names, strict=False)) if name
        ]  # fmt: skip

    def thinned(self, names: Sequence[str], least: float = 15, kept: Container[int] = ()) -> Names:
        """Leave out the names that have no room: one needs so many units, or is to be kept."""
        step = -int(-least // self.width)
        return [(name if n in kept or n % step == 0 else "", None) for n, name in enumerate(names)]

    def image(
        self, depths: Floats, printed: Sequence[Sequence[str]] = (), deep: str = "bx-svg-deep"
    ) -> list[Html]:
        """Draw all cells as one image in a frame, with their numbers.

        `depths` (rows, columns) go from -1 to 1, blue above 0 and vermilion below; a number on a
        deep colour has the class `deep`.
        """
        size = depths.shape[1] * self.width, depths.shape[0] * self.height
        shown = np.nan_to_num(depths).astype(np.float32)
        place = {"x": self.left, "y": self.top, "width": size[0], "height": size[1]}
        frame = {name: f"{at:.6g}" for name, at in place.items()}
        return [
            pixels(shown, **place),
            tag("rect", **frame, class_="bx-svg-frame"),
            *(
                tag("text", each, x=f"{self.left + (column + 0.5) * self.width:.1f}",
                    y=f"{self.top + (row + 0.5) * self.height:g}",
                    class_="bx-svg-middle bx-svg-small"
                    + (f" {deep}" if abs(shown[row, column]) >= _DEEP else ""))
                for row, texts in enumerate(printed)
                for column, each in enumerate(texts) if each
            ),
        ]  # fmt: skip

    def cell(
        self, row: int, column: int, depth: float, printed: str, *, inset: float = 0
    ) -> list[Html]:
        """Draw a number as a cell.

        `depth` goes from 0, the page's own colour, to 1; `inset` is the space around the cell.
        """
        number = tag(
            "text", printed, x=f"{self.left + (column + 0.5) * self.width:.2f}",
            y=f"{self.top + (row + 0.5) * self.height:.2f}",
            class_=self._middle
            + (" bx-svg-deep" if depth >= _LIGHT else " bx-svg-half" if depth >= _DARK else ""),
        )  # fmt: skip
        place = self.place(row, column, inset=inset)
        shade = tag("rect", **place, fill_opacity=f"{depth:.4f}", class_="bx-svg-cell")
        return [shade, number] if printed else [shade]
