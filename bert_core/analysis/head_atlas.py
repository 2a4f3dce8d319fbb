"""`head_atlas`: all heads of a model side by side: which are alike, and what is lost without each.

The distances follow Clark et al. 2019, "What Does BERT Look At?", section 6; the other measures
are those of the findings of its section 3 that can be repeated without labelled text.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import torch
from numpy.typing import NDArray

from bert_core.analysis.differences import jensen_shannon
from bert_core.analysis.effects import head_effects
from bert_core.analysis.fitting import fitted
from bert_core.analysis.forward import Floats, Progress, as_array, input_tensors
from bert_core.analysis.head_statistics import (
    MEASURES,
    HeadStatistics,
    Text,
    all_maps,
    averaged,
    encoded,
    fixed_texts,
    telling_measure,
    text_digest,
    text_sums,
)
from bert_core.analysis.masking import MASK
from bert_core.analysis.targets import Target
from bert_core.model.bert import encoder_of
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


@dataclass(frozen=True, slots=True, eq=False)
class HeadAtlas:
    """All heads of a model, measured on many texts: L layers, H heads, N = L * H.

    Entries are NaN for pruned heads. What needs a hidden word is NaN for a model without a
    masked-word head.
    """

    statistics: Annotated[HeadStatistics, "where each head looks"]
    distances: Annotated[
        Floats,
        "(N, N), the Jensen-Shannon distance of the attention of two heads, averaged over tokens; "
        "0 for equal heads, at most 1. Heads are in the order of the model",
    ]
    effects: Annotated[Floats, "(L, H), growth of the loss of hidden words without the head, nats"]
    errors: Annotated[Floats, "(L, H), half of the 95 % interval of `effects`"]
    loss: Annotated[float, "of the hidden words with all heads, in nats"]
    words: Annotated[int, "number of hidden words, at most two in each text, hidden one at a time"]
    typical: Annotated[
        NDArray[np.int64],
        "(L, H, P), numbers of the texts in which the head does most what it is named after (see "
        "`telling_measure`), clearest first; -1 where there are fewer",
    ]
    sep_to_sep: Annotated[Floats, "(L, H), share of attention that [SEP] gives to [SEP]"]
    cls_entropy: Annotated[Floats, "(L, H), entropy of the attention of [CLS] in bits"]
    gradients: Annotated[
        Floats, "(L, 3), mean size of the loss's gradient on attention to [CLS], [SEP], text"
    ]


def head_atlas(
    model: BertPreTrainedModel,
    tokenizer: TextTokenizer,
    texts: Sequence[Text] | None = None,
    *,
    progress: Progress | None = None,
) -> HeadAtlas:
    """Measure all heads of a model; effects need a masked-word head.

    Args:
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

    `totals` has sums by name, and `typical` (2, P, M, L, H): for each of M measures the largest
    values of a text, and its number.
    """

    def __init__(self, model: BertPreTrainedModel, tokenizer: TextTokenizer) -> None:
        self._model, self._tokenizer = model, tokenizer
        self._chance = random.Random(_SEED)
        self.totals: dict[str, Floats] = {}

    def add(self, text: Text) -> None:
        """Measure one text."""
        encoding = encoded(self._model, self._tokenizer, text)
        maps = all_maps(self._model, encoding)  # (L, H, T, T)
        sums = text_sums(maps, encoding)
        number = int(self.totals["counts"][1]) if self.totals else 0
        found = {
            **sums,
            "distances": _distances(maps.reshape(-1, *maps.shape[2:])),
            **_specials(maps, encoding),
            **self._losses(encoding),
        }
        values, numbers = _clearest(averaged(sums), len(encoding))
        both = np.stack([values, np.where(numbers < 0, numbers, number)])
        if self.totals:
            both = np.concatenate([self.totals["typical"], both], axis=1)
        order = np.argsort(-both[0], axis=0, kind="stable")[:TYPICAL]
        self.totals = {name: self.totals.get(name, 0.0) + each for name, each in found.items()}
        self.totals["typical"] = np.take_along_axis(both, order[None], axis=1)

    def finished(self, text_sha256: str = "") -> HeadAtlas:
        """Return what was measured on all texts added, whose digest is given or not known.

        Raises:
            InputError: there were none.
        """
        statistics = averaged(self.totals, text_sha256)
        words, loss = self.totals["words"]
        known = words or np.nan
        effects = self.totals["effects"] / known
        spread = np.maximum(self.totals["squares"] / known - effects**2, 0)
        return HeadAtlas(
            statistics=statistics,
            distances=self.totals["distances"] / statistics.tokens,
            effects=effects,
            errors=_NORMAL * np.sqrt(spread / max(words - 1, 1)),
            loss=float(loss / known),
            words=int(words),
            typical=self._typical(statistics),
            sep_to_sep=self.totals["sep"] / statistics.texts,
            cls_entropy=self.totals["cls"] / statistics.texts,
            gradients=self.totals["gradients"] / known,
        )

    def _losses(self, encoding: Encoding) -> dict[str, Floats]:
        """Hide some words of a text, one at a time, and add up what is lost without each head."""
        shape = (self._model.config.num_hidden_layers, self._model.config.num_attention_heads)
        effects, squares, gradients = np.zeros(shape), np.zeros(shape), np.zeros((shape[0], 3))
        words = np.zeros(2)  # their number, and the sum of their losses
        if isinstance(self._model, (BertForMaskedLM, BertForPreTraining)):
            fitted(self._model, self._tokenizer)  # the means that replace a head; kept
            for place in _words(encoding, self._chance):
                target = Target.token(place, encoding.input_ids[place])
                hidden = _hidden(encoding, place)
                lost = -head_effects(self._model, hidden, target)
                loss, sizes = _gradients(self._model, hidden, target)
                effects, squares, gradients = effects + lost, squares + lost**2, gradients + sizes
                words += (1, loss)
        return {"effects": effects, "squares": squares, "gradients": gradients, "words": words}

    def _typical(self, statistics: HeadStatistics) -> NDArray[np.int64]:
        numbers = self.totals["typical"][1]  # (up to P, M, L, H)
        found = np.full((*numbers.shape[2:], TYPICAL), -1)
        for place in np.ndindex(numbers.shape[2:]):
            measure = MEASURES.index(telling_measure(statistics, *place))
            found[place][: len(numbers)] = numbers[:, measure, *place]
        return found


def _clearest(own: HeadStatistics, tokens: int) -> Floats:
    """Return the measures of one text, and its number, 0; -inf and -1 where it does not count."""
    values = np.stack([getattr(own, name) for name in MEASURES])  # (M, L, H)
    values[MEASURES.index("entropy")] /= own.entropy_limit  # comparable between texts
    counts = ~np.isnan(values) & (tokens >= _FEWEST + 2)
    return np.stack([np.where(counts, values, -np.inf), np.where(counts, 0.0, -1.0)])[:, None]


def _distances(maps: Floats) -> Floats:
    """Return the distances of all pairs of heads, of attention (N, T, T), summed over rows."""
    rows, found = torch.from_numpy(maps), np.zeros((len(maps), len(maps)))
    for head in range(len(maps)):
        apart = jensen_shannon(rows[head], rows[head:]).sum(dim=-1).numpy()
        found[head, head:] = found[head:, head] = apart
    return found


def _specials(maps: Floats, encoding: Encoding) -> dict[str, Floats]:
    """Return what [SEP] gives to [SEP], and the entropy of [CLS], of attention (L, H, T, T)."""
    seps = np.flatnonzero(encoding.special_tokens_mask)[1:]
    own = maps[:, :, 0]
    bits = np.log2(np.maximum(own, np.finfo(own.dtype).tiny))
    given = maps[:, :, seps][..., seps].sum(axis=-1).mean(axis=-1)
    return {"sep": given, "cls": -(own * bits).sum(axis=-1)}


def _words(encoding: Encoding, chance: random.Random) -> list[int]:
    words = encoding.typed_words()
    single = [word.positions[0] for word in words if len(word.positions) == 1]
    places = [place for place in single if encoding.pieces[place].lstrip(SPACE).isalpha()]
    return chance.sample(places, min(_HIDDEN, len(places)))


def _hidden(encoding: Encoding, place: int) -> Encoding:
    ids = list(encoding.input_ids)
    ids[place] = encoding.special_id(MASK)
    return replace(encoding, input_ids=ids)


def _gradients(
    model: BertPreTrainedModel, hidden: Encoding, target: Target
) -> tuple[float, Floats]:
    """Return the loss, and the mean gradients (L, 3) on attention to [CLS], [SEP] and the text."""
    encoder = encoder_of(model)
    with torch.inference_mode(False), torch.enable_grad():
        embedded = encoder.embeddings(*input_tensors(model, hidden)).detach().requires_grad_()
        run = encoder.encoder(embedded, attentions=True)
        value = target.read(model, run.last_hidden_state)
        found = torch.autograd.grad(value.sum(), run.attentions)
    added = np.array(hidden.special_tokens_mask, dtype=bool)
    first = np.arange(len(added)) == 0
    sizes = np.stack([as_array(layer[0].abs().mean(dim=(0, 1))) for layer in found])
    columns = [sizes[:, kind].mean(axis=1) for kind in (first, added & ~first, ~added)]
    return -float(value.detach()), np.stack(columns, axis=1)
