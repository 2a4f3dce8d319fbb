"""The atlas of heads: which are alike, what each looks at, and what is lost without it.

`measured` gets the numbers of a model: from the file beside its weights, or by measuring. The rest
arranges them; `task_findings` compares them with a paper.
"""

from typing import Annotated

import numpy as np
import torch

from app.engine.compute.background import Background, Progress
from app.engine.compute.processor import PROCESSOR
from app.engine.compute.recent import RECENT
from app.engine.models import Engine
from app.features.atlas.result import AtlasResult, MappedHead, Neighbour, OneHead, TypicalText
from app.features.atlas.task_findings import findings
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
