"""The batches of each step of pretraining, as a function of the step's number alone.

About half of the tokens are in blocks of running text. Some blocks have single pieces hidden, as in
the original BERT; the others have whole words hidden at every occurrence, because a hidden word
that can be copied teaches copying. The rest are short rows like those visitors type: single
sentences, and sentence pairs for the next-sentence head.

Every masked word has the same weight, whichever part it is in. No state is kept, so that a training
is resumed by its number of steps.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated

import numpy as np
import torch
from torch import Tensor

from bert_core.finetuning import Loss
from bert_core.model.heads import BertForPreTraining
from bert_core.pretraining import (
    MaskingVocabulary,
    PretrainingBatch,
    Rows,
    RowTokens,
    gather_positions,
    joint_loss,
    mask_tokens,
    pair_rows,
    sentence_rows,
)
from training.blocks import OTHER, SHARING, TEXTS, Blocks, Ids, Latest, Pairs, TextSettings
from training.corpus import EncodedText
from training.hiding import Hidden, WordTables, asked_places, everywhere_places, hide

# Sentences for the single rows, by tokens: neither fragments nor lists.
SENTENCE_LENGTHS = (5, 48)
# Not what people type: addresses, two quotation marks in a row, and text the vocabulary lacks.
ODD_PIECES = ("[UNK]", "@", "http", "www", "<", ">", "|", "_", "\\")


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a step."""

    name: Annotated[str, "in the log"]
    batch: Annotated[PretrainingBatch, "what the model sees"]
    word_weight: Annotated[float, "weight of the loss of its masked words"] = 1.0
    pair_weight: Annotated[float, "weight of its next-sentence loss"] = 0.0
    share: Annotated[float, "how much of what is logged under the name this part is"] = 1.0
    pair_share: Annotated[float, "how much of the step's sentence pairs this part is"] = 1.0

    @property
    def hidden(self) -> int:
        """Number of hidden pieces."""
        labels = self.batch.position_labels
        return 0 if labels is None else int((labels >= 0).sum())

    @property
    def pairs(self) -> int:
        """Number of sentence pairs."""
        labels = self.batch.next_sentence_label
        return 0 if labels is None else len(labels)


def part_loss(model: BertForPreTraining, part: Part) -> Loss:
    """Return the weighted joint loss of one part, for `Trainer`; the log also counts tokens."""
    batch = part.batch
    loss = joint_loss(model, batch.to(model.device))
    tokens = batch.input_ids.new_tensor(batch.input_ids.numel())
    if batch.attention_mask is not None:
        tokens = batch.attention_mask.sum()
    parts = {"tokens": tokens, "hidden": torch.tensor(part.hidden)}
    if batch.positions is not None:
        parts[f"masked_lm_{part.name}"] = part.share * loss.masked_lm.detach()
    if batch.next_sentence_label is not None:
        parts["next_sentence"] = part.pair_share * loss.next_sentence.detach()
    return Loss(part.word_weight * loss.masked_lm + part.pair_weight * loss.next_sentence, parts)


class TextMixture:
    """Map a step and the progress to its parts, from texts without evaluation data."""

    def __init__(
        self,
        texts: Sequence[EncodedText],
        vocab: dict[str, int],
        settings: TextSettings,
    ) -> None:
        self.texts, self.settings = list(texts), settings
        self.tokens = RowTokens.from_vocab(vocab)
        self.masking = MaskingVocabulary.from_vocab(vocab)
        self.tables = WordTables.from_vocab(vocab)
        self.blocks = Blocks(texts, self.tokens, settings)
        self.pairs = Pairs(texts, settings)
        self.full_stop = vocab.get(".", -1)
        odd = [vocab[piece] for piece in ODD_PIECES if piece in vocab]
        shares = [TEXTS.get(text.name, OTHER).get("sentences", 0.0) for text in self.texts]
        self.places = {
            number: fitting
            for number, text in enumerate(self.texts)
            if shares[number] and len(fitting := fitting_sentences(text, odd, vocab.get('"', -1)))
        }
        weights = np.array([shares[number] for number in self.places])
        self.weights = weights / weights.sum()
        self._sentence_pool = Latest(self._draw_sentences)

    def __call__(self, step: int, progress: float) -> list[Part]:
        """Return the blocks, pairs and single sentences of a step, the longest first."""
        settings, parts = self.settings, list[Part]()
        generator = torch.Generator().manual_seed(settings.seed * 1_000_003 + step)
        source = np.random.default_rng((settings.seed, 2, step))
        input_ids, rate = self.blocks(step), settings.rate_at(progress)
        count = max(1, round(input_ids.numel() / settings.part_tokens))
        for rows in input_ids.chunk(count):
            parts.append(Part("blocks", self._block_batch(rows, rate, generator, source)))
        if settings.pairs and self.pairs:
            pairs = _apart(self._pair_batch(step, generator), 2 * settings.part_tokens)
            parts += [Part("pairs", each) for each in pairs]
        for mine in self._sentence_pool(step // SHARING)[step % SHARING :: SHARING]:
            parts.append(Part("sentences", self._sentence_batch(mine, generator, source)))
        parts.sort(key=lambda part: -part.batch.input_ids.numel())  # processes end together
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

    def _masked(
        self, input_ids: Tensor, rate: float, generator: torch.Generator, whole_words: bool = False
    ) -> Hidden:
        """Return corrupted ids and labels, both (B, T)."""
        masked = mask_tokens(
            input_ids, self.masking, rate=rate, whole_words=whole_words, generator=generator
        )
        return masked.input_ids, masked.labels

    def _pair_batch(self, step: int, generator: torch.Generator) -> PretrainingBatch:
        pairs = self.pairs(step)
        sentences = [
            (self.pairs.sentence(pair.first), self.pairs.sentence(pair.second)) for pair in pairs
        ]
        rows = pair_rows(sentences, self.settings.pair_length, self.tokens)
        if step % self.settings.masked_pairs_every:  # whole sentences, as they are judged later
            batch = PretrainingBatch(rows.input_ids, rows.token_type_ids, rows.attention_mask)
        else:
            batch = labelled([self._masked(rows.input_ids, 0.15, generator)], rows)
        return replace(batch, next_sentence_label=torch.tensor([pair.label for pair in pairs]))

    def _draw_sentences(self, number: int) -> list[list[list[int]]]:
        """Draw the sentences of four steps, sorted by length, in parts; some lose their stop."""
        source, texts = np.random.default_rng((self.settings.seed, 3, number)), list(self.places)
        drawn = []
        for _ in range(SHARING * self.settings.sentences):
            text = texts[source.choice(len(texts), p=self.weights)]
            places = self.places[text]
            sentence = self.texts[text].sentence(int(places[source.integers(len(places))]))
            if sentence[-1] == self.full_stop and source.random() < self.settings.without_stop:
                sentence = sentence[:-1]
            drawn.append(sentence)
        return _cut(sorted(drawn, key=len), self.settings.part_tokens)

    def _sentence_rows(self, sentences: Sequence[Sequence[int]]) -> Rows:
        return sentence_rows(sentences, SENTENCE_LENGTHS[1] + 2, self.tokens)

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


def labelled(parts: Sequence[Hidden], rows: Rows | None = None) -> PretrainingBatch:
    """Build a batch from rows with hidden words; padded ones need their plain form, `rows`."""
    ids, labels = (torch.cat(each) for each in zip(*parts, strict=True))
    positions, position_labels, _ = gather_positions(labels)
    types, mask = (None, None) if rows is None else (rows.token_type_ids, rows.attention_mask)
    return PretrainingBatch(ids, types, mask, positions, position_labels)


def fitting_sentences(text: EncodedText, odd: Sequence[int], quote: int) -> Ids:
    """Return the sentences of a fitting length, without odd pieces and two quotes in a row."""
    doubled = np.zeros(len(text.ids), dtype=bool)
    doubled[1:] = (text.ids[1:] == quote) & (text.ids[:-1] == quote)
    bad = np.concatenate([[0], np.cumsum(np.isin(text.ids, odd) | doubled)])
    clean = bad[text.sentences[1:]] == bad[text.sentences[:-1]]
    lengths, (low, high) = np.diff(text.sentences), SENTENCE_LENGTHS
    return np.flatnonzero((lengths >= low) & (lengths <= high) & clean)


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
    hidden, named = [part.hidden for part in parts], Counter[str]()
    total, pairs = max(1, sum(hidden)), max(1, sum(part.pairs for part in parts))
    for part, count in zip(parts, hidden, strict=True):
        named[part.name] += count
    return [
        replace(
            part,
            word_weight=count / total,
            pair_weight=pair_weight * part.pairs / pairs,
            share=count / max(1, named[part.name]),
            pair_share=part.pairs / pairs,
        )
        for part, count in zip(parts, hidden, strict=True)
    ]
