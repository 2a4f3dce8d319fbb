"""`head_atlas`: all heads of a model side by side: which are alike, and what is lost without each.

The distances follow Clark et al. 2019, "What Does BERT Look At?", section 6; the other measures
are those of the findings of its section 3 that can be repeated without labelled text.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from bert_core.analysis.differences import jensen_shannon
from bert_core.analysis.effects import head_effects
from bert_core.analysis.fitting import fitted
from bert_core.analysis.forward import Floats, Progress, input_tensors
from bert_core.analysis.head_statistics import (
    MEASURES,
    HeadStatistics,
    StatisticsSums,
    Text,
    all_maps,
    encoded,
    fixed_texts,
    telling_measure,
    text_digest,
)
from bert_core.analysis.targets import Target
from bert_core.model.bert import BertModel
from bert_core.model.heads import BertForMaskedLM, BertForPreTraining
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.text.batches import TextTokenizer
from bert_core.text.byte_level import SPACE
from bert_core.text.encoding import Encoding

TYPICAL = 5
"""Texts that are named for each head."""

_SEED = 0
_NORMAL = 1.96  # standard errors on each side of a 95 % interval
_HIDDEN = 2  # words in each text
_FEWEST = 8  # tokens between [CLS] and [SEP] from which a text can be typical
_NONE = np.array([-np.inf, -1]).reshape(2, 1, 1, 1)  # instead of a value and the number of a text


@dataclass(frozen=True, slots=True, eq=False)
class HeadAtlas:
    """All heads of a model, measured on many texts: L layers, H heads, N = L * H.

    Entries are NaN for pruned heads. What needs a hidden word is NaN for a model without a
    masked-word head.
    """

    statistics: HeadStatistics  # where each head looks
    # (N, N), the Jensen-Shannon distance of the attention of two heads, averaged over tokens; 0 for
    # equal heads, at most 1. Heads are in the order of the model
    distances: Floats
    # (L, H), how much the loss of hidden words grows without the head, in nats; its context is
    # replaced by the mean over many texts
    effects: Floats
    errors: Floats  # (L, H), half of the 95 % interval of `effects`
    loss: float  # of the hidden words with all heads, in nats
    words: int  # number of hidden words, at most two in each text, hidden one at a time
    # (L, H, P), numbers of the texts in which the head does most what it is named after (see
    # `telling_measure`), clearest first; -1 where there are fewer
    typical: NDArray[np.int64]
    # (L, H), the share of attention that [SEP] gives to [SEP]; in a pair, to both
    sep_to_sep: Floats
    cls_entropy: Floats  # (L, H), entropy of the attention of [CLS] in bits
    # (L, 3), mean size of the gradient of the loss with respect to one attention weight to [CLS],
    # to [SEP], and to a token of the text
    gradients: Floats


def head_atlas(
    model: BertPreTrainedModel,
    tokenizer: TextTokenizer,
    texts: Sequence[Text] | None = None,
    *,
    progress: Progress | None = None,
) -> HeadAtlas:
    """Measure all heads of a model.

    Args:
        model: any class, in evaluation mode; effects need a masked-word head.
        texts: texts, or pairs of texts as tuples; None means `fixed_texts()`.

    Raises:
        InputError: there are no texts.
    """
    texts = fixed_texts() if texts is None else tuple(texts)
    sums = AtlasSums(model, tokenizer)
    for number, text in enumerate(texts, 1):
        sums.add(text)
        if progress is not None:
            progress(number, len(texts))
    return sums.finished(text_digest(texts))


class AtlasSums:
    """What `head_atlas` collects, text by text, so that other work can be done in between.

    Its size does not grow with the number of texts.

    Attributes:
        totals: sums by name, and `typical` (2, P, M, L, H): for each of M measures the largest
            values of a text, and its number. See `merge`.
    """

    def __init__(self, model: BertPreTrainedModel, tokenizer: TextTokenizer) -> None:
        self._model, self._tokenizer = model, tokenizer
        layers, heads = model.config.num_hidden_layers, model.config.num_attention_heads
        self._shape = (layers, heads)
        self._sums = StatisticsSums(model)
        self.totals: dict[str, Floats] = {
            **self._sums.totals,  # the same arrays
            **{name: np.zeros(self._shape) for name in ("sep", "cls", "effects", "squares")},
            "distances": np.zeros((layers * heads, layers * heads)),
            "gradients": np.zeros((layers, 3)),
            "words": np.zeros(2),  # their number, and the sum of their losses
            "typical": np.full((2, TYPICAL, len(MEASURES), *self._shape), _NONE[:, None]),
        }
        self._chance = random.Random(_SEED)

    def add(self, text: Text) -> None:
        """Measure one text."""
        encoding = encoded(self._model, self._tokenizer, text)
        maps = all_maps(self._model, encoding)  # (L, H, T, T)
        measures = self._sums.add(maps, encoding)
        measures["entropy"] = measures["entropy"] / np.log2(len(encoding))  # comparable
        if len(encoding) >= _FEWEST + 2:
            values = np.stack([measures[name] for name in MEASURES])
            number = np.full_like(values, self.totals["counts"][1] - 1)
            self._rank(np.where(np.isnan(values), _NONE, [values, number])[:, None])
        self._add_distances(maps.reshape(-1, *maps.shape[2:]))
        self._add_specials(maps, encoding)
        if isinstance(self._model, (BertForMaskedLM, BertForPreTraining)):
            fitted(self._model, self._tokenizer)  # the means that replace a head; kept
            for place in _words(encoding, self._chance):
                self._hide(encoding, place)

    def merge(self, totals: Mapping[str, Floats], first: int) -> None:
        """Add what another one has collected.

        Args:
            totals: its `totals`.
            first: the number of its first text.
        """
        values, numbers = totals["typical"]
        self._rank(np.stack([values, np.where(numbers < 0, numbers, numbers + first)]))
        for name in self.totals.keys() - {"typical"}:
            self.totals[name] += totals[name]

    def finished(self, text_sha256: str = "") -> HeadAtlas:
        """Return what was measured on all texts added, whose digest is given or not known.

        Raises:
            InputError: there were none.
        """
        statistics = self._sums.finished(text_sha256)
        gone = np.isnan(statistics.entropy)
        distances = self.totals["distances"] / statistics.tokens
        distances[gone.reshape(-1)] = distances[:, gone.reshape(-1)] = np.nan
        words, loss = self.totals["words"]
        known = words or np.nan
        effects = self.totals["effects"] / known
        spread = np.maximum(self.totals["squares"] / known - effects**2, 0)
        return HeadAtlas(
            statistics=statistics,
            distances=distances,
            effects=effects,
            errors=_NORMAL * np.sqrt(spread / max(words - 1, 1)),
            loss=float(loss / known),
            words=int(words),
            typical=self._typical(statistics),
            sep_to_sep=np.where(gone, np.nan, self.totals["sep"] / statistics.texts),
            cls_entropy=np.where(gone, np.nan, self.totals["cls"] / statistics.texts),
            gradients=self.totals["gradients"] / known,
        )

    def _rank(self, more: Floats) -> None:
        """Keep the largest values of each measure, in order; `more` has the shape of `typical`."""
        both = np.concatenate([self.totals["typical"], more], axis=1)
        order = np.argsort(-both[0], axis=0, kind="stable")[:TYPICAL]
        self.totals["typical"] = np.take_along_axis(both, order[None], axis=1)

    def _add_distances(self, maps: Floats) -> None:
        """Add the distances of all pairs of heads, of attention (N, T, T), summed over rows."""
        rows, distances = torch.from_numpy(maps), self.totals["distances"]
        for head in range(len(maps) - 1):
            apart = jensen_shannon(rows[head], rows[head + 1 :]).sum(dim=-1).numpy()
            distances[head, head + 1 :] += apart
            distances[head + 1 :, head] += apart

    def _add_specials(self, maps: Floats, encoding: Encoding) -> None:
        """Add what [CLS] and [SEP] look at, of attention (L, H, T, T)."""
        seps = np.flatnonzero(encoding.special_tokens_mask)[1:]
        self.totals["sep"] += maps[:, :, seps][..., seps].sum(axis=-1).mean(axis=-1)
        own = maps[:, :, 0]
        bits = np.log2(np.maximum(own, np.finfo(own.dtype).tiny))
        self.totals["cls"] -= (own * bits).sum(axis=-1)

    def _hide(self, encoding: Encoding, place: int) -> None:
        """Hide one word of the text, and measure what is lost without each head."""
        target = Target.token(place, encoding.input_ids[place])
        hidden = _hidden(self._tokenizer, encoding, place)
        effects = -head_effects(self._model, hidden, target)
        loss, gradients = _gradients(self._model, hidden, target)
        self.totals["effects"] += effects
        self.totals["squares"] += effects**2
        self.totals["gradients"] += gradients
        self.totals["words"] += (1, loss)

    def _typical(self, statistics: HeadStatistics) -> NDArray[np.int64]:
        """Name the texts in which each head does most what it is named after."""
        found = np.full((*self._shape, TYPICAL), -1)
        for layer, head in np.ndindex(self._shape):
            if np.isnan(statistics.entropy[layer, head]):
                continue
            measure = MEASURES.index(telling_measure(statistics, layer, head))
            found[layer, head] = self.totals["typical"][1, :, measure, layer, head]
        return found


def _words(encoding: Encoding, chance: random.Random) -> list[int]:
    """Choose words of one piece, written with letters; return their positions."""
    words = encoding.typed_words()
    single = [word.positions[0] for word in words if len(word.positions) == 1]
    places = [place for place in single if encoding.pieces[place].lstrip(SPACE).isalpha()]
    return chance.sample(places, min(_HIDDEN, len(places)))


def _hidden(tokenizer: TextTokenizer, encoding: Encoding, place: int) -> Encoding:
    """Return the same input with [MASK] in one place."""
    texts = [encoding.text, encoding.text_pair]
    side = encoding.sequence_ids[place] or 0
    start, end = encoding.spans[place]
    text = texts[side] or ""
    texts[side] = f"{text[:start]}{tokenizer.mask_token}{text[end:]}"
    return tokenizer.encode(texts[0] or "", texts[1], max_length=len(encoding))


def _gradients(
    model: BertPreTrainedModel, hidden: Encoding, target: Target
) -> tuple[float, Floats]:
    """Return the loss, and the mean gradients (L, 3) on attention to [CLS], [SEP] and the text."""
    encoder: BertModel = model.encoder_model
    with torch.inference_mode(False), torch.enable_grad():
        embedded = encoder.embeddings(*input_tensors(model, hidden)).detach().requires_grad_()
        run = encoder.encoder(embedded, attentions=True)
        value = target.read(model, run.last_hidden_state)
        found = torch.autograd.grad(value.sum(), run.attentions)
    added = np.array(hidden.special_tokens_mask, dtype=bool)
    first = np.arange(len(added)) == 0
    sizes = np.stack([layer[0].abs().mean(dim=(0, 1)).double().cpu().numpy() for layer in found])
    columns = [sizes[:, kind].mean(axis=1) for kind in (first, added & ~first, ~added)]
    return -float(value.detach()), np.stack(columns, axis=1)
