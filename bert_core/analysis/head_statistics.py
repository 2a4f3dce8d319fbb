"""Where every head looks: over many texts, or in one of them, by the same measures.

The measures are those of Clark et al. 2019, "What Does BERT Look At?", section 3. `head_statistics`
averages them over a fixed set of texts, `text_statistics` takes them from the attention of one
input; `name_heads` and `rank_heads` read either.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bert_core.analysis.attentions import attention_maps
from bert_core.errors import InputError
from bert_core.model.bert import BertPreTrainedModel
from bert_core.text.encoding import Encoding
from bert_core.text.normalizer import PUNCTUATION
from bert_core.text.tokenizer import BertTokenizer

Shares = NDArray[np.float64]
Attention = NDArray[Any]
Text = str | tuple[str, str]

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
_TEXTS = Path(__file__).with_name("texts.txt")


@dataclass(frozen=True, slots=True, eq=False)
class HeadStatistics:
    """Where every head looks, averaged over the tokens of one text or of many.

    Every array is (L, H): layer, head of the unpruned model; a head that was pruned holds NaN, and
    so does a measure for which no token counts.
    A share lies between 0 and 1: of the attention that a token gives away (which is 1 in all), how
    much goes to the named place. Every token of every text counts once as the one that looks,
    [CLS] and [SEP] included, so long texts weigh more; pairs are read as pairs. Places overlap
    (the previous token may be [CLS] or a comma), so the shares of a head do not sum to 1.

    Attributes:
        to_previous: to the token before it; the first token has none and does not count.
        to_next: to the token after it; the last token has none and does not count.
        to_itself: to the same token, itself.
        to_repeats: to the other places of the same piece; only tokens count that have such a
            place, and never the added [CLS] and [SEP].
        to_cls: to the added [CLS].
        to_sep: to the added [SEP], both of them in a pair.
        to_punctuation: to pieces of the text that are punctuation.
        entropy: spread of the attention in bits; 0 is one token alone.
        entropy_limit: what `entropy` would be if every token looked at all alike, in bits: the mean
            of log2(T).
        texts: how many inputs were read, pairs included.
        pairs: how many of them are pairs.
        tokens: how many tokens looked, the added ones included.
        repeats: how many of them have another place with the same piece.
        truncated: tokens that did not fit the model's longest input and were left out.
        text_sha256: of the texts, see `text_digest`; 64 hexadecimal digits, "" for one text.
        weights_sha256: of the model's weights; "" where they come from no folder.
        vocabulary_sha256: of its vocabulary file; "" where it comes from no folder.
    """

    to_previous: Shares
    to_next: Shares
    to_itself: Shares
    to_repeats: Shares
    to_cls: Shares
    to_sep: Shares
    to_punctuation: Shares
    entropy: Shares
    entropy_limit: float
    texts: int
    pairs: int
    tokens: int
    repeats: int
    truncated: int
    text_sha256: str = ""
    weights_sha256: str = ""
    vocabulary_sha256: str = ""

    @property
    def to_special(self) -> Shares:
        """The share (L, H) to the added [CLS] and [SEP] together."""
        return self.to_cls + self.to_sep

    @property
    def layers(self) -> int:
        """L, the number of layers."""
        return int(self.entropy.shape[0])

    @property
    def heads(self) -> int:
        """H, the number of heads in each layer before pruning."""
        return int(self.entropy.shape[1])


# -- many texts -----------------------------------------------------------------------------------


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
    shape = (len(kept), model.config.num_attention_heads)
    sums = {measure: np.zeros(shape) for measure in MEASURES}
    rows = dict.fromkeys(MEASURES, 0)
    limit, truncated = 0.0, 0
    for text in texts:
        first, second = (text, None) if isinstance(text, str) else text
        encoding = tokenizer.encode(first, second, max_length=model.config.max_position_embeddings)
        truncated += encoding.truncated
        limit += len(encoding) * math.log2(len(encoding))
        maps = zip(_maps(model, encoding), kept, strict=True)
        layers = [_spread(layer, heads, shape[1]) for layer, heads in maps]
        for measure, (values, looking) in _measure(layers, encoding).items():
            if looking:
                sums[measure] += looking * values
                rows[measure] += looking
    means: dict[str, Any] = {
        measure: _finished(sums[measure] / max(rows[measure], 1), kept) for measure in MEASURES
    }
    return HeadStatistics(
        **means,
        entropy_limit=limit / rows["entropy"],
        texts=len(texts),
        pairs=sum(not isinstance(text, str) for text in texts),
        tokens=rows["entropy"],
        repeats=rows["to_repeats"],
        truncated=truncated,
        text_sha256=text_digest(texts),
    )


@cache
def fixed_texts() -> tuple[Text, ...]:
    """Return 80 sentences and 20 pairs of sentences that were written for this package.

    They mix short and long ones, questions, speech, names, numbers, lists and repetitions; of the
    pairs most continue and a few do not.
    """
    lines = _TEXTS.read_text(encoding="utf-8").splitlines()
    parts = [tuple(line.split("\t")) for line in lines]
    return tuple(part[0] if len(part) == 1 else (part[0], part[1]) for part in parts)


def text_digest(texts: Sequence[Text]) -> str:
    """Return the SHA-256 of texts, 64 hexadecimal digits; the same on every system.

    What is hashed is their JSON in UTF-8, without blanks, a pair as a list of two.
    """
    listed = [text if isinstance(text, str) else list(text) for text in texts]
    raw = json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(raw.encode()).hexdigest()


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


def _finished(values: Shares, kept: Sequence[Sequence[int]]) -> Shares:
    """Mark pruned heads with NaN, and make the numbers read-only."""
    for layer, heads in enumerate(kept):
        gone = [head for head in range(values.shape[1]) if head not in heads]
        values[layer, gone] = np.nan
    values.setflags(write=False)
    return values


# -- one text -------------------------------------------------------------------------------------


def text_statistics(attentions: Sequence[Attention], encoding: Encoding) -> HeadStatistics:
    """Measure where every head looks in one text.

    Args:
        attentions: (H, T, T) for each of the L layers; rows look and sum to 1.
        encoding: the input of T tokens they belong to.

    Returns:
        The statistics; NaN for a place that the text does not have, such as punctuation.

    Raises:
        InputError: attention and input differ in length.
    """
    if any(layer.shape[1:] != (len(encoding), len(encoding)) for layer in attentions):
        raise InputError(
            f"The input has {len(encoding)} tokens, the attention the shape "
            f"{attentions[0].shape}; expected (heads, {len(encoding)}, {len(encoding)})."
        )
    found = _measure(attentions, encoding)
    values: dict[str, Any] = {measure: means for measure, (means, _) in found.items()}
    if not _places(encoding)["to_punctuation"].any():
        values["to_punctuation"] = np.full_like(values["to_punctuation"], np.nan)
    return HeadStatistics(
        **values,
        entropy_limit=math.log2(len(encoding)),
        texts=1,
        pairs=int(encoding.text_pair is not None),
        tokens=len(encoding),
        repeats=found["to_repeats"][1],
        truncated=encoding.truncated,
    )


def _measure(
    layers: Sequence[Attention], encoding: Encoding
) -> Mapping[str, tuple[Attention, int]]:
    """Return for every measure the means (L, H), and over how many rows; NaN over none."""
    tokens = len(encoding)
    found: dict[str, tuple[Attention, int]] = {}
    for measure, offset in (("to_previous", -1), ("to_next", 1), ("to_itself", 0)):
        if rows := max(tokens - abs(offset), 0):
            found[measure] = np.stack([_to_neighbour(layer, offset) for layer in layers]), rows
        else:
            found[measure] = np.full((len(layers), len(layers[0])), np.nan), 0
    seen = np.stack([layer.mean(axis=1) for layer in layers])  # (L, H, T): what each token gets
    for measure, places in _places(encoding).items():
        found[measure] = seen[..., places].sum(axis=-1), tokens
    lookers, others = np.nonzero(_repeats(encoding))
    rows = len(np.unique(lookers))
    shares = np.stack([layer[:, lookers, others].sum(axis=-1) for layer in layers])
    found["to_repeats"] = (shares / rows if rows else np.full(shares.shape, np.nan)), rows
    found["entropy"] = np.stack([_entropies(layer) for layer in layers]), tokens
    return found


def _to_neighbour(layer: Attention, offset: int) -> Attention:
    """Return the mean attention to the token `offset` places further on: (H,)."""
    means: Attention = np.diagonal(layer, offset, -2, -1).mean(axis=-1)
    return means


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
    """Return for each token (T, T) where else the same piece is; never for added tokens."""
    ids = np.array(encoding.input_ids)
    inside = ~np.array(encoding.special_tokens_mask, dtype=bool)
    same: NDArray[np.bool_] = (ids[:, None] == ids[None, :]) & inside[:, None] & inside[None, :]
    np.fill_diagonal(same, False)
    return same


def _entropies(layer: Attention) -> Attention:
    """Return the mean entropy in bits of the rows: (H,); 0 is one token alone, log2(T) all alike.

    One head after another, because its 1 MiB at 512 tokens stays in the processor's cache; in
    numpy, whose logarithm takes a third of the time of PyTorch's.
    """
    tiny = np.finfo(layer.dtype).tiny  # 0 times the logarithm of this is 0
    scratch = np.empty(layer.shape[1:], dtype=layer.dtype)
    found = np.empty(len(layer), dtype=layer.dtype)
    for head, weights in enumerate(layer):
        np.add(weights, tiny, out=scratch)
        np.log2(scratch, out=scratch)
        found[head] = -np.einsum("ij,ij->i", weights, scratch).mean()  # vecdot needs numpy 2
    return found


# -- names and ranks ------------------------------------------------------------------------------

PATTERNS = {
    "to_previous": ("previous", 0.3),
    "to_next": ("next", 0.3),
    "to_itself": ("itself", 0.3),
    "to_repeats": ("same piece", 0.3),
    "to_punctuation": ("punctuation", 0.3),
}
"""Patterns that tell a head apart: measure -> its name, and the least share that earns it."""

RESTS = {"to_cls": ("[CLS]", 0.5), "to_sep": ("[SEP]", 0.5)}
"""Where heads look that have nothing to do (Clark et al. 2019, section 3.2); named only if no
pattern fits."""

BROAD, NONE = "broad", "none"
BROAD_FROM = 0.8
"""Share of the largest possible entropy from which a head counts as looking everywhere."""


@dataclass(frozen=True, slots=True)
class HeadName:
    """The pattern of one head.

    Attributes:
        name: "previous", "next", "itself", "same piece", "punctuation", "[CLS]", "[SEP]", "broad"
            or "none"; "pruned" for a head that is gone.
        score: the share of attention that earned the name; of "broad" the entropy beside the
            largest possible; of "none" the largest share of any place.
    """

    name: str
    score: float


def name_heads(statistics: HeadStatistics) -> tuple[tuple[HeadName, ...], ...]:
    """Name the pattern of every head: L rows of H names.

    The largest share among `PATTERNS` that reaches its threshold names the head; else the larger
    of `RESTS` that does; else "broad" where its entropy is at least `BROAD_FROM` of the largest
    possible; else "none". Thresholds are a convention, not a finding: a head below one may still
    follow the pattern in some texts.

    Args:
        statistics: of many texts or of one.
    """
    return tuple(
        tuple(_name(statistics, layer, head) for head in range(statistics.heads))
        for layer in range(statistics.layers)
    )


def _name(statistics: HeadStatistics, layer: int, head: int) -> HeadName:
    if np.isnan(statistics.entropy[layer, head]):
        return HeadName("pruned", math.nan)
    shares = {m: float(getattr(statistics, m)[layer, head]) for m in (*PATTERNS, *RESTS)}
    for group in (PATTERNS, RESTS):
        earned = [(shares[m], name) for m, (name, least) in group.items() if shares[m] >= least]
        if earned:
            score, name = max(earned)
            return HeadName(name, score)
    spread = float(statistics.entropy[layer, head]) / statistics.entropy_limit
    if spread >= BROAD_FROM:
        return HeadName(BROAD, spread)
    return HeadName(NONE, float(np.fmax.reduce(list(shares.values()))))


def rank_heads(statistics: HeadStatistics, by: str = "pattern") -> tuple[tuple[int, int], ...]:
    """Return all heads as (layer, head), the highest first; pruned ones are left out.

    Args:
        statistics: of many texts or of one.
        by: one of `MEASURES`, or "pattern" for the largest share among `PATTERNS`: the heads that
            show most plainly what they do come first.

    Raises:
        InputError: there is no such measure.

    Heads that are equal keep the order of the model.
    """
    if by == "pattern":
        shares = np.stack([getattr(statistics, m) for m in PATTERNS])  # (P, L, H)
        values = np.fmax.reduce(shares)  # (L, H), NaN only where all are
    elif by in MEASURES:
        values = getattr(statistics, by)
    else:
        known = ", ".join(("pattern", *MEASURES))
        raise InputError(f"Heads cannot be ranked by {by!r}; expected one of {known}.")
    there = [place for place in np.ndindex(values.shape) if not np.isnan(statistics.entropy[place])]
    return tuple(sorted(there, key=lambda place: -np.nan_to_num(values[place])))
