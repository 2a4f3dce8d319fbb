"""What lies beside a model's weights for people to read: card, figures, bias, learning curves.

All of it may come from strangers: it is bounded in size, read as text, and never followed.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from bert_core.analysis.head_statistics import HeadStatistics
from bert_core.analysis.statistics_file import read_head_statistics, stale_because
from bert_core.bundled.figures import Figure, read_figures
from bert_core.bundled.leanings import Bias, read_bias
from bert_core.errors import BertError, CheckpointError, MissingFileError
from bert_core.small_files import open_regular, read_small
from bert_core.verification.stored import JSON_NAME, TENSORS_NAME

T = TypeVar("T")

CARD = "README.md"
CARD_BYTES = 200_000  # the longest cards on the Hub have about half of that
_CURVES = "curve-*.svg"
_MOST_CURVES = 6
_CURVE_BYTES = 500_000


@dataclass(frozen=True, slots=True)
class Papers:
    """What was found beside the weights.

    Attributes:
        card: the model card, its first `CARD_BYTES` bytes as text; "" where there is none.
        card_bytes: what the whole card has.
        figures: what was measured; () where nothing was.
        bias: towards which words the model leans; None where that was not measured.
        curves: learning curves as SVG: name and content.
        verifiable: there is something that the weights can be compared with.
        problems: what is there and cannot be read; paths not yet taken out.
    """

    card: str
    card_bytes: int
    figures: tuple[Figure, ...]
    bias: Bias | None
    curves: tuple[tuple[str, bytes], ...]
    verifiable: bool
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StatisticsOnFile:
    """Where heads usually look.

    Attributes:
        statistics: the numbers.
        stale: why they are not those of the model they lie beside; "" where they are.
    """

    statistics: HeadStatistics
    stale: str


def read_papers(folder: Path) -> Papers:
    """Read what lies beside the weights of a folder; what is missing or damaged stops nothing."""
    problems: list[str] = []
    card, card_bytes = _try(lambda: _read_card(folder / CARD), ("", 0), problems)
    curves = sorted(folder.glob(_CURVES))[:_MOST_CURVES]
    reads = [(path.name, partial(read_small, path, _CURVE_BYTES)) for path in curves]
    drawn = [(name, _try(read, b"", problems)) for name, read in reads]
    return Papers(
        card=card,
        card_bytes=card_bytes,
        figures=_try(lambda: read_figures(folder), (), problems),
        bias=_try(lambda: read_bias(folder), None, problems),
        curves=tuple((name, svg) for name, svg in drawn if svg),
        verifiable=(folder / JSON_NAME).exists() and (folder / TENSORS_NAME).exists(),
        problems=tuple(problems),
    )


def read_statistics(folder: Path, size: tuple[int, int]) -> StatisticsOnFile | None:
    """Read where the heads of a folder's model usually look; None where there is no such file.

    Args:
        folder: the model's folder; its weights are hashed.
        size: layers, and heads in each.

    Raises:
        CheckpointError: the file is damaged, or about a model of another size.
    """
    try:
        found = read_head_statistics(folder)
    except MissingFileError:
        return None
    if (found.layers, found.heads) != size:
        raise CheckpointError(
            f"The statistics of its heads are about {found.layers} layers of {found.heads} heads; "
            f"the model has {size[0]} of {size[1]}. Measure them again."
        )
    return StatisticsOnFile(found, stale_because(found, folder))


def _try(read: Callable[[], T], otherwise: T, problems: list[str]) -> T:
    """Read one thing; what is not there is no problem."""
    try:
        return read()
    except MissingFileError:
        return otherwise
    except BertError as error:
        problems.append(str(error))
        return otherwise


def _read_card(path: Path) -> tuple[str, int]:
    """Return the beginning of a card as text, and the bytes of all of it."""
    with os.fdopen(open_regular(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        return file.read(CARD_BYTES).decode("utf-8", errors="replace"), size
