"""Statistics of where each attention head looks, over many texts or in a single one.

The measures follow Clark et al. 2019, "What Does BERT Look At?", section 3. `head_statistics`
averages them over many texts, `text_statistics` computes them for one input; `name_heads` and
`rank_heads` take the result of either.
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

from bert_core.analysis.forward import attention_maps
from bert_core.errors import InputError
from bert_core.model.checks import known_types
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.text.batches import TextTokenizer
from bert_core.text.characters import Role, role
from bert_core.text.encoding import Encoding

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
    """Where each head looks, averaged over the tokens of one or many texts.

    Arrays are (L, H), with the layers and heads of the unpruned model. Entries are NaN for a
    pruned head, and for a measure to which no token contributes.

    The `to_*` measures are shares from 0 to 1: each token distributes attention of 1 in total, and
    the share is the part that goes to the named kind of token, averaged over all tokens, including
    [CLS] and [SEP]. Every token counts once, so long texts weigh more. The kinds overlap (the
    previous token can be [CLS] or a comma), so the shares of a head do not sum to 1.

    Attributes:
        to_previous: to the previous token; the first token does not count.
        to_next: to the next token; the last token does not count.
        to_itself: to the token itself.
        to_repeats: to other occurrences of the same piece; only tokens with such an occurrence
            count, and never the added [CLS] and [SEP].
        to_cls: to the added [CLS].
        to_sep: to the added [SEP]; in a pair, to both.
        to_punctuation: to punctuation in the text.
        entropy: entropy of the attention in bits; 0 if all goes to one token.
        entropy_limit: the entropy of uniform attention in bits: the mean of log2(T).
        texts: number of inputs, including pairs.
        pairs: number of inputs that are pairs.
        tokens: number of tokens averaged over, including the added ones.
        repeats: number of tokens whose piece occurs elsewhere in the input.
        truncated: number of tokens that did not fit the model and were left out.
        text_sha256: digest of the texts, see `text_digest`; 64 hexadecimal digits, "" for a
            single text.
        weights_sha256: digest of the model's weights; "" if they were not loaded from a folder.
        vocabulary_sha256: digest of its vocabulary file; "" if not loaded from a folder.
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
    model: BertPreTrainedModel, tokenizer: TextTokenizer, texts: Sequence[Text] | None = None
) -> HeadStatistics:
    """Measure where each head looks, averaged over texts.

    Each text is run on its own, so there is no padding to attend to. Attention is computed in the
    model's own dtype, everything after it in double precision.

    Args:
        model: any of the eight classes, in evaluation mode.
        tokenizer: the model's tokenizer.
        texts: texts, or pairs of texts as tuples; None means `fixed_texts()`.

    Raises:
        InputError: there are no texts, or an id of the tokenizer is outside the model's vocabulary.
    """
    texts = fixed_texts() if texts is None else tuple(texts)
    if not texts:
        raise InputError("There are no texts to measure heads on; give at least one.")
    sums = StatisticsSums(model)
    for text in texts:
        encoding = encoded(model, tokenizer, text)
        sums.add(all_maps(model, encoding), encoding)
    return sums.finished(text_digest(texts))


class StatisticsSums:
    """Sums over the tokens of many texts, from which `HeadStatistics` are computed.

    Attributes:
        totals: the sums, which may be added to those of other texts: (L, H) for each measure, the
            rows in each, and four counts.
    """

    def __init__(self, model: BertPreTrainedModel) -> None:
        self._kept = [block.attention.self.heads for block in model.encoder_model.encoder.blocks()]
        shape = (len(self._kept), model.config.num_attention_heads)
        self.totals: dict[str, Shares] = {measure: np.zeros(shape) for measure in MEASURES}
        self.totals |= {"rows": np.zeros(len(MEASURES)), "counts": np.zeros(4)}

    def add(self, layers: Sequence[Shares], encoding: Encoding) -> Mapping[str, Shares]:
        """Add one text with its attention, (H, T, T) for each layer; see `all_maps`.

        Returns:
            The measures (L, H) of this text alone; NaN where it has no such token.
        """
        found = _measure(layers, encoding)
        for number, measure in enumerate(MEASURES):
            values, looking = found[measure]
            if looking:
                self.totals[measure] += looking * values
                self.totals["rows"][number] += looking
        limit = len(encoding) * math.log2(len(encoding))
        paired, cut = encoding.text_pair is not None, encoding.truncated
        self.totals["counts"] += (limit, 1, paired, cut)
        return {measure: values for measure, (values, _) in found.items()}

    def finished(self, text_sha256: str) -> HeadStatistics:
        """Return the statistics of all texts added."""
        rows = dict(zip(MEASURES, map(int, self.totals["rows"]), strict=True))
        means: dict[str, Any] = {
            measure: _finished(self.totals[measure] / max(count, 1), self._kept)
            for measure, count in rows.items()
        }
        limit, *counts = self.totals["counts"]
        texts, pairs, truncated = map(int, counts)
        return HeadStatistics(
            **means,
            entropy_limit=float(limit) / rows["entropy"],
            tokens=rows["entropy"],
            repeats=rows["to_repeats"],
            text_sha256=text_sha256,
            texts=texts,
            pairs=pairs,
            truncated=truncated,
        )


@cache
def fixed_texts() -> tuple[Text, ...]:
    """Return 80 sentences and 20 sentence pairs written for this package.

    They are a mix of short and long sentences, questions, speech, names, numbers, lists and
    repetitions. In most pairs the second sentence follows the first; in a few it does not.
    """
    lines = _TEXTS.read_text(encoding="utf-8").splitlines()
    parts = [tuple(line.split("\t")) for line in lines]
    return tuple(part[0] if len(part) == 1 else (part[0], part[1]) for part in parts)


def text_digest(texts: Sequence[Text]) -> str:
    """Return the SHA-256 of texts as 64 hexadecimal digits, identical on every system.

    The hash is over their compact UTF-8 JSON, with each pair as a list of two.
    """
    digest = TextDigest()
    for text in texts:
        digest.add(text)
    return digest.text


class TextDigest:
    """The same, text by text."""

    def __init__(self) -> None:
        self._hash, self._before = hashlib.sha256(b"["), ""

    def add(self, text: Text) -> None:
        """Add one text."""
        listed = text if isinstance(text, str) else list(text)
        raw = json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
        self._hash.update(f"{self._before}{raw}".encode())
        self._before = ","

    @property
    def text(self) -> str:
        """The digest of all texts added."""
        found = self._hash.copy()
        found.update(b"]")
        return found.hexdigest()


def encoded(model: BertPreTrainedModel, tokenizer: TextTokenizer, text: Text) -> Encoding:
    """Encode a text or a pair, cut to what the model reads."""
    first, second = (text, None) if isinstance(text, str) else text
    return tokenizer.encode(first, second, max_length=model.config.max_length)


def all_maps(model: BertPreTrainedModel, encoding: Encoding) -> list[Shares]:
    """Return the attention of every layer, (H, T, T) each, in double precision.

    Heads are those of the unpruned model; pruned ones get zeros.
    """
    place = model.device
    ids = torch.tensor([encoding.input_ids], device=place)
    types = torch.tensor([encoding.token_type_ids], device=place)
    types = known_types(model.config, types)
    with torch.inference_mode():
        layers = attention_maps(model, ids, types)
    return [
        _spread(layer[0].double().cpu().numpy(), block.attention.self.heads, model)
        for layer, block in zip(layers, model.encoder_model.encoder.blocks(), strict=True)
    ]


def _spread(layer: Shares, kept: Sequence[int], model: BertPreTrainedModel) -> Shares:
    """Place the remaining heads at their original indices."""
    if len(kept) == model.config.num_attention_heads:
        return layer
    whole = np.zeros((model.config.num_attention_heads, *layer.shape[1:]))
    whole[list(kept)] = layer
    return whole


def _finished(values: Shares, kept: Sequence[Sequence[int]]) -> Shares:
    """Set pruned heads to NaN and make the array read-only."""
    for layer, heads in enumerate(kept):
        gone = [head for head in range(values.shape[1]) if head not in heads]
        values[layer, gone] = np.nan
    values.setflags(write=False)
    return values


# -- one text -------------------------------------------------------------------------------------


def text_statistics(attentions: Sequence[Attention], encoding: Encoding) -> HeadStatistics:
    """Measure where each head looks in one text.

    Args:
        attentions: L arrays (H, T, T); rows are queries and sum to 1.
        encoding: the input they were computed from, T tokens.

    Returns:
        The statistics; NaN for a kind of token that the text does not contain.

    Raises:
        InputError: the lengths of attentions and input differ.
    """
    if any(layer.shape[1:] != (len(encoding), len(encoding)) for layer in attentions):
        raise InputError(
            f"The input has {len(encoding)} tokens, but the attentions have the shape "
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
    """Return measure -> (means (L, H), number of rows averaged over); NaN if there are no rows."""
    tokens = len(encoding)
    found: dict[str, tuple[Attention, int]] = {}
    for measure, offset in (("to_previous", -1), ("to_next", 1), ("to_itself", 0)):
        if rows := max(tokens - abs(offset), 0):
            found[measure] = np.stack([_to_neighbour(layer, offset) for layer in layers]), rows
        else:
            found[measure] = np.full((len(layers), len(layers[0])), np.nan), 0
    seen = np.stack([layer.mean(axis=1) for layer in layers])  # (L, H, T): received by each token
    for measure, places in _places(encoding).items():
        found[measure] = seen[..., places].sum(axis=-1), tokens
    lookers, others = np.nonzero(_repeats(encoding))
    rows = len(np.unique(lookers))
    shares = np.stack([layer[:, lookers, others].sum(axis=-1) for layer in layers])
    found["to_repeats"] = (shares / rows if rows else np.full(shares.shape, np.nan)), rows
    found["entropy"] = np.stack([_entropies(layer) for layer in layers]), tokens
    return found


def _to_neighbour(layer: Attention, offset: int) -> Attention:
    """Return the mean attention (H,) to the token `offset` positions ahead."""
    means: Attention = np.diagonal(layer, offset, -2, -1).mean(axis=-1)
    return means


def _places(encoding: Encoding) -> dict[str, NDArray[np.bool_]]:
    """Return boolean masks (T,) of the tokens that are [CLS], [SEP] and punctuation."""
    added = np.array(encoding.special_tokens_mask, dtype=bool)
    first = np.arange(len(added)) == 0
    marks = np.array(
        [all(role(char) is Role.PUNCTUATION for char in token) for token in encoding.tokens]
    )
    return {
        "to_cls": added & first,
        "to_sep": added & ~first,
        "to_punctuation": marks & ~added,
    }


def _repeats(encoding: Encoding) -> NDArray[np.bool_]:
    """Return a mask (T, T) of pairs of different tokens with the same piece, added ones aside."""
    ids = np.array(encoding.input_ids)
    inside = ~np.array(encoding.special_tokens_mask, dtype=bool)
    same: NDArray[np.bool_] = (ids[:, None] == ids[None, :]) & inside[:, None] & inside[None, :]
    np.fill_diagonal(same, False)
    return same


def _entropies(layer: Attention) -> Attention:
    """Return the mean entropy (H,) of the rows in bits, from 0 (one token) to log2(T) (uniform).

    Heads are processed one at a time because one head's 1 MiB at 512 tokens fits into the CPU
    cache; in NumPy because its logarithm takes a third of the time of PyTorch's.
    """
    tiny = np.finfo(layer.dtype).tiny  # avoids log2(0); 0 * log2(tiny) is 0
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
"""Distinctive patterns: measure -> (name of the pattern, smallest share that counts)."""

RESTS = {"to_cls": ("[CLS]", 0.5), "to_sep": ("[SEP]", 0.5)}
"""Tokens that heads attend to when they have nothing to do (Clark et al. 2019, section 3.2), in the
same form; used only if no entry of `PATTERNS` applies."""

BROAD, NONE = "broad", "none"
BROAD_FROM = 0.8
"""Smallest entropy, as a share of the largest possible, at which a head is called "broad"."""


@dataclass(frozen=True, slots=True)
class HeadName:
    """The pattern of one head.

    Attributes:
        name: "previous", "next", "itself", "same piece", "punctuation", "[CLS]", "[SEP]", "broad"
            or "none"; "pruned" for a pruned head.
        score: the share of attention that gave the name; for "broad", the entropy as a share of
            the largest possible; for "none", the largest of all shares; NaN for "pruned".
    """

    name: str
    score: float


def name_heads(statistics: HeadStatistics) -> tuple[tuple[HeadName, ...], ...]:
    """Name the pattern of every head: L rows of H names.

    A head is named after the largest share in `PATTERNS` that reaches its threshold; else after
    the largest in `RESTS` that does; else "broad" if its entropy is at least `BROAD_FROM` of the
    largest possible; else "none". The thresholds are a convention, not a finding: a head below one
    can still follow the pattern in some texts.
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


def telling_measure(statistics: HeadStatistics, layer: int, head: int) -> str:
    """Return the measure that gave a head its name; for "none", that of its largest share."""
    name = _name(statistics, layer, head).name
    found = {pattern: measure for measure, (pattern, _) in {**PATTERNS, **RESTS}.items()}
    if name == BROAD:
        return "entropy"
    shares = {m: np.nan_to_num(getattr(statistics, m)[layer, head]) for m in (*PATTERNS, *RESTS)}
    return found.get(name) or max(shares, key=shares.__getitem__)


def rank_heads(statistics: HeadStatistics, by: str = "pattern") -> tuple[tuple[int, int], ...]:
    """Return all heads that are not pruned as (layer, head), highest value first.

    Heads with equal values keep the order of the model.

    Args:
        statistics: of one or many texts.
        by: one of `MEASURES`, or "pattern" for the largest share among `PATTERNS`, which puts the
            heads with the clearest pattern first.

    Raises:
        InputError: there is no such measure.
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
