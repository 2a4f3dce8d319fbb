"""The batches of each pretraining step, as a function of its number: no state, easy to resume.

Every step has three parts. Packed blocks of running text carry most of the masked words; single
sentences teach the short inputs that visitors type. Sentence pairs teach the next-sentence head.
SHARES says how often each text is repeated or thinned out. `training.long_mixture` builds the steps
of the long pretraining from the same parts.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

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
    gather_positions,
    joint_loss,
    mask_tokens,
    pack_blocks,
    pair_rows,
    sentence_pairs,
    sentence_rows,
)
from training.corpus import EVERYDAY, EncodedText
from training.hiding import Hidden

T = TypeVar("T")
Ids = NDArray[np.int64]
Place = tuple[int, int]  # a text and a sentence of it
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
SHARING = 4  # steps that share a pool of short rows sorted by length, for less padding


@dataclass(frozen=True, slots=True)
class StepSettings:
    """What the steps of both pretraining stages have in common.

    Attributes:
        blocks: packed blocks of `block_length` tokens.
        long_every: every so many steps the blocks are joined four by four.
        sentences: single sentences.
        without_stop: share of the single sentences whose full stop is left out.
        pairs: sentence pairs, cut at `pair_length` tokens.
        masked_pairs_every: every so many steps the pairs have masked words too.
        same_document, swapped: shares of the false pairs, see `sentence_pairs`.
        rate: share of tokens masked in blocks, until `rate_falls` of the training is done;
            from there it falls to `last_rate`.
        pair_weight: weight of the next-sentence loss relative to the masked words of blocks.
        seed: random seed.
    """

    blocks: int = 20
    block_length: int = 128
    long_every: int = 8
    sentences: int = 16
    without_stop: float = 0.15
    pairs: int = 96
    pair_length: int = 112
    masked_pairs_every: int = 2
    same_document: float = 0.25
    swapped: float = 0.03
    rate: float = 0.30
    last_rate: float = 0.15
    rate_falls: float = 0.7
    pair_weight: float = 1.5
    seed: int = 20

    def rate_at(self, progress: float) -> float:
        """Return the masking rate of blocks at a share of the training.

        >>> [round(StepSettings().rate_at(p), 3) for p in (0.0, 0.7, 0.85, 1.0)]
        [0.3, 0.3, 0.225, 0.15]
        """
        fallen = max(0.0, (progress - self.rate_falls) / (1.0 - self.rate_falls))
        return self.rate + (self.last_rate - self.rate) * fallen


@dataclass(frozen=True, slots=True)
class MixtureSettings(StepSettings):
    """Sizes of the parts of one step.

    Attributes:
        everyday: share of the single sentences that come from sets of everyday situations.
        word_weight: weight of the masked words of sentences and pairs relative to those of blocks.
        pair_word_weight: separate weight for those of pairs; None to use `word_weight`.
        splits: number of parts the blocks are computed in, in parallel or in sequence.
    """

    everyday: float = 0.0
    word_weight: float = 0.15
    pair_word_weight: float | None = None
    splits: int = 4


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a step.

    Attributes:
        name: in the log.
        batch: what the model sees.
        word_weight: weight of the loss of its masked words.
        pair_weight: weight of its next-sentence loss.
        share: how much of what is logged under the name this part is.
        pair_share: how much of the step's sentence pairs this part is.
    """

    name: str
    batch: PretrainingBatch
    word_weight: float
    pair_weight: float = 0.0
    share: float = 1.0
    pair_share: float = 1.0


def part_loss(model: BertForPreTraining, part: Part) -> Loss:
    """Return the weighted joint loss of one part, for `Trainer`."""
    loss = joint_loss(model, part.batch.to(model.device))
    parts = {}
    if part.batch.positions is not None:
        parts[f"masked_lm_{part.name}"] = part.share * loss.masked_lm.detach()
    if part.batch.next_sentence_label is not None:
        parts["next_sentence"] = part.pair_share * loss.next_sentence.detach()
    total = part.word_weight * loss.masked_lm + part.pair_weight * loss.next_sentence
    return Loss(total, parts)


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


class TextParts:
    """Blocks, sentences and pairs of running text, from which both mixtures build their steps.

    Args:
        texts: encoded texts, without evaluation data.
        vocab: the tokenizer's vocabulary.
        settings: sizes.
        shares: how often each text is seen in one round of blocks.
        no_pairs: texts whose neighbouring sentences do not follow each other.
    """

    def __init__(
        self,
        texts: Sequence[EncodedText],
        vocab: Mapping[str, int],
        settings: StepSettings,
        shares: Mapping[str, float] = SHARES,
        no_pairs: Collection[str] = NO_PAIRS,
    ) -> None:
        self.texts, self.sizes = list(texts), settings
        self.shares = [shares.get(text.name, OTHER_SHARE) for text in self.texts]
        self.tokens = RowTokens.from_vocab(vocab)
        self.full_stop = vocab.get(".", -1)
        self.masking = MaskingVocabulary.from_vocab(vocab)
        self.blocks, self.block_text = _pack_all(self.texts, settings.block_length, self.tokens)
        self.pair_documents = _pair_documents(self.texts, no_pairs)
        self._block_round = Latest(self._draw_blocks)
        self._pair_round = Latest(self._draw_pairs)

    # -- packed blocks ---------------------------------------------------------------------------

    def _block_rows(self, step: int) -> Tensor:
        """Return the blocks of a step (B, T), in some steps joined four by four."""
        chosen, every = self._block_indices(step), self.sizes.long_every
        if every and step % every == every - 1:
            return self._joined(chosen[: max(1, len(chosen) // 4)])
        return torch.from_numpy(self.blocks[chosen].astype(np.int64))

    def _block_indices(self, step: int) -> Ids:
        """Return the blocks of a step; a round shows each text as often as its share says."""
        count, sizes = self.sizes.blocks, np.bincount(self.block_text, minlength=len(self.shares))
        in_a_round = sum(int(n * share) for n, share in zip(sizes, self.shares, strict=True))
        number, place = divmod(step, max(1, in_a_round // count))
        order = self._block_round(number)
        return order[(np.arange(count) + place * count) % len(order)]

    def _draw_blocks(self, number: int) -> Ids:
        """Return the block numbers of one round in random order."""
        source = np.random.default_rng((self.sizes.seed, number))
        drawn = []
        for index, share in enumerate(self.shares):
            own = np.flatnonzero(self.block_text == index)
            wanted = int(len(own) * share)
            repeats = [source.permutation(own) for _ in range(wanted // max(1, len(own)) + 1)]
            drawn.append(np.concatenate(repeats)[:wanted])
        order = np.concatenate(drawn)
        return source.permutation(order if len(order) else np.arange(len(self.block_text)))

    def _joined(self, first: Ids) -> Tensor:
        """Join every four neighbouring blocks into one long row, without inner special tokens."""
        rows = []
        for index in first:
            start = min(int(index), len(self.blocks) - 4) if len(self.blocks) >= 4 else 0
            four = self.blocks[start : start + 4, 1:-1].reshape(-1)[: 512 - 2]
            row = np.concatenate([[self.tokens.cls_id], four, [self.tokens.sep_id]])
            rows.append(torch.from_numpy(row.astype(np.int64)))
        return torch.stack(rows)

    # -- single sentences and pairs --------------------------------------------------------------

    def _drawn(self, places: Ids, text: int, source: np.random.Generator) -> list[int]:
        """Return one of these sentences of a text, sometimes without its full stop."""
        sentence = self.texts[text].sentence(int(places[source.integers(len(places))]))
        if sentence[-1] == self.full_stop and source.random() < self.sizes.without_stop:
            return sentence[:-1]
        return sentence

    def _sentence_rows(self, sentences: Sequence[Sequence[int]]) -> Rows:
        return sentence_rows(sentences, SENTENCE_LENGTHS[1] + 2, self.tokens)

    def _pair_batch(self, step: int, generator: torch.Generator) -> PretrainingBatch:
        pairs = self._pairs(step)
        rows = pair_rows(
            [(self._sentence(pair.first), self._sentence(pair.second)) for pair in pairs],
            self.sizes.pair_length,
            self.tokens,
        )
        if step % self.sizes.masked_pairs_every:  # whole sentences, as they are judged later
            batch = PretrainingBatch(rows.input_ids, rows.token_type_ids, rows.attention_mask)
        else:
            batch = labelled([self._masked(rows.input_ids, 0.15, generator)], rows)
        return replace(batch, next_sentence_label=torch.tensor([pair.label for pair in pairs]))

    def _pairs(self, step: int) -> list[SentencePair[Place]]:
        """Return the pairs of a step; four steps share a pool that is sorted by length."""
        count, pool = self.sizes.pairs, SHARING * self.sizes.pairs
        number, place = divmod(step // SHARING * pool, PAIRS_IN_A_ROUND // pool * pool)
        drawn = self._pair_round(number)[place : place + pool]
        drawn = sorted(drawn, key=lambda pair: self._length(pair.first) + self._length(pair.second))
        turn = (step + step // SHARING) % SHARING
        return drawn[turn * count : (turn + 1) * count]

    def _draw_pairs(self, number: int) -> list[SentencePair[Place]]:
        return sentence_pairs(
            self.pair_documents,
            count=PAIRS_IN_A_ROUND,
            same_document=self.sizes.same_document,
            swapped=self.sizes.swapped,
            seed=self.sizes.seed * 1_000 + number,
        )

    def _sentence(self, place: Place) -> list[int]:
        return self.texts[place[0]].sentence(place[1])

    def _length(self, place: Place) -> int:
        starts = self.texts[place[0]].sentences
        return int(starts[place[1] + 1] - starts[place[1]])

    def _masked(
        self, input_ids: Tensor, rate: float, generator: torch.Generator, whole_words: bool = False
    ) -> Hidden:
        """Return corrupted ids and labels, both (B, T)."""
        masked = mask_tokens(
            input_ids, self.masking, rate=rate, whole_words=whole_words, generator=generator
        )
        return masked.input_ids, masked.labels


class Mixture(TextParts):
    """Step and progress -> the parts of that step; see `bert_core.finetuning.BatchSource`."""

    def __init__(
        self, texts: Sequence[EncodedText], vocab: Mapping[str, int], settings: MixtureSettings
    ) -> None:
        super().__init__(texts, vocab, settings)
        self.settings = settings
        self.places = [fitting_sentences(text) for text in self.texts]
        self.weights = self._sentence_weights()

    def __call__(self, step: int, progress: float) -> list[Part]:
        """Return blocks, single sentences and pairs of a step."""
        settings = self.settings
        generator = torch.Generator().manual_seed(settings.seed * 1_000_003 + step)
        parts = []  # the longest first, so that workers end together
        if settings.pairs and self.pair_documents:
            weight = settings.pair_word_weight
            weight = settings.word_weight if weight is None else weight
            batch = self._pair_batch(step, generator)
            parts.append(Part("pairs", batch, weight, settings.pair_weight))
        input_ids, rate = self._block_rows(step), settings.rate_at(progress)
        for rows in input_ids.chunk(settings.splits):
            share = len(rows) / len(input_ids)
            batch = labelled([self._masked(rows, rate, generator)])
            parts.append(Part("blocks", batch, share, share=share))
        if settings.sentences:
            parts.append(self._sentence_part(step, generator))
        return parts

    def _sentence_part(self, step: int, generator: torch.Generator) -> Part:
        source = np.random.default_rng((self.settings.seed, 1, step))
        texts = source.choice(len(self.texts), size=self.settings.sentences, p=self.weights)
        rows = self._sentence_rows([self._drawn(self.places[n], n, source) for n in texts])
        masked = self._masked(rows.input_ids, 0.2, generator, whole_words=True)
        return Part("sentences", labelled([masked], rows), self.settings.word_weight)

    def _sentence_weights(self) -> NDArray[np.float64]:
        """Return the probability of drawing from each text."""
        weights = np.array([len(own) for own in self.places]) * np.array(self.shares)
        short = np.array([text.name == EVERYDAY for text in self.texts])
        everyday = self.settings.everyday
        if weights[short].any() and weights[~short].any():
            weights[short] *= everyday / weights[short].sum()
            weights[~short] *= (1.0 - everyday) / weights[~short].sum()
        shares: NDArray[np.float64] = weights / weights.sum()
        return shares


def labelled(parts: Sequence[Hidden], rows: Rows | None = None) -> PretrainingBatch:
    """Build a batch from rows with hidden words, in parts below each other.

    Padded rows also need `rows`, their form before anything was hidden.
    """
    ids, labels = (torch.cat(each) for each in zip(*parts, strict=True))
    positions, position_labels, _ = gather_positions(labels)
    types, mask = (None, None) if rows is None else (rows.token_type_ids, rows.attention_mask)
    return PretrainingBatch(ids, types, mask, positions, position_labels)


def fitting_sentences(text: EncodedText, odd: Sequence[int] = (), quote: int = -1) -> Ids:
    """Return the sentences of a fitting length, without odd pieces and two quotes in a row."""
    doubled = np.zeros(len(text.ids), dtype=bool)
    doubled[1:] = (text.ids[1:] == quote) & (text.ids[:-1] == quote)
    bad = np.concatenate([[0], np.cumsum(np.isin(text.ids, odd) | doubled)])
    clean = bad[text.sentences[1:]] == bad[text.sentences[:-1]]
    lengths, (low, high) = np.diff(text.sentences), SENTENCE_LENGTHS
    return np.flatnonzero((lengths >= low) & (lengths <= high) & clean)


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


def _pair_documents(texts: Sequence[EncodedText], no_pairs: Collection[str]) -> list[list[Place]]:
    """Return documents as lists of places (text, sentence) for `sentence_pairs`."""
    documents = []
    for index, text in enumerate(texts):
        if text.name in no_pairs:
            continue
        for start, end in zip(text.documents[:-1], text.documents[1:], strict=True):
            if end - start >= 2:
                documents.append([(index, sentence) for sentence in range(start, end)])
    return documents if len(documents) > 1 else []
