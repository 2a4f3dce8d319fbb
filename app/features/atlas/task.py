"""The atlas of heads: which are alike, what each looks at, and what is lost without it.

`measured` gets the numbers of a model: from the file beside its weights, or by measuring. The rest
arranges them; `findings` compares them with a paper.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated

import numpy as np
import torch

from app.engine.compute.background import Background, Progress
from app.engine.compute.processor import PROCESSOR
from app.engine.compute.recent import RECENT
from app.engine.models import Engine
from app.features.atlas.result import (
    AtlasResult,
    Finding,
    Floats,
    MappedHead,
    Neighbour,
    OneHead,
    TypicalText,
)
from app.records.fields import Field
from app.records.results import PLACES
from bert_core import BertForMaskedLM, BertModel
from bert_core.analysis.head_atlas import AtlasSums, HeadAtlas
from bert_core.analysis.head_statistics import (
    fixed_texts,
    name_heads,
    rank_heads,
    telling_measure,
    text_statistics,
)
from bert_core.analysis.similarity import multidimensional_scaling
from bert_core.errors import InputError

NEAREST = 3
_KEPT = 100_000  # bytes of a kept map, or of a head with its texts, at most
MEASURED: Background[tuple[str, str], HeadAtlas] = Background()
"""The atlases that are or were measured in this process."""


def atlas(
    engine: Engine,
    *,
    layer: Annotated[int | None, Field("Layer", low=0)] = None,
    head: Annotated[int | None, Field("Head", low=0)] = None,
    progress: Progress | None = None,
) -> AtlasResult:
    """Put all heads of the model on one map: heads with similar attention are close together.

    Attention and losses are measured on a hundred texts that come with the program. For a model
    that brings no measurements this takes from half a minute to several minutes.

    Args:
        engine: the model.
        layer: the layer of the head that is shown closely, counted from 0. If empty, the head
            without which most is lost.
        head: the head of that layer, counted from 0.

    Raises:
        InputError: there is no such head, or it was pruned.
    """
    found = measured(engine, progress)
    if (layer is None) != (head is None):
        raise InputError("Found a layer or a head alone; expected both, or neither.")
    place = first_head(found) if layer is None or head is None else (layer, head)
    layers, heads = found.effects.shape
    if not (place[0] < layers and place[1] < heads) or np.isnan(found.statistics.entropy[place]):
        raise InputError(
            f"Found layer {place[0]}, head {place[1]}; {engine.provenance.name} has layers 0 to "
            f"{layers - 1} of heads 0 to {heads - 1}, and pruned heads are not shown."
        )
    key = ("atlas", found, engine.provenance.name, engine.provenance.fingerprint)
    mapped, stress = RECENT.get((*key, "map"), lambda: _mapped(found), lambda _: _KEPT)
    return AtlasResult(
        heads=mapped,
        asked=RECENT.get((*key, place), lambda: _one(engine, found, place), lambda _: _KEPT),
        findings=findings(found),
        stress=stress,
        loss=None if np.isnan(found.loss) else found.loss,
        words=found.words,
        texts=found.statistics.texts,
        tokens=found.statistics.tokens,
        size=(layers, heads),
        places=PLACES,
    )


def measured(engine: Engine, progress: Progress | None = None) -> HeadAtlas:
    """Return what was measured on a model: stored, kept, or measured now in the background.

    Args:
        engine: the model.
        progress: called with the texts done and their number.
    """
    stored = engine.head_atlas()
    if stored is not None:
        return stored
    return MEASURED.result(_key(engine), lambda step: _measure(engine, step), progress)


def cancel(engine: Engine) -> None:
    """Wait no longer for the measurement of a model."""
    MEASURED.cancel(_key(engine))


def first_head(found: HeadAtlas) -> tuple[int, int]:
    """Return the head to show first: the one without which most is lost, or the clearest."""
    if not found.words:
        return rank_heads(found.statistics)[0]
    values = np.where(np.isnan(found.statistics.entropy), -np.inf, np.nan_to_num(found.effects))
    layer, head = np.unravel_index(int(values.argmax()), values.shape)
    return int(layer), int(head)


def _key(engine: Engine) -> tuple[str, str]:
    return engine.provenance.name, engine.provenance.fingerprint


def _measure(engine: Engine, step: Progress) -> HeadAtlas:
    """Measure a model text by text, so that visitors have turns in between."""
    words = not engine.missing("BertForMaskedLM")
    sums = AtlasSums(engine.model(BertForMaskedLM if words else BertModel), engine.tokenizer)
    texts = fixed_texts()
    for number, text in enumerate(texts, 1):
        PROCESSOR.run(lambda text=text: sums.add(text), tokens=1)  # type: ignore[misc]
        step(number, len(texts))
    return sums.finished()


def _mapped(found: HeadAtlas) -> tuple[tuple[MappedHead, ...], float]:
    names = name_heads(found.statistics)
    places = [
        place
        for place in np.ndindex(found.effects.shape)
        if names[place[0]][place[1]].name != "pruned"
    ]
    kept = [layer * found.effects.shape[1] + head for layer, head in places]
    layout = multidimensional_scaling(torch.from_numpy(found.distances[np.ix_(kept, kept)]))
    heads = tuple(
        MappedHead(
            layer=layer,
            head=head,
            name=names[layer][head].name,
            score=names[layer][head].score,
            x=x,
            y=y,
            effect=_known(float(found.effects[layer, head])),
            error=_known(float(found.errors[layer, head])),
        )
        for (layer, head), (x, y) in zip(places, layout.coordinates.tolist(), strict=True)
    )
    return heads, layout.stress


def _known(number: float) -> float | None:
    return None if np.isnan(number) else number


def _one(engine: Engine, found: HeadAtlas, place: tuple[int, int]) -> OneHead:
    """Look closely at one head; its attention in typical texts is computed now."""
    layer, head = place
    heads = found.effects.shape[1]
    row = found.distances[layer * heads + head].copy()
    row[layer * heads + head] = np.nan
    order = [int(n) for n in np.argsort(row) if not np.isnan(row[n])][:NEAREST]
    measure = telling_measure(found.statistics, layer, head)
    return OneHead(
        layer=layer,
        head=head,
        measure=measure,
        measures={each.key: float(getattr(found.statistics, each.key)[place]) for each in PLACES},
        nearest=tuple(Neighbour(n // heads, n % heads, float(row[n])) for n in order),
        texts=tuple(
            _typical(engine, int(number), place, measure)
            for number in found.typical[place]
            if number >= 0
        ),
    )


def _typical(engine: Engine, number: int, place: tuple[int, int], measure: str) -> TypicalText:
    text = fixed_texts()[number]
    first, second = (text, None) if isinstance(text, str) else text
    encoding = engine.tokenizer.encode(first, second, max_length=engine.max_length)
    weights = engine.attentions(encoding)[place[0]][place[1]].numpy()  # (T, T)
    here = text_statistics([weights[None]], encoding)
    value = float(getattr(here, measure)[0, 0])
    return TypicalText(
        text=first,
        text_pair=second,
        value=value / here.entropy_limit if measure == "entropy" else value,
        tokens=tuple(encoding.pieces),
        weights=weights,
    )


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
