"""Findings of Clark et al. 2019, "What Does BERT Look At?", beside what this model shows.

Only those that need no annotated text. The paper counts layers from 1; here they count from 0.
"""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from app.features.atlas.result import Finding, Floats
from bert_core.analysis.head_atlas import HeadAtlas

_MOST = 0.5  # of a head's attention, from which the paper counts a head
_LITTLE = 0.2  # of a head's attention to the token itself
_NEARLY_ALL = 0.9  # of the attention of [SEP]


def findings(found: HeadAtlas) -> tuple[Finding, ...]:
    """Compare a model with the paper, in the paper's order."""
    return (*_neighbours(found), *_separators(found), *_spread(found), _clusters(found))


def _neighbours(found: HeadAtlas) -> Iterator[Finding]:
    """Section 3.1: the tokens beside a token, and the token itself."""
    statistics = found.statistics
    for name, shares, paper in (
        ("previous", statistics.to_previous, "4 of 144 heads: layers 1, 3, 6, 7"),
        ("next", statistics.to_next, "5 of 144 heads: layers 0, 1, 1, 2, 5"),
    ):
        layers = np.nonzero(shares > _MOST)[0].tolist()
        named = f": layer{'s' * (len(layers) != 1)} {', '.join(map(str, layers))}" if layers else ""
        yield Finding(
            f"Some heads give more than half of their attention to the {name} token.",
            paper,
            f"{len(layers)} of {_count(shares)} heads{named}",
            bool(layers),
        )
    own = statistics.to_itself
    few = int((own < _LITTLE).sum())
    yield Finding(
        "Most heads give little attention to the token itself.",
        "most of 144 heads",
        f"{few} of {_count(own)} heads give it less than {_LITTLE:.0%}".replace("%", " %"),
        few > _count(own) / 2,
    )


def _separators(found: HeadAtlas) -> Iterator[Finding]:
    """Section 3.2: [CLS], [SEP] and punctuation."""
    statistics = found.statistics
    to_cls, to_sep, to_marks = (
        np.nanmean(each, axis=1)
        for each in (statistics.to_cls, statistics.to_sep, statistics.to_punctuation)
    )
    high = np.flatnonzero(to_sep > _MOST).tolist()
    yield Finding(
        "In the middle layers, over half of the attention goes to [SEP].",
        "layers 5 to 9 of 12",
        f"layer{'s' * (len(high) != 1)} {', '.join(map(str, high))} of {len(to_sep)}"
        if high
        else f"no layer; most in layer {to_sep.argmax()}, {_percent(to_sep.max())}",
        bool(high),
    )
    peaks = [int(each.argmax()) for each in (to_cls, to_sep, to_marks)]
    yield Finding(
        "Early heads look at [CLS], middle heads at [SEP], deep heads at punctuation.",
        "in this order",
        f"most to [CLS] in layer {peaks[0]} ({_percent(to_cls.max())}), to [SEP] in layer "
        f"{peaks[1]} ({_percent(to_sep.max())}), to punctuation in layer {peaks[2]} "
        f"({_percent(to_marks.max())})",
        peaks[0] < peaks[1] < peaks[2],
    )
    own = np.nanmean(found.sep_to_sep, axis=1)
    yield Finding(
        "Where heads look at [SEP], [SEP] itself looks at nearly nothing else.",
        "more than 90 % of its attention",
        f"at most {_percent(own.max())} (mean of layer {own.argmax()})",
        bool(own.max() > _NEARLY_ALL),
    )
    if not np.isnan(found.gradients).any():
        yield _no_operation(found.gradients, np.stack([to_cls, to_sep]))


def _no_operation(gradients: Floats, shares: Floats) -> Finding:
    """Section 3.2, figure 3: attention to [SEP] hardly matters where there is much of it.

    Args:
        gradients: (L, 3), see `HeadAtlas`.
        shares: (2, L), mean attention to [CLS] and to [SEP].
    """
    kind, layer = np.unravel_index(int(shares.argmax()), shares.shape)
    ratio = gradients[layer, kind] / gradients[layer, 2]
    name = ("[CLS]", "[SEP]")[kind]
    return Finding(
        "Where heads look mostly at a special token, changing this hardly changes the loss.",
        "[SEP]: from layer 4 on, the gradient becomes very small",
        f"{name} gets {_percent(shares.max())} of the attention in layer {layer}; there the "
        f"gradient on attention to it is {ratio:.2f} times that on attention to a token of the "
        "text",
        bool(ratio < _MOST),
    )


def _spread(found: HeadAtlas) -> Iterator[Finding]:
    """Section 3.3: focused and broad attention."""
    broad = np.nanmean(found.statistics.entropy, axis=1)
    yield Finding(
        "The broadest heads are in the lowest layers.",
        "layer 0",
        f"layer {broad.argmax()}: mean entropy {broad.max():.1f} of at most "
        f"{found.statistics.entropy_limit:.1f} bits",
        int(broad.argmax()) == 0,
    )
    own = np.nanmean(found.cls_entropy, axis=1)
    yield Finding(
        "In the last layer, [CLS] looks broadly at the text.",
        "5.6 bits (3.89 nats), more than in other layers",
        f"{own[-1]:.1f} bits, in other layers at most {own[:-1].max(initial=0):.1f}",
        bool(own[-1] > own[:-1].max(initial=0)),
    )


def _clusters(found: HeadAtlas) -> Finding:
    """Section 6: heads of a layer are often close to each other."""
    heads = found.effects.shape[1]
    kept = np.flatnonzero(~np.isnan(found.statistics.entropy.reshape(-1)))
    distances = found.distances[np.ix_(kept, kept)] + np.diag(np.full(len(kept), np.inf))
    layers = kept // heads
    same = int((layers[distances.argmin(axis=1)] == layers).sum()) if len(kept) > 1 else 0
    sizes = Counter(layers.tolist())
    chance = sum((sizes[layer] - 1) / max(len(kept) - 1, 1) for layer in layers.tolist())
    return Finding(
        "Heads of the same layer often behave alike.",
        "figure 6; no number",
        f"the nearest head is in the same layer for {same} of {len(kept)} heads; by chance "
        f"{chance:.0f}",
        same > 1.5 * chance,
    )


def _count(values: Floats) -> int:
    return int((~np.isnan(values)).sum())


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")
