"""Texts to blocks and sentence pairs: which of them a step sees, from its number alone."""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Annotated, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bert_core.errors import InputError
from bert_core.pretraining import RowTokens, SentencePair, pack_blocks, sentence_pairs
from training.corpus import EncodedText

T = TypeVar("T")
Ids = NDArray[np.int64]
Place = tuple[int, int]  # a text and a sentence of it
_TABLE = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))
TEXTS: dict[str, dict[str, float]] = _TABLE["texts"]
OTHER: dict[str, float] = _TABLE["other"]
NO_PAIRS = frozenset(name for name, use in TEXTS.items() if not use.get("pairs", True))
PAIRS_IN_A_ROUND = 100_000
SHARING = 4  # steps that share a pool of short rows sorted by length, for less padding
_COUNTS = ("blocks", "sentences", "pairs", "part_tokens")


@dataclass(frozen=True, slots=True)
class TextSettings:
    """Sizes of the parts of one step of running text."""

    blocks: Annotated[int, "packed blocks of `block_length` tokens"] = 40
    block_length: Annotated[int, "tokens"] = 128
    long_every: Annotated[int, "every so many steps the blocks are joined four by four"] = 16
    sentences: Annotated[int, "single sentences"] = 200
    without_stop: Annotated[float, "share of them whose full stop is left out"] = 0.1
    pairs: Annotated[int, "sentence pairs, cut at `pair_length` tokens"] = 18
    pair_length: Annotated[int, "tokens"] = 128
    masked_pairs_every: Annotated[int, "every so many steps the pairs have masked words too"] = 2
    same_document: Annotated[float, "share of the false pairs, see `sentence_pairs`"] = 0.38
    swapped: Annotated[float, "share of the false pairs, see `sentence_pairs`"] = 0.27
    rate: Annotated[float, "share of tokens masked in blocks"] = 0.2
    rate_falls: Annotated[float, "share of the training done when the rate begins to fall"] = 0.75
    last_rate: Annotated[float, "of the last step"] = 0.15
    pair_weight: Annotated[float, "of the next-sentence loss, beside the masked words"] = 0.5
    everywhere: Annotated[float, "share of the blocks with words hidden everywhere"] = 0.5
    asked: Annotated[float, "share of the sentences with words hidden as a visitor would"] = 0.5
    any_word: Annotated[float, "share of the asked ones in which any word may be hidden"] = 0.25
    part_tokens: Annotated[int, "tokens in a part of a step, about"] = 1_280
    seed: int = 40

    def rate_at(self, progress: float) -> float:
        """Return the masking rate of blocks at a share of the training.

        >>> [round(TextSettings().rate_at(p), 3) for p in (0.0, 0.75, 0.875, 1.0)]
        [0.2, 0.2, 0.175, 0.15]
        """
        fallen = max(0.0, (progress - self.rate_falls) / (1.0 - self.rate_falls))
        return self.rate + (self.last_rate - self.rate) * fallen

    def times(self, factor: float) -> "TextSettings":
        """Return the same step so many times as large, in as many parts."""
        sizes = {name: ceil(factor * getattr(self, name)) for name in _COUNTS}
        return replace(self, **sizes)


class Latest(Generic[T]):
    """The value made for a number, kept until another number is asked for."""

    def __init__(self, make: Callable[[int], T]) -> None:
        self.make = make
        self._kept: tuple[int, T] | None = None

    def __call__(self, number: int) -> T:
        """Return the value of a number."""
        if self._kept is None or self._kept[0] != number:
            self._kept = (number, self.make(number))
        return self._kept[1]


class Blocks:
    """Map a step to its blocks; a round of steps shows each text as often as its share says.

    Raises:
        InputError: the texts are shorter than a block.
    """

    def __init__(
        self, texts: Sequence[EncodedText], tokens: RowTokens, settings: TextSettings
    ) -> None:
        self.tokens, self.settings = tokens, settings
        self.shares = [TEXTS.get(text.name, OTHER)["blocks"] for text in texts]
        self.packed, self.text = _pack_all(texts, settings.block_length, tokens)
        sizes = np.bincount(self.text, minlength=len(self.shares))
        self.round = sum(int(n * share) for n, share in zip(sizes, self.shares, strict=True))
        self._order = Latest(self._draw)

    def __call__(self, step: int) -> Tensor:
        """Return the blocks of a step (B, T), in some steps joined four by four."""
        count, every = self.settings.blocks, self.settings.long_every
        number, place = divmod(step, max(1, self.round // count))
        order = self._order(number)
        chosen = order[(np.arange(count) + place * count) % len(order)]
        if every and step % every == every - 1:
            return self._joined(chosen[: max(1, len(chosen) // 4)])
        return torch.from_numpy(self.packed[chosen].astype(np.int64))

    def _draw(self, number: int) -> Ids:
        """Return the block numbers of one round in random order."""
        source = np.random.default_rng((self.settings.seed, number))
        drawn = []
        for index, share in enumerate(self.shares):
            own = np.flatnonzero(self.text == index)
            wanted = int(len(own) * share)
            repeats = [source.permutation(own) for _ in range(wanted // max(1, len(own)) + 1)]
            drawn.append(np.concatenate(repeats)[:wanted])
        order = np.concatenate(drawn)
        return source.permutation(order if len(order) else np.arange(len(self.text)))

    def _joined(self, first: Ids) -> Tensor:
        """Join every four neighbouring blocks into one long row, without inner special tokens."""
        rows = []
        for index in first:
            start = min(int(index), len(self.packed) - 4) if len(self.packed) >= 4 else 0
            four = self.packed[start : start + 4, 1:-1].reshape(-1)[: 512 - 2]
            row = np.concatenate([[self.tokens.cls_id], four, [self.tokens.sep_id]])
            rows.append(torch.from_numpy(row.astype(np.int64)))
        return torch.stack(rows)


def _pack_all(
    texts: Sequence[EncodedText], length: int, tokens: RowTokens
) -> tuple[NDArray[np.uint16], Ids]:
    """Pack every text into blocks; return them (N, length) and the text each came from (N,)."""
    packed, origin = [], []
    for index, text in enumerate(texts):
        blocks = pack_blocks(text.document_ids(), length, tokens)
        full = [block for block in blocks if len(block) == length]  # one remainder a text
        if full:
            packed.append(np.asarray(full, dtype=np.uint16))
            origin.append(np.full(len(full), index, dtype=np.int64))
    if not packed:
        total = sum(len(text.ids) for text in texts)
        raise InputError(
            f"The texts have {total} tokens together; a block takes {length}. Give more text."
        )
    return np.concatenate(packed), np.concatenate(origin)


class Pairs:
    """Map a step to its sentence pairs, half of them true neighbours; false if there are none."""

    def __init__(self, texts: Sequence[EncodedText], settings: TextSettings) -> None:
        self.texts, self.settings = texts, settings
        documents = [
            [(index, sentence) for sentence in range(start, end)]
            for index, text in enumerate(texts)
            if text.name not in NO_PAIRS
            for start, end in zip(text.documents[:-1], text.documents[1:], strict=True)
            if end - start >= 2
        ]
        self.documents: list[list[Place]] = documents if len(documents) > 1 else []
        self._round = Latest(self._draw)

    def __bool__(self) -> bool:
        return bool(self.documents)

    def __call__(self, step: int) -> list[SentencePair[Place]]:
        """Return the pairs of a step; four steps share a pool that is sorted by length."""
        count, pool = self.settings.pairs, SHARING * self.settings.pairs
        number, place = divmod(step // SHARING * pool, PAIRS_IN_A_ROUND // pool * pool)
        drawn = sorted(
            self._round(number)[place : place + pool],
            key=lambda pair: self._length(pair.first) + self._length(pair.second),
        )
        turn = (step + step // SHARING) % SHARING
        return drawn[turn * count : (turn + 1) * count]

    def sentence(self, place: Place) -> list[int]:
        """Return the token ids of a sentence."""
        return self.texts[place[0]].sentence(place[1])

    def _length(self, place: Place) -> int:
        starts = self.texts[place[0]].sentences
        return int(starts[place[1] + 1] - starts[place[1]])

    def _draw(self, number: int) -> list[SentencePair[Place]]:
        return sentence_pairs(
            self.documents,
            count=PAIRS_IN_A_ROUND,
            same_document=self.settings.same_document,
            swapped=self.settings.swapped,
            seed=self.settings.seed * 1_000 + number,
        )
