"""The batches of each step of the long pretraining, as a function of the step number alone.

About half of the tokens are in blocks of running text. Some blocks have single pieces hidden, as in
the original BERT; the others have whole words hidden at every occurrence, because a hidden word
that can be copied teaches copying. The rest are short rows like those visitors type: single
sentences, facts stated by templates, and sentence pairs for the next-sentence head.

Every masked word has the same weight, whichever part it is in.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import ceil
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from bert_core.finetuning import Loss
from bert_core.model.heads import BertForPreTraining
from bert_core.pretraining import PretrainingBatch, SentencePair
from training.corpus import EVERYDAY, EncodedText
from training.hiding import WordTables, asked_places, everywhere_places, hide
from training.mixture import (
    NO_PAIRS,
    SHARES,
    SHARING,
    Latest,
    Part,
    Place,
    StepSettings,
    TextParts,
    fitting_sentences,
    labelled,
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


_SIZES = ("blocks", "sentences", "relations", "made_facts", "pairs", "part_tokens")


@dataclass(frozen=True, slots=True)
class LongSettings(StepSettings):
    """Sizes of the parts of one step.

    Attributes:
        everywhere: share of the blocks whose chosen words are hidden at every occurrence.
        asked: share of the sentences with one or two words hidden as a visitor would; in the others
            15 % of the pieces are chosen, 80 % of those masked, 10 % replaced, 10 % unchanged.
        any_word: share of the `asked` sentences in which any word may be hidden, including
            function words.
        relations: number of sentences made from templates.
        made_facts: number of sentences about everyday things made from frames.
        made_pairs: share of the sentence pairs that are made from frames.
        part_tokens: approximate number of tokens in a part of a step.
    """

    blocks: int = 40
    long_every: int = 16
    sentences: int = 200
    without_stop: float = 0.1
    pairs: int = 18
    pair_length: int = 128
    same_document: float = 0.38
    swapped: float = 0.27
    rate: float = 0.2
    rate_falls: float = 0.75
    pair_weight: float = 0.5
    seed: int = 40
    everywhere: float = 0.5
    asked: float = 0.5
    any_word: float = 0.25
    relations: int = 48
    made_facts: int = 0
    made_pairs: float = 0.0
    part_tokens: int = 1_280

    def times(self, factor: float) -> "LongSettings":
        """Return the same step so many times as large, in as many parts."""
        sizes = {name: getattr(self, name) for name in _SIZES}
        return replace(self, **{name: size and ceil(factor * size) for name, size in sizes.items()})


class Facts(Protocol):
    """A source of sentences that state a fact."""

    def draw(self, source: np.random.Generator) -> tuple[list[int], list[int]]:
        """Return a sentence as ids without special tokens, and the positions to hide."""


@dataclass(frozen=True, slots=True)
class Made:
    """What is made from frames.

    Attributes:
        everyday: sentences about everyday things.
        pairs: sentence pairs as ids, with their labels.
    """

    everyday: Facts
    pairs: Sequence[tuple[list[int], list[int], int]]


def long_part_loss(model: BertForPreTraining, part: Part) -> Loss:
    """Return the loss of one part; the log also counts tokens and hidden words."""
    loss = part_loss(model, part)
    batch = part.batch
    tokens = batch.input_ids.new_tensor(batch.input_ids.numel())
    if batch.attention_mask is not None:
        tokens = batch.attention_mask.sum()
    hidden = torch.tensor(_hidden(part))
    return replace(loss, parts={**loss.parts, "tokens": tokens, "hidden": hidden})


class LongMixture(TextParts):
    """Map a step and the progress to the parts of that step; a `bert_core.finetuning.BatchSource`.

    Args:
        texts: encoded texts, without evaluation data.
        vocab: the tokenizer's vocabulary.
        relations: facts to state.
        settings: sizes.
        made: what is made from frames, if the settings ask for it.
    """

    def __init__(
        self,
        texts: Sequence[EncodedText],
        vocab: dict[str, int],
        relations: Relations,
        settings: LongSettings,
        made: Made | None = None,
    ) -> None:
        super().__init__(texts, vocab, settings, BLOCK_SHARES, {*NO_PAIRS, *SHORT_TEXTS})
        self.settings = settings
        self.facts: list[tuple[Facts, int]] = [(relations, settings.relations)]
        self.made_pairs: list[SentencePair[Place]] = []
        if made is not None:
            self.facts.append((made.everyday, settings.made_facts))
            self._add_pairs(made.pairs)
        self.tables = WordTables.from_vocab(vocab)
        odd = [vocab[piece] for piece in ODD_PIECES if piece in vocab]
        self.places = {
            number: fitting
            for number, text in enumerate(self.texts)
            if text.name in SENTENCE_SHARES
            and len(fitting := fitting_sentences(text, odd, vocab.get('"', -1)))
        }
        weights = np.array([SENTENCE_SHARES[self.texts[number].name] for number in self.places])
        self.weights = weights / weights.sum()
        self._sentence_pool = Latest(self._draw_sentences)
        self._relation_pool = Latest(self._draw_relations)

    def __call__(self, step: int, progress: float) -> list[Part]:
        """Return the pairs, blocks, single sentences and facts of a step."""
        settings = self.settings
        generator = torch.Generator().manual_seed(settings.seed * 1_000_003 + step)
        source = np.random.default_rng((settings.seed, 2, step))
        parts = []
        if settings.blocks:
            input_ids, rate = self._block_rows(step), settings.rate_at(progress)
            count = max(1, round(input_ids.numel() / settings.part_tokens))
            for rows in input_ids.chunk(count):
                parts.append(Part("blocks", self._block_batch(rows, rate, generator, source), 1.0))
        if settings.pairs and self.pair_documents:
            pairs = _apart(self._pair_batch(step, generator), 2 * settings.part_tokens)
            parts += [Part("pairs", each, 1.0) for each in pairs]
        if settings.sentences:  # every fourth part of the pool
            for mine in self._sentence_pool(step // SHARING)[step % SHARING :: SHARING]:
                parts.append(Part("sentences", self._sentence_batch(mine, generator, source), 1.0))
        if settings.relations or settings.made_facts:
            parts.append(Part("relations", self._relation_batch(step), 1.0))
        # The longest first, so that workers finish together.
        parts.sort(key=lambda part: -part.batch.input_ids.numel())
        return _weighed(parts, settings.pair_weight)

    def _block_batch(
        self, rows: Tensor, rate: float, generator: torch.Generator, source: np.random.Generator
    ) -> PretrainingBatch:
        """Hide words at every occurrence in the first rows, and pieces in the others."""
        first = round(float(self.settings.everywhere * len(rows) + source.random() - 0.5))
        first = min(len(rows), max(0, first))
        places = [
            everywhere_places(row, self.tables, source, rate=rate) for row in rows[:first].tolist()
        ]
        parts = [hide(rows[:first], places, self.tables.mask_id)]
        if first < len(rows):
            parts.append(self._masked(rows[first:], rate, generator))
        return labelled(parts)

    # -- short rows ------------------------------------------------------------------------------

    def _draw_sentences(self, number: int) -> list[list[list[int]]]:
        """Draw the sentences of four steps, sorted by length, in parts."""
        source, texts = np.random.default_rng((self.settings.seed, 3, number)), list(self.places)
        drawn = []
        for _ in range(SHARING * self.settings.sentences):
            text = texts[source.choice(len(texts), p=self.weights)]
            drawn.append(self._drawn(self.places[text], text, source))
        return _cut(sorted(drawn, key=len), self.settings.part_tokens)

    def _sentence_batch(
        self,
        sentences: Sequence[Sequence[int]],
        generator: torch.Generator,
        source: np.random.Generator,
    ) -> PretrainingBatch:
        """Hide words as a visitor would in some sentences, and as in BERT in the others."""
        asked = [bool(source.random() < self.settings.asked) for _ in sentences]
        order = sorted(range(len(sentences)), key=lambda index: not asked[index])
        rows = self._sentence_rows([sentences[index] for index in order])
        places = [
            asked_places(row, self.tables, source, any_word=self.settings.any_word)
            for row in rows.input_ids[: sum(asked)].tolist()
        ]
        first = len(places)
        hidden = hide(rows.input_ids[:first], places, self.tables.mask_id)
        ids, labels = self._masked(rows.input_ids, 0.15, generator, whole_words=True)
        return labelled([hidden, (ids[first:], labels[first:])], rows)

    def _relation_batch(self, step: int) -> PretrainingBatch:
        """Return the facts of a step; four steps share a pool sorted by length."""
        number, turn = divmod(step, SHARING)
        pool = self._relation_pool(number)
        turn, count = (turn + number) % SHARING, len(pool) // SHARING
        mine = pool[turn * count : (turn + 1) * count]
        rows = self._sentence_rows([ids for ids, _ in mine])
        places = [[place + 1 for place in hidden] for _, hidden in mine]  # after [CLS]
        return labelled([hide(rows.input_ids, places, self.tables.mask_id)], rows)

    def _draw_relations(self, number: int) -> list[tuple[list[int], list[int]]]:
        source = np.random.default_rng((self.settings.seed, 4, number))
        drawn = [facts.draw(source) for facts, count in self.facts for _ in range(SHARING * count)]
        return sorted(drawn, key=lambda pair: len(pair[0]))

    # -- pairs made from frames ------------------------------------------------------------------

    def _add_pairs(self, pairs: Sequence[tuple[list[int], list[int], int]]) -> None:
        """Add the pairs as the last text, two sentences a document, which blocks do not read."""
        sentences = [sentence for first, second, _ in pairs for sentence in (first, second)]
        ids = np.array([piece for sentence in sentences for piece in sentence], dtype=np.uint16)
        starts = np.cumsum([0, *map(len, sentences)])
        number = len(self.texts)
        self.texts.append(EncodedText("made-pairs", ids, starts, np.arange(0, len(starts), 2)))
        self.made_pairs = [
            SentencePair((number, 2 * place), (number, 2 * place + 1), label)
            for place, (_, _, label) in enumerate(pairs)
        ]

    def _draw_pairs(self, number: int) -> list[SentencePair[Place]]:
        """Return the pairs of a round, a share of them made from frames."""
        pairs = super()._draw_pairs(number)
        if self.made_pairs:
            source = np.random.default_rng((self.settings.seed, 5, number))
            for place in np.flatnonzero(source.random(len(pairs)) < self.settings.made_pairs):
                pairs[place] = self.made_pairs[int(source.integers(len(self.made_pairs)))]
        return pairs


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


def _apart(batch: PretrainingBatch, tokens: int) -> list[PretrainingBatch]:
    """Split the rows of a batch into batches of about so many tokens."""
    count = max(1, round(batch.input_ids.numel() / tokens))
    tensors = {each.name: getattr(batch, each.name) for each in fields(batch)}
    chunks = {name: value.chunk(count) for name, value in tensors.items() if value is not None}
    return [
        PretrainingBatch(**{name: value[number] for name, value in chunks.items()})
        for number in range(len(chunks["input_ids"]))
    ]


def _weighed(parts: Sequence[Part], pair_weight: float) -> list[Part]:
    """Give every masked word of a step the same weight, and every sentence pair."""
    counts, pairs = [_hidden(part) for part in parts], [_pairs(part) for part in parts]
    total, pair_total = max(1, sum(counts)), max(1, sum(pairs))
    named: Counter[str] = Counter()
    for part, count in zip(parts, counts, strict=True):
        named[part.name] += count
    return [
        replace(
            part,
            word_weight=count / total,
            pair_weight=pair_weight * rows / pair_total,
            share=count / max(1, named[part.name]),
            pair_share=rows / pair_total,
        )
        for part, count, rows in zip(parts, counts, pairs, strict=True)
    ]


def _pairs(part: Part) -> int:
    labels = part.batch.next_sentence_label
    return 0 if labels is None else len(labels)


def _hidden(part: Part) -> int:
    labels = part.batch.position_labels
    return 0 if labels is None else int((labels >= 0).sum())
