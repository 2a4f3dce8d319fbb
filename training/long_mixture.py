"""The batches of each step of the long pretraining, as a function of the step number alone.

About half of the tokens are in blocks of running text. Some blocks have single pieces hidden, as in
the original BERT; the others have whole words hidden at every occurrence, because a hidden word
that can be copied teaches copying. The rest are short rows like those visitors type: single
sentences, facts stated by templates, and sentence pairs for the next-sentence head.

Every masked word has the same weight, whichever part it is in.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bert_core.finetuning import Loss
from bert_core.model.heads import BertForPreTraining
from bert_core.pretraining import (
    PretrainingBatch,
    gather_positions,
    mask_tokens,
    sentence_rows,
)
from training.corpus import EVERYDAY, EncodedText
from training.hiding import (
    WordTables,
    asked_places,
    everywhere_places,
    hidden_batch,
    joined_batches,
)
from training.mixture import (
    NO_PAIRS,
    SENTENCE_LENGTHS,
    SHARES,
    Mixture,
    MixtureSettings,
    Part,
    part_loss,
)
from training.relations import Relations

# How often each text is seen in one round of blocks; isolated sentences form no blocks.
SHORT_TEXTS = ("tatoeba-sentences", "wordnet-examples", "wordnet-definitions")
BLOCK_SHARES = {
    **SHARES,
    "novels-public-domain": 0.5,
    "masc-written": 1.0,
    **dict.fromkeys((*SHORT_TEXTS, EVERYDAY), 0.0),
}
# The share of the single sentences drawn from each text.
SENTENCE_SHARES = {
    "tatoeba-sentences": 0.37,
    "wordnet-examples": 0.16,
    "wordnet-definitions": 0.13,
    "simple-wikipedia": 0.11,
    "wikipedia-intros": 0.05,
    "factbook-sentences": 0.05,
    "masc-written": 0.05,
    "novels-public-domain": 0.05,
    EVERYDAY: 0.03,
}
# Not what people type: addresses, two quotation marks in a row, and text the vocabulary lacks.
ODD_PIECES = ("[UNK]", "@", "http", "www", "<", ">", "|", "_", "\\")
_SHARING = 4  # steps whose short rows are pooled and sorted by length


@dataclass(frozen=True, slots=True)
class LongSettings:
    """Sizes of the parts of one step.

    Attributes:
        blocks: packed blocks of `block_length` tokens.
        long_every: interval, in steps, at which blocks are joined in groups of four.
        everywhere: share of the blocks whose chosen words are hidden at every occurrence.
        rate, last_rate, rate_falls: masking of blocks, see `MixtureSettings`.
        sentences: number of single sentences.
        asked: share of them with one or two words hidden as a visitor would; in the others 15 %
            of the pieces are chosen, 80 % of those masked, 10 % replaced, 10 % unchanged.
        any_word: share of the `asked` sentences in which any word may be hidden, including
            function words.
        without_stop: share of the sentences without their full stop.
        relations: number of sentences made from templates.
        pairs: number of sentence pairs, truncated to `pair_length` tokens.
        same_document, swapped: shares of the false pairs, see `sentence_pairs`.
        pair_weight: weight of the next-sentence loss relative to that of the masked words.
        part_tokens: approximate number of tokens in a part of a step.
        seed: random seed.
    """

    blocks: int = 40
    block_length: int = 128
    long_every: int = 16
    everywhere: float = 0.5
    rate: float = 0.2
    last_rate: float = 0.15
    rate_falls: float = 0.75
    sentences: int = 200
    asked: float = 0.5
    any_word: float = 0.25
    without_stop: float = 0.1
    relations: int = 48
    pairs: int = 18
    pair_length: int = 128
    same_document: float = 0.38
    swapped: float = 0.27
    pair_weight: float = 0.5
    part_tokens: int = 1_280
    seed: int = 40

    def mixture(self) -> MixtureSettings:
        """Return the settings of the parts that `Mixture` builds."""
        return MixtureSettings(
            blocks=self.blocks,
            block_length=self.block_length,
            long_every=self.long_every,
            sentences=self.sentences,
            pairs=self.pairs,
            pair_length=self.pair_length,
            masked_pairs_every=2,
            same_document=self.same_document,
            swapped=self.swapped,
            rate=self.rate,
            last_rate=self.last_rate,
            rate_falls=self.rate_falls,
            pair_weight=self.pair_weight,
            seed=self.seed,
        )


def long_part_loss(model: BertForPreTraining, part: Part) -> Loss:
    """Return the loss of one part; the log also counts tokens and hidden words."""
    loss = part_loss(model, part)
    batch = part.batch
    tokens = batch.input_ids.new_tensor(batch.input_ids.numel())
    if batch.attention_mask is not None:
        tokens = batch.attention_mask.sum()
    hidden = torch.zeros(())
    if batch.position_labels is not None:
        hidden = (batch.position_labels >= 0).sum()
    return replace(loss, parts={**loss.parts, "tokens": tokens, "hidden": hidden})


class LongMixture(Mixture):
    """Map a step and the progress to the parts of that step; a `bert_core.finetuning.BatchSource`.

    Args:
        texts: encoded texts, without evaluation data.
        vocab: the tokenizer's vocabulary.
        relations: facts to state.
        settings: sizes.
    """

    def __init__(
        self,
        texts: Sequence[EncodedText],
        vocab: dict[str, int],
        relations: Relations,
        settings: LongSettings,
    ) -> None:
        lone = {*NO_PAIRS, *SHORT_TEXTS}
        super().__init__(texts, vocab, settings.mixture(), BLOCK_SHARES, lone)
        self.long, self.relations = settings, relations
        self.tables = WordTables.from_vocab(vocab)
        self._sentence_pool: tuple[int, list[list[list[int]]]] | None = None
        self._relation_pool: tuple[int, list[tuple[list[int], list[int]]]] | None = None
        odd = [vocab[piece] for piece in ODD_PIECES if piece in vocab]
        quote = vocab.get('"', -1)
        self.places = _sentence_places(self.texts, SENTENCE_SHARES, odd, quote)

    def __call__(self, step: int, progress: float) -> list[Part]:
        """Return the pairs, blocks, single sentences and facts of a step."""
        generator = torch.Generator().manual_seed(self.long.seed * 1_000_003 + step)
        source = np.random.default_rng((self.long.seed, 2, step))
        parts = []
        if self.long.blocks:
            parts += self._hidden_blocks(step, progress, generator, source)
        if self.long.pairs and self.pair_documents:
            parts.append(self._pair_part(step, generator))
        if self.long.sentences:
            parts += self._sentences(step, generator, source)
        if self.long.relations:
            parts.append(self._relations(step))
        parts.sort(
            key=lambda part: -part.batch.input_ids.numel()
        )  # so that workers finish together
        return _weighed(parts, self.long.pair_weight)

    # -- blocks ----------------------------------------------------------------------------------

    def _hidden_blocks(
        self,
        step: int,
        progress: float,
        generator: torch.Generator,
        source: np.random.Generator,
    ) -> list[Part]:
        chosen = self._block_indices(step)
        if self.long.long_every and step % self.long.long_every == self.long.long_every - 1:
            input_ids = self._joined(chosen[: max(1, len(chosen) // 4)])
        else:
            input_ids = torch.from_numpy(self.blocks[chosen].astype(np.int64))
        rate = self.settings.rate_at(progress)
        parts = max(1, round(input_ids.numel() / self.long.part_tokens))
        return [
            Part("blocks", self._block_batch(rows, rate, generator, source), 1.0)
            for rows in input_ids.chunk(parts)
        ]

    def _block_batch(
        self,
        rows: Tensor,
        rate: float,
        generator: torch.Generator,
        source: np.random.Generator,
    ) -> PretrainingBatch:
        """Hide words at every occurrence in the first rows, and pieces in the others."""
        first = round(float(self.long.everywhere * len(rows) + source.random() - 0.5))
        first = min(len(rows), max(0, first))
        places = [
            everywhere_places(row, self.tables, source, rate=rate) for row in rows[:first].tolist()
        ]
        if not first:
            return self._masked(rows, rate, generator)
        hidden = hidden_batch(rows[:first], places, self.tables.mask_id)
        if first == len(rows):
            return hidden
        return joined_batches(hidden, self._masked(rows[first:], rate, generator))

    # -- short rows ------------------------------------------------------------------------------

    def _sentences(
        self, step: int, generator: torch.Generator, source: np.random.Generator
    ) -> list[Part]:
        """Return every fourth part of the length-sorted pool that four steps share."""
        number, turn = divmod(step, _SHARING)
        if self._sentence_pool is None or self._sentence_pool[0] != number:
            drawing = np.random.default_rng((self.long.seed, 3, number))
            count = _SHARING * self.long.sentences
            drawn = sorted((self._drawn(drawing) for _ in range(count)), key=len)
            self._sentence_pool = (number, _cut(drawn, self.long.part_tokens))
        mine = self._sentence_pool[1][turn::_SHARING]
        return [
            Part("sentences", self._sentence_batch(one, generator, source), 1.0) for one in mine
        ]

    def _drawn(self, source: np.random.Generator) -> list[int]:
        texts, places, weights = self.places
        index = int(source.choice(len(texts), p=weights))
        place = places[index][source.integers(len(places[index]))]
        sentence = self.texts[texts[index]].sentence(int(place))
        if sentence[-1] == self.full_stop and source.random() < self.long.without_stop:
            sentence = sentence[:-1]
        return sentence

    def _sentence_batch(
        self,
        sentences: Sequence[Sequence[int]],
        generator: torch.Generator,
        source: np.random.Generator,
    ) -> PretrainingBatch:
        """Hide words as a visitor would in some sentences, and as in BERT in the others."""
        asked = [bool(source.random() < self.long.asked) for _ in sentences]
        order = sorted(range(len(sentences)), key=lambda index: not asked[index])
        first = sum(asked)
        rows = sentence_rows(
            [sentences[index] for index in order], SENTENCE_LENGTHS[1] + 2, self.tokens
        )
        places = [
            asked_places(row, self.tables, source, any_word=self.long.any_word)
            for row in rows.input_ids[:first].tolist()
        ]
        masked = mask_tokens(
            rows.input_ids, self.masking, rate=0.15, whole_words=True, generator=generator
        )
        labels = masked.labels.clone()
        input_ids = masked.input_ids.clone()
        for row, hidden in enumerate(places):
            labels[row], input_ids[row] = -100, rows.input_ids[row]
            labels[row, hidden] = rows.input_ids[row, hidden]
            input_ids[row, hidden] = self.tables.mask_id
        positions, position_labels, _ = gather_positions(labels)
        return PretrainingBatch(
            input_ids, rows.token_type_ids, rows.attention_mask, positions, position_labels
        )

    def _relations(self, step: int) -> Part:
        """Return the facts of a step; four steps share a pool sorted by length."""
        (number, turn), count = divmod(step, _SHARING), self.long.relations
        if self._relation_pool is None or self._relation_pool[0] != number:
            drawing = np.random.default_rng((self.long.seed, 4, number))
            drawn = [self.relations.draw(drawing) for _ in range(_SHARING * count)]
            self._relation_pool = (number, sorted(drawn, key=lambda pair: len(pair[0])))
        turn = (turn + number) % _SHARING
        mine = self._relation_pool[1][turn * count : (turn + 1) * count]
        rows = sentence_rows([ids for ids, _ in mine], SENTENCE_LENGTHS[1] + 2, self.tokens)
        places = [[place + 1 for place in hidden] for _, hidden in mine]  # after [CLS]
        batch = hidden_batch(rows.input_ids, places, self.tables.mask_id, rows)
        return Part("relations", batch, 1.0)


def _cut(sentences: Sequence[list[int]], tokens: int) -> list[list[list[int]]]:
    """Split sorted sentences into parts of at most `tokens` tokens, with padding and specials.

    >>> _cut([[5], [6, 7], [8, 9], [1, 2, 3]], 8)
    [[[5], [6, 7]], [[8, 9]], [[1, 2, 3]]]
    """
    parts: list[list[list[int]]] = []
    for sentence in sentences:
        if not parts or (len(parts[-1]) + 1) * (len(sentence) + 2) > tokens:
            parts.append([])
        parts[-1].append(sentence)
    return parts


def _weighed(parts: Sequence[Part], pair_weight: float) -> list[Part]:
    """Give every masked word of a step the same weight."""
    counts = [_hidden(part) for part in parts]
    total = max(1, sum(counts))
    named: Counter[str] = Counter()
    for part, count in zip(parts, counts, strict=True):
        named[part.name] += count
    return [
        replace(
            part,
            word_weight=count / total,
            pair_weight=pair_weight if part.batch.next_sentence_label is not None else 0.0,
            share=count / max(1, named[part.name]),
        )
        for part, count in zip(parts, counts, strict=True)
    ]


def _hidden(part: Part) -> int:
    labels = part.batch.position_labels
    return 0 if labels is None else int((labels >= 0).sum())


def _sentence_places(
    texts: Sequence[EncodedText], shares: Mapping[str, float], odd: Sequence[int], quote: int
) -> tuple[list[int], list[NDArray[np.int64]], NDArray[np.float64]]:
    """Return the texts, their suitable sentences, and the probability of drawing each text."""
    chosen, places, weights = [], [], []
    low, high = SENTENCE_LENGTHS
    for index, text in enumerate(texts):
        lengths = np.diff(text.sentences)
        doubled = np.zeros(len(text.ids), dtype=bool)
        doubled[1:] = (text.ids[1:] == quote) & (text.ids[:-1] == quote)
        bad = np.concatenate([[0], np.cumsum(np.isin(text.ids, odd) | doubled)])
        clean = bad[text.sentences[1:]] == bad[text.sentences[:-1]]
        fitting = np.flatnonzero((lengths >= low) & (lengths <= high) & clean)
        if len(fitting) and shares.get(text.name):
            chosen.append(index)
            places.append(fitting)
            weights.append(shares[text.name])
    total = np.asarray(weights, dtype=np.float64)
    return chosen, places, total / total.sum()
