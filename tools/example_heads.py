"""The heads that the attention examples open: `python -m tools.derive examples` chooses them.

An example's `wanted` names links, as "from → to"; "bank#2" is the second piece with that spelling.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from app.catalog import FOLDER
from app.engine.models import Engine
from app.features.attention.task import attention
from bert_core.analysis.statistics_file import read_head_statistics
from bert_core.bundled import bundled_folder

FILE = FOLDER / "attention" / "examples.toml"

_HEAD = re.compile(r"^layer = \d+\nhead = \d+$", re.MULTILINE)
_BLOCK = "[[example]]\n"
_LOOKING = {"Nearest noun": "to_previous", "One step ahead": "to_next"}
_SAME_HEAD = {"The same guess": "A guess at “it”"}


def choose_heads(engine: Engine, text: str) -> dict[str, tuple[int, int]]:
    """Choose the layer and head that each example opens, by its label.

    An example of a way of looking opens the head that looks this way most, by the head statistics.
    Any other opens, of the remaining heads, the one whose weakest wanted link is strongest, and
    "The same guess" opens that of the guess.
    """
    statistics = read_head_statistics(bundled_folder(engine.provenance.name))
    heads = {label: strongest(getattr(statistics, name)) for label, name in _LOOKING.items()}
    taken = tuple(heads.values())
    for row in tomllib.loads(text)["example"]:
        if "wanted" in row and row["label"] not in {*_LOOKING, *_SAME_HEAD}:
            result = attention(engine, row["text"], row.get("text_pair", ""))
            links = weakest_link(np.stack(result.attentions), result.tokens, row["wanted"])
            for head in taken:
                links[head] = 0
            heads[row["label"]] = strongest(links)
    return heads | {label: heads[other] for label, other in _SAME_HEAD.items()}


def strongest(shares: NDArray[np.floating]) -> tuple[int, int]:
    """Return the layer and head with the largest share (L, H), nan left out."""
    layer, head = divmod(int(np.nanargmax(shares)), shares.shape[1])
    return layer, head


def weakest_link(
    attentions: NDArray[np.floating], tokens: Sequence[str], wanted: Sequence[str]
) -> NDArray[np.floating]:
    """Return the smallest attention (L, H) of the links in each head, from all (L, H, T, T)."""
    counts = [tokens[: n + 1].count(token) for n, token in enumerate(tokens)]
    names = [t if n == 1 else f"{t}#{n}" for t, n in zip(tokens, counts, strict=True)]
    ends = [[names.index(end) for end in link.split(" → ")] for link in wanted]
    links = np.stack([attentions[:, :, row, column] for row, column in ends])  # (N, L, H)
    weakest: NDArray[np.floating] = links.min(axis=0)
    return weakest


def with_heads(text: str, heads: Mapping[str, tuple[int, int]]) -> str:
    """Return a file of examples in which they open these heads, by label."""
    start, *blocks = text.split(_BLOCK)
    for number, row in enumerate(tomllib.loads(text)["example"]):
        if row["label"] in heads:
            layer, head = heads[row["label"]]
            blocks[number] = _HEAD.sub(f"layer = {layer}\nhead = {head}", blocks[number])
    return _BLOCK.join([start, *blocks])
