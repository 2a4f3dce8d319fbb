"""The batches of each pretraining step, as a function of its number: no state, easy to resume.

Every step has three parts. Packed blocks of running text carry most of the masked words; single
sentences teach the short inputs that visitors type. Sentence pairs teach the next-sentence head; a
quarter of them are masked too. SHARES says how often each text is repeated or thinned out.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bert_core.errors import InputError
from bert_core.finetuning import Loss
from bert_core.model.heads import BertForPreTraining
from bert_core.pretraining import (
    MaskingVocabulary,
    PretrainingBatch,
    Rows,
    RowTokens,
    SentencePair,
    joint_loss,
    mask_tokens,
    pack_blocks,
    pair_rows,
    sentence_pairs,
    sentence_rows,
)
from training.corpus import EVERYDAY, EncodedText

# How often a text is seen in one round: encyclopedia first, then plain and everyday language.
SHARES = {
    "wikipedia-articles-a": 1.0,
    "wikipedia-articles-b": 1.0,
    "wikipedia-intros": 1.0,
    "wikipedia-people": 1.0,
    "simple-wikipedia": 3.0,
    "factbook-sentences": 3.0,
    "factbook": 0.05,  # lists more than sentences
    "masc-written": 2.0,
    "us-presidential-speeches": 0.3,
    "novels-public-domain": 0.8,  # rooms, meals, weather: what encyclopedias take for granted
    EVERYDAY: 2.0,
}
OTHER_SHARE = 0.35  # the textbooks
# Sentences for the single rows, by tokens: neither fragments nor lists.
SENTENCE_LENGTHS = (5, 48)
NO_PAIRS = ("factbook", "factbook-sentences", EVERYDAY)  # neighbours there do not follow each other
PAIRS_IN_A_ROUND = 100_000


@dataclass(frozen=True, slots=True)
class MixtureSettings:
    """Sizes of the parts of one step.

    Attributes:
        blocks: packed blocks of `block_length` tokens.
        long_every: every so many steps the blocks are joined four by four.
        sentences: single sentences.
        everyday: share of the single sentences that come from sets of everyday situations.
        without_stop: share of the single sentences whose full stop is left out.
        pairs: sentence pairs, cut at `pair_length` tokens.
        masked_pairs_every: every so many steps the pairs have masked words too.
        same_document, swapped: shares of the false pairs, see `sentence_pairs`.
        rate: share of tokens masked in blocks, until `rate_falls` of the training is done;
            from there it falls to `last_rate`.
        word_weight: weight of the masked words of sentences and pairs relative to those of blocks.
        pair_word_weight: separate weight for those of pairs; None to use `word_weight`.
        pair_weight: weight of the next-sentence loss relative to the masked words of blocks.
        splits: number of parts the blocks are computed in, in parallel or in sequence.
        seed: random seed.
    """

    blocks: int = 20
    block_length: int = 128
    long_every: int = 8
    sentences: int = 16
    everyday: float = 0.0
    without_stop: float = 0.0
    pairs: int = 96
    pair_length: int = 112
    masked_pairs_every: int = 4
    same_document: float = 0.12
    swapped: float = 0.03
    rate: float = 0.30
    last_rate: float = 0.15
    rate_falls: float = 0.7
    word_weight: float = 0.15
    pair_word_weight: float | None = None
    pair_weight: float = 2.0
    splits: int = 4
    seed: int = 20

    def rate_at(self, progress: float) -> float:
        """Return the masking rate of blocks at a share of the training.

        >>> [round(MixtureSettings().rate_at(p), 3) for p in (0.0, 0.7, 0.85, 1.0)]
        [0.3, 0.3, 0.225, 0.15]
        """
        fallen = max(0.0, (progress - self.rate_falls) / (1.0 - self.rate_falls))
        return self.rate + (self.last_rate - self.rate) * fallen


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a step.

    Attributes:
        name: in the log.
        batch: what the model sees.
        word_weight: weight of the loss of its masked words.
        pair_weight: weight of its next-sentence loss.
        share: how much of what is logged under the name this part is.
    """

    name: str
    batch: PretrainingBatch
    word_weight: float
    pair_weight: float = 0.0
    share: float = 1.0


def part_loss(model: BertForPreTraining, part: Part) -> Loss:
    """Return the weighted joint loss of one part, for `Trainer`."""
    loss = joint_loss(model, part.batch.to(model.device))
    parts = {}
    if part.batch.positions is not None:
        parts[f"masked_lm_{part.name}"] = part.share * loss.masked_lm.detach()
    if part.batch.next_sentence_label is not None:
        parts["next_sentence"] = loss.next_sentence.detach()
    total = part.word_weight * loss.masked_lm + part.pair_weight * loss.next_sentence
    return Loss(total, parts)


class Mixture:
    """Step and progress -> the parts of that step; see `bert_core.finetuning.BatchSource`."""

    def __init__(
        self,
        texts: Sequence[EncodedText],
        vocab: dict[str, int],
        settings: MixtureSettings,
        shares: Mapping[str, float] = SHARES,
        no_pairs: Collection[str] = NO_PAIRS,
    ) -> None:
        self.texts, self.settings = list(texts), settings
        self.shares = [shares.get(text.name, OTHER_SHARE) for text in self.texts]
        self.tokens = RowTokens.from_vocab(vocab)
        self.full_stop = vocab.get(".", -1)
        self.masking = MaskingVocabulary.from_vocab(vocab)
        self.blocks, self.block_text = _pack_all(self.texts, settings.block_length, self.tokens)
        self.sentence_places = _sentence_places(self.texts, self.shares, settings.everyday)
        self.pair_documents = _pair_documents(self.texts, no_pairs)
        self._block_round: tuple[int, NDArray[np.int64]] | None = None
        self._pair_round: tuple[int, list[SentencePair[tuple[int, int]]]] | None = None

    def __call__(self, step: int, progress: float) -> list[Part]:
        """Return blocks, single sentences and pairs of a step."""
        generator = torch.Generator().manual_seed(self.settings.seed * 1_000_003 + step)
        parts = []  # the longest first, so that workers end together
        if self.settings.pairs and self.pair_documents:
            parts.append(self._pair_part(step, generator))
        parts += self._block_parts(step, progress, generator)
        if self.settings.sentences:
            parts.append(self._sentence_part(step, generator))
        return parts

    # -- packed blocks ---------------------------------------------------------------------------

    def _block_parts(self, step: int, progress: float, generator: torch.Generator) -> list[Part]:
        settings = self.settings
        chosen = self._block_indices(step)
        if settings.long_every and step % settings.long_every == settings.long_every - 1:
            input_ids = self._joined(chosen[: max(1, len(chosen) // 4)])
        else:
            input_ids = torch.from_numpy(self.blocks[chosen].astype(np.int64))
        rate, parts = settings.rate_at(progress), []
        for rows in input_ids.chunk(settings.splits):
            share = len(rows) / len(input_ids)
            parts.append(Part("blocks", self._masked(rows, rate, generator), share, share=share))
        return parts

    def _block_indices(self, step: int) -> NDArray[np.int64]:
        """Return the blocks of a step; a round shows each text as often as SHARES says."""
        count = self.settings.blocks
        steps = max(1, int(_expected_round(self.block_text, self.shares)) // count)
        number, place = divmod(step, steps)
        if self._block_round is None or self._block_round[0] != number:
            source = np.random.default_rng((self.settings.seed, number))
            self._block_round = (number, _draw_round(self.block_text, self.shares, source))
        order = self._block_round[1]
        return order[(np.arange(count) + place * count) % len(order)]

    def _joined(self, first: NDArray[np.int64]) -> Tensor:
        """Join every four neighbouring blocks into one long row, without inner special tokens."""
        rows = []
        for index in first:
            start = min(int(index), len(self.blocks) - 4) if len(self.blocks) >= 4 else 0
            four = self.blocks[start : start + 4, 1:-1].reshape(-1)[: 512 - 2]
            row = np.concatenate([[self.tokens.cls_id], four, [self.tokens.sep_id]])
            rows.append(torch.from_numpy(row.astype(np.int64)))
        return torch.stack(rows)

    # -- single sentences and pairs --------------------------------------------------------------

    def _sentence_part(self, step: int, generator: torch.Generator) -> Part:
        source = np.random.default_rng((self.settings.seed, 1, step))
        texts, places, weights = self.sentence_places
        chosen = source.choice(len(texts), size=self.settings.sentences, p=weights)
        sentences = []
        for index in chosen:
            place = places[index][source.integers(len(places[index]))]
            sentence = self.texts[texts[index]].sentence(int(place))
            if sentence[-1] == self.full_stop and source.random() < self.settings.without_stop:
                sentence = sentence[:-1]
            sentences.append(sentence)
        rows = sentence_rows(sentences, SENTENCE_LENGTHS[1] + 2, self.tokens)
        batch = self._masked(rows.input_ids, 0.2, generator, rows=rows, whole_words=True)
        return Part("sentences", batch, self.settings.word_weight)

    def _pair_part(self, step: int, generator: torch.Generator) -> Part:
        pairs = self._pairs(step)
        rows = pair_rows(
            [(self._sentence(pair.first), self._sentence(pair.second)) for pair in pairs],
            self.settings.pair_length,
            self.tokens,
        )
        labels = torch.tensor([pair.label for pair in pairs])
        if step % self.settings.masked_pairs_every:  # whole sentences, as they are judged later
            batch = PretrainingBatch(
                rows.input_ids,
                rows.token_type_ids,
                rows.attention_mask,
                next_sentence_label=labels,
            )
        else:
            batch = self._masked(rows.input_ids, 0.15, generator, rows=rows, labels=labels)
        word_weight = self.settings.pair_word_weight
        if word_weight is None:
            word_weight = self.settings.word_weight
        return Part("pairs", batch, word_weight, self.settings.pair_weight)

    def _pairs(self, step: int) -> list[SentencePair[tuple[int, int]]]:
        """Return the pairs of a step; four steps share a pool that is sorted by length."""
        count, pool = self.settings.pairs, 4 * self.settings.pairs
        number, place = divmod(step // 4 * pool, PAIRS_IN_A_ROUND // pool * pool)
        if self._pair_round is None or self._pair_round[0] != number:
            seed = self.settings.seed * 1_000 + number
            made = sentence_pairs(
                self.pair_documents,
                count=PAIRS_IN_A_ROUND,
                same_document=self.settings.same_document,
                swapped=self.settings.swapped,
                seed=seed,
            )
            self._pair_round = (number, made)
        drawn = self._pair_round[1][place : place + pool]
        drawn = sorted(drawn, key=lambda pair: self._length(pair.first) + self._length(pair.second))
        turn = (step + step // 4) % 4
        return drawn[turn * count : (turn + 1) * count]

    def _sentence(self, place: tuple[int, int]) -> list[int]:
        return self.texts[place[0]].sentence(place[1])

    def _length(self, place: tuple[int, int]) -> int:
        starts = self.texts[place[0]].sentences
        return int(starts[place[1] + 1] - starts[place[1]])

    def _masked(
        self,
        input_ids: Tensor,
        rate: float,
        generator: torch.Generator,
        *,
        rows: Rows | None = None,
        labels: Tensor | None = None,
        whole_words: bool = False,
    ) -> PretrainingBatch:
        masked = mask_tokens(
            input_ids, self.masking, rate=rate, whole_words=whole_words, generator=generator
        )
        return PretrainingBatch(
            masked.input_ids,
            None if rows is None else rows.token_type_ids,
            None if rows is None else rows.attention_mask,
            masked.positions,
            masked.position_labels,
            labels,
        )


def _pack_all(
    texts: Sequence[EncodedText], length: int, tokens: RowTokens
) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
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


def _expected_round(origin: NDArray[np.int64], shares: Sequence[float]) -> float:
    """Return how many blocks a round has."""
    counts = np.bincount(origin, minlength=len(shares))
    return float(sum(int(count * share) for count, share in zip(counts, shares, strict=True)))


def _draw_round(
    origin: NDArray[np.int64], shares: Sequence[float], source: np.random.Generator
) -> NDArray[np.int64]:
    """Return the block numbers of one round in random order."""
    drawn = []
    for index, share in enumerate(shares):
        own = np.flatnonzero(origin == index)
        wanted = int(len(own) * share)
        repeats = [source.permutation(own) for _ in range(wanted // max(1, len(own)) + 1)]
        drawn.append(np.concatenate(repeats)[:wanted])
    order = np.concatenate(drawn)
    return source.permutation(order if len(order) else np.arange(len(origin)))


def _sentence_places(
    texts: Sequence[EncodedText], shares: Sequence[float], everyday: float
) -> tuple[list[int], list[NDArray[np.int64]], NDArray[np.float64]]:
    """Return texts, their sentences of a fitting length, and how likely each text is drawn."""
    chosen, places, weights = [], [], []
    for index, text in enumerate(texts):
        lengths = np.diff(text.sentences)
        low, high = SENTENCE_LENGTHS
        fitting = np.flatnonzero((lengths >= low) & (lengths <= high))
        if len(fitting) and shares[index]:
            chosen.append(index)
            places.append(fitting)
            weights.append(len(fitting) * shares[index])
    total = np.asarray(weights, dtype=np.float64)
    short = np.asarray([texts[index].name == EVERYDAY for index in chosen])
    for mask, share in ((short, everyday), (~short, 1.0 - everyday)):
        if short.any() and not short.all():
            total[mask] *= share / total[mask].sum()
    return chosen, places, total / total.sum()


def _pair_documents(
    texts: Sequence[EncodedText], no_pairs: Collection[str]
) -> list[list[tuple[int, int]]]:
    """Return documents as lists of places (text, sentence) for `sentence_pairs`."""
    documents = []
    for index, text in enumerate(texts):
        if text.name in no_pairs:
            continue
        for start, end in zip(text.documents[:-1], text.documents[1:], strict=True):
            if end - start >= 2:
                documents.append([(index, sentence) for sentence in range(start, end)])
    return documents if len(documents) > 1 else []
