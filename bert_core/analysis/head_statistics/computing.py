"""The statistics of a model's heads, in one pass over its attention."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bert_core.analysis.attentions import attention_maps
from bert_core.analysis.head_statistics.patterns import entropies, to_neighbour, to_places
from bert_core.analysis.head_statistics.results import HeadStatistics, Shares
from bert_core.analysis.head_statistics.texts import Text, fixed_texts, text_digest
from bert_core.errors import InputError
from bert_core.model.bert import BertPreTrainedModel
from bert_core.text.encoding import Encoding
from bert_core.text.normalizer import PUNCTUATION
from bert_core.text.tokenizer import BertTokenizer

MEASURES = (
    "to_previous",
    "to_next",
    "to_itself",
    "to_repeats",
    "to_cls",
    "to_sep",
    "to_punctuation",
    "entropy",
)


@dataclass(slots=True)
class _Sums:
    """What has been added up so far: for each measure (L, H) and how many rows that was."""

    values: dict[str, Shares]
    rows: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MEASURES, 0))

    def add(self, measure: str, layers: Sequence[Shares], rows: int) -> None:
        """Add means over `rows` rows, one array (H,) a layer."""
        self.values[measure] += rows * np.stack(layers)
        self.rows[measure] += rows

    def mean(self, measure: str) -> Shares:
        """Return the mean over all rows; 0 where there was none."""
        return self.values[measure] / max(self.rows[measure], 1)


def head_statistics(
    model: BertPreTrainedModel, tokenizer: BertTokenizer, texts: Sequence[Text] | None = None
) -> HeadStatistics:
    """Measure where every head looks, averaged over texts.

    Every text is read alone, so that no padding is attended to; attention is computed in the
    model's own number type, and everything after it in double precision.

    Args:
        model: any of the eight classes, in evaluation mode.
        tokenizer: the model's.
        texts: sentences, or pairs of them as tuples; None means `fixed_texts`.

    Returns:
        The statistics; see there for what is averaged over what.

    Raises:
        InputError: no texts, or the model does not know an id of the tokenizer.
    """
    texts = fixed_texts() if texts is None else tuple(texts)
    if not texts:
        raise InputError("There are no texts to measure heads on; give at least one.")
    kept = [block.attention.self.heads for block in model.encoder_model.encoder.blocks()]
    width = model.config.num_attention_heads
    sums = _Sums({measure: np.zeros((len(kept), width)) for measure in MEASURES})
    limit, truncated = 0.0, 0
    for text in texts:
        first, second = (text, None) if isinstance(text, str) else text
        encoding = tokenizer.encode(first, second, max_length=model.config.max_position_embeddings)
        truncated += encoding.truncated
        limit += len(encoding) * float(np.log2(len(encoding)))
        maps = zip(_maps(model, encoding), kept, strict=True)
        _add(sums, [_spread(layer, heads, width) for layer, heads in maps], encoding)
    values: dict[str, Any] = {measure: _finished(sums.mean(measure), kept) for measure in MEASURES}
    return HeadStatistics(
        **values,
        entropy_limit=limit / sums.rows["entropy"],
        texts=len(texts),
        pairs=sum(not isinstance(text, str) for text in texts),
        tokens=sums.rows["entropy"],
        repeats=sums.rows["to_repeats"],
        truncated=truncated,
        text_sha256=text_digest(texts),
    )


def _maps(model: BertPreTrainedModel, encoding: Encoding) -> list[Shares]:
    """Return the attention of every layer, (H, T, T) each, in double precision."""
    place = model.device
    ids = torch.tensor([encoding.input_ids], device=place)
    types = torch.tensor([encoding.token_type_ids], device=place)
    types = types.clamp_max(model.config.type_vocab_size - 1)
    with torch.inference_mode():
        layers = attention_maps(model, ids, types)
    return [layer[0].double().cpu().numpy() for layer in layers]


def _spread(layer: Shares, kept: Sequence[int], width: int) -> Shares:
    """Put the heads that pruning left at their own numbers; the others get zeros."""
    if len(kept) == width:
        return layer
    whole = np.zeros((width, *layer.shape[1:]))
    whole[list(kept)] = layer
    return whole


def _add(sums: _Sums, layers: Sequence[Shares], encoding: Encoding) -> None:
    """Add one text, (H, T, T) a layer."""
    count = len(encoding)
    for measure, offset in (("to_previous", -1), ("to_next", 1), ("to_itself", 0)):
        sums.add(measure, [to_neighbour(layer, offset) for layer in layers], count - abs(offset))
    for measure, places in _places(encoding).items():
        sums.add(measure, [to_places(layer, places) for layer in layers], count)
    same = _repeats(encoding)
    looking = same.any(axis=1)
    if looking.any():
        found = [(layer * same).sum(axis=-1)[:, looking].mean(axis=-1) for layer in layers]
        sums.add("to_repeats", found, int(looking.sum()))
    sums.add("entropy", [entropies(layer) for layer in layers], count)


def _places(encoding: Encoding) -> dict[str, NDArray[np.bool_]]:
    """Return which columns (T,) are [CLS], [SEP] and punctuation."""
    added = np.array(encoding.special_tokens_mask, dtype=bool)
    first = np.arange(len(added)) == 0
    marks = np.array([all(char in PUNCTUATION for char in token) for token in encoding.tokens])
    return {
        "to_cls": added & first,
        "to_sep": added & ~first,
        "to_punctuation": marks & ~added,
    }


def _repeats(encoding: Encoding) -> NDArray[np.bool_]:
    """Return for each token (T, T) where else the same piece stands; never for added tokens."""
    ids = np.array(encoding.input_ids)
    inside = ~np.array(encoding.special_tokens_mask, dtype=bool)
    same: NDArray[np.bool_] = (ids[:, None] == ids[None, :]) & inside[:, None] & inside[None, :]
    np.fill_diagonal(same, False)
    return same


def _finished(values: Shares, kept: Sequence[Sequence[int]]) -> Shares:
    """Mark pruned heads with NaN, and let nobody change the numbers."""
    for layer, heads in enumerate(kept):
        gone = [head for head in range(values.shape[1]) if head not in heads]
        values[layer, gone] = np.nan
    values.setflags(write=False)
    return values
