"""Statistics of where each attention head looks, over many texts or in a single one.

The measures follow Clark et al. 2019, "What Does BERT Look At?", section 3. `head_statistics`
averages them over many texts, `text_statistics` computes them for one input; `name_heads` and
`rank_heads` take the result of either.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import numpy as np
import torch
from numpy.typing import NDArray

from bert_core.analysis.forward import Floats, as_array, record
from bert_core.errors import InputError
from bert_core.model.bert import encoder_of
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.text.batches import TextTokenizer
from bert_core.text.characters import Role, role
from bert_core.text.encoding import Encoding

Text = str | tuple[str, str]

_TEXTS = Path(__file__).with_name("texts.txt")


@dataclass(frozen=True, slots=True, eq=False)
class HeadStatistics:
    """Where each head looks, averaged over the tokens of one or many texts.

    Arrays are (L, H) of the unpruned model, NaN for a pruned head and for a measure to which no
    token contributes. The `to_*` measures are shares of the attention that a token gives away,
    averaged over all tokens, including [CLS] and [SEP]; they overlap (the previous token can be a
    comma), so the shares of a head do not sum to 1.
    """

    to_previous: Annotated[Floats, "to the previous token; the first token does not count"]
    to_next: Annotated[Floats, "to the next token; the last token does not count"]
    to_itself: Annotated[Floats, "to the token itself"]
    to_repeats: Annotated[Floats, "to the same piece elsewhere, of tokens that have one"]
    to_cls: Annotated[Floats, "to the added [CLS]"]
    to_sep: Annotated[Floats, "to the added [SEP]; in a pair, to both"]
    to_punctuation: Annotated[Floats, "to punctuation in the text"]
    entropy: Annotated[Floats, "entropy of the attention in bits; 0 if all goes to one token"]
    entropy_limit: Annotated[float, "entropy of uniform attention in bits: the mean of log2(T)"]
    texts: Annotated[int, "number of inputs, including pairs"]
    pairs: Annotated[int, "number of inputs that are pairs"]
    tokens: Annotated[int, "number of tokens averaged over, including the added ones"]
    repeats: Annotated[int, "number of tokens whose piece occurs elsewhere in the input"]
    truncated: Annotated[int, "number of tokens that did not fit the model and were left out"]
    text_sha256: Annotated[str, '`text_digest` of the texts; "" for a single text'] = ""
    weights_sha256: Annotated[str, 'SHA-256 of the weights; "" if not loaded from a folder'] = ""
    vocabulary_sha256: Annotated[str, 'SHA-256 of the vocabulary file; "" likewise'] = ""

    @property
    def to_special(self) -> Floats:
        """The share (L, H) to the added [CLS] and [SEP] together."""
        return self.to_cls + self.to_sep


MEASURES = tuple(name for name, kind in get_type_hints(HeadStatistics).items() if kind == Floats)
"""The names of the tables."""


# -- many texts -----------------------------------------------------------------------------------


def head_statistics(
    model: BertPreTrainedModel, tokenizer: TextTokenizer, texts: Sequence[Text] | None = None
) -> HeadStatistics:
    """Measure where each head looks, averaged over texts.

    Each text is run on its own, so there is no padding to attend to. Attention is computed in the
    model's own dtype, everything after it in double precision.

    Raises:
        InputError: there are no texts, or an id of the tokenizer is outside the model's vocabulary.
    """
    texts = fixed_texts() if texts is None else tuple(texts)
    totals: dict[str, Floats] = {}
    for text in texts:
        encoding = encoded(model, tokenizer, text)
        sums = text_sums(all_maps(model, encoding), encoding)
        totals = {name: totals.get(name, 0.0) + each for name, each in sums.items()}
    return averaged(totals, text_digest(texts))


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
    raw = json.dumps(list(texts), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(raw.encode()).hexdigest()


def encoded(model: BertPreTrainedModel, tokenizer: TextTokenizer, text: Text) -> Encoding:
    """Encode a text or a pair, cut to what the model reads."""
    first, second = (text, None) if isinstance(text, str) else text
    return tokenizer.encode(first, second, max_length=model.config.max_length)


@torch.inference_mode()
def all_maps(model: BertPreTrainedModel, encoding: Encoding) -> Floats:
    """Return the attention of every layer, (L, H, T, T), in double precision.

    Heads are those of the unpruned model; pruned ones are NaN.
    """
    encoder = encoder_of(model)
    shape = (model.config.num_hidden_layers, model.config.num_attention_heads)
    maps = np.full((*shape, len(encoding), len(encoding)), np.nan)
    layers = record(model, encoding, attentions=True).attentions
    for layer, block in enumerate(encoder.encoder.layers()):
        maps[layer, block.attention.self.heads] = as_array(layers[layer][0])
    return maps


def text_sums(layers: Floats | Sequence[NDArray[Any]], encoding: Encoding) -> dict[str, Floats]:
    """Return what one text adds to the statistics of many; see `averaged`.

    `layers` are L arrays (H, T, T) whose rows sum to 1. The result has each measure summed over the
    tokens that count, (L, H); "rows", their numbers; and "counts": T log2(T), texts, pairs, tokens
    cut.
    """
    ids, inside = np.array(encoding.input_ids), np.array(encoding.special_tokens_mask) == 0
    alike = (ids[:, None] == ids) & inside[:, None] & inside & ~np.eye(len(ids), dtype=bool)
    tokens, first = len(encoding), np.arange(len(encoding)) == 0
    marks = np.array(
        [all(role(char) is Role.PUNCTUATION for char in token) for token in encoding.tokens]
    )
    kinds = {
        "to_cls": ~inside & first,
        "to_sep": ~inside & ~first,
        "to_punctuation": marks & inside,
    }
    sums: dict[str, list[Any]] = {measure: [] for measure in MEASURES}
    for maps in layers:  # (H, T, T)
        for measure, offset in (("to_previous", -1), ("to_next", 1), ("to_itself", 0)):
            sums[measure].append(np.trace(maps, offset, 1, 2))
        sums["to_repeats"].append(maps[:, alike].sum(axis=1))
        received = maps.sum(axis=1)  # (H, T)
        for kind, places in kinds.items():
            sums[kind].append(received[:, places].sum(axis=1))
        bits = np.log2(np.maximum(maps, np.finfo(maps.dtype).tiny))  # 0 * log2(tiny) is 0
        sums["entropy"].append(-(maps * bits).sum(axis=(1, 2)))
    rows = dict.fromkeys(MEASURES, tokens) | {"to_previous": tokens - 1, "to_next": tokens - 1}
    rows["to_repeats"] = int(alike.any(axis=1).sum())
    counts = (tokens * math.log2(tokens), 1, encoding.text_pair is not None, encoding.truncated)
    return {
        **{measure: np.stack(found) for measure, found in sums.items()},
        "rows": np.array([rows[measure] for measure in MEASURES], dtype=np.float64),
        "counts": np.array(counts, dtype=np.float64),
    }


def averaged(totals: Mapping[str, Floats], text_sha256: str = "") -> HeadStatistics:
    """Return the statistics of texts whose `text_sums` were added up.

    Raises:
        InputError: there were none.
    """
    if not totals:
        raise InputError("There are no texts to measure heads on; give at least one.")
    means: dict[str, Any] = {}
    for measure, rows in zip(MEASURES, totals["rows"], strict=True):
        means[measure] = totals[measure] / (rows or np.nan)
        means[measure].setflags(write=False)
    limit, *counts = totals["counts"].tolist()
    texts, pairs, truncated = map(int, counts)
    tokens, repeats = (int(totals["rows"][MEASURES.index(m)]) for m in ("entropy", "to_repeats"))
    return HeadStatistics(
        **means,
        entropy_limit=limit / tokens,
        texts=texts,
        pairs=pairs,
        tokens=tokens,
        repeats=repeats,
        truncated=truncated,
        text_sha256=text_sha256,
    )


# -- one text -------------------------------------------------------------------------------------


def text_statistics(attentions: Sequence[NDArray[Any]], encoding: Encoding) -> HeadStatistics:
    """Measure where each head looks in one text, from L arrays (H, T, T) whose rows sum to 1.

    A kind of token that the text does not contain has NaN.
    """
    found = averaged(text_sums(attentions, encoding))
    if (found.to_punctuation == 0).all():
        found = replace(found, to_punctuation=np.full_like(found.to_punctuation, np.nan))
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
    """The pattern of one head."""

    name: Annotated[
        str,
        '"previous", "next", "itself", "same piece", "punctuation", "[CLS]", "[SEP]", "broad" or '
        '"none"; "pruned" for a pruned head',
    ]
    score: Annotated[
        float,
        'the share of attention that gave the name; for "broad", the entropy as a share of the '
        'largest possible; for "none", the largest of all shares; NaN for "pruned"',
    ]


def name_heads(statistics: HeadStatistics) -> tuple[tuple[HeadName, ...], ...]:
    """Name the pattern of every head: L rows of H names.

    A head is named after the largest share in `PATTERNS` that reaches its threshold; else after
    the largest in `RESTS` that does; else "broad" if its entropy is at least `BROAD_FROM` of the
    largest possible; else "none". The thresholds are a convention, not a finding: a head below one
    can still follow the pattern in some texts.
    """
    layers, heads = map(range, statistics.entropy.shape)
    return tuple(tuple(_named(statistics, layer, head)[0] for head in heads) for layer in layers)


def telling_measure(statistics: HeadStatistics, layer: int, head: int) -> str:
    """Return the measure that gave a head its name; for "none", that of its largest share."""
    return _named(statistics, layer, head)[1]


def _named(statistics: HeadStatistics, layer: int, head: int) -> tuple[HeadName, str]:
    entropy = float(statistics.entropy[layer, head])
    if math.isnan(entropy):
        return HeadName("pruned", math.nan), "entropy"
    shares = {m: float(getattr(statistics, m)[layer, head]) for m in (*PATTERNS, *RESTS)}
    for group in (PATTERNS, RESTS):
        earned = [(shares[m], name, m) for m, (name, least) in group.items() if shares[m] >= least]
        if earned:
            score, name, measure = max(earned)
            return HeadName(name, score), measure
    if entropy / statistics.entropy_limit >= BROAD_FROM:
        return HeadName(BROAD, entropy / statistics.entropy_limit), "entropy"
    measure = max(shares, key=lambda each: np.nan_to_num(shares[each], nan=-1.0))
    return HeadName(NONE, shares[measure]), measure


def rank_heads(statistics: HeadStatistics, by: str = "pattern") -> tuple[tuple[int, int], ...]:
    """Return all heads that are not pruned as (layer, head), highest value first.

    Args:
        by: one of `MEASURES`, or "pattern" for the largest share among `PATTERNS`.

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
