"""The atlas shows the numbers of the library."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from app.engine.models import Engine
from app.features.atlas.result import AtlasResult
from app.features.atlas.task import atlas, cancel, findings, first_head, measured
from bert_core import BertForMaskedLM
from bert_core.analysis import head_atlas, name_heads, text_statistics
from bert_core.analysis.head_atlas import HeadAtlas
from bert_core.analysis.similarity import multidimensional_scaling
from bert_core.analysis.statistics_file import write_head_atlas, write_head_statistics
from bert_core.errors import InputError
from tests.app.features.atlas.conftest import TEXTS

pytestmark = pytest.mark.usefixtures("few_texts")


ALONE: list[HeadAtlas] = []


@pytest.fixture
def alone(tiny_engine: Engine) -> HeadAtlas:
    """What the library measures, once."""
    if not ALONE:
        model = tiny_engine.model(BertForMaskedLM)
        ALONE.append(head_atlas(model, tiny_engine.tokenizer, TEXTS))
    return ALONE[0]


@pytest.fixture
def result(tiny_engine: Engine) -> AtlasResult:
    return atlas(tiny_engine, layer=1, head=2)


def test_every_head_has_the_library_s_numbers(result: AtlasResult, alone: HeadAtlas) -> None:
    names = name_heads(alone.statistics)
    layout = multidimensional_scaling(torch.from_numpy(alone.distances))
    assert [each.place for each in result.heads] == list(np.ndindex(2, 4))
    for number, each in enumerate(result.heads):
        name = names[each.layer][each.head]
        assert (each.name, each.score) == (name.name, pytest.approx(name.score, abs=1e-6))
        assert each.effect == pytest.approx(alone.effects[each.place], abs=1e-5)
        assert each.error == pytest.approx(alone.errors[each.place], abs=1e-5)
        assert (each.x, each.y) == pytest.approx(layout.coordinates[number].tolist(), abs=1e-4)
    assert result.stress == pytest.approx(layout.stress, abs=1e-5)
    assert (result.texts, result.words) == (4, alone.words)


def test_one_head_is_looked_at_closely(
    result: AtlasResult, alone: HeadAtlas, tiny_engine: Engine
) -> None:
    own = alone.distances[6].copy()
    own[6] = np.inf
    near = [each.layer * 4 + each.head for each in result.asked.nearest]
    assert near == np.argsort(own)[:3].tolist()
    assert [each.distance for each in result.asked.nearest] == pytest.approx(sorted(own)[:3])
    values = [each.value for each in result.asked.texts]
    assert values == sorted(values, reverse=True) and len(values) == 4
    first = result.asked.texts[0]
    encoding = tiny_engine.tokenizer.encode(first.text, first.text_pair)
    weights = tiny_engine.attentions(encoding)
    np.testing.assert_array_equal(first.weights, weights[1][2])
    assert first.tokens == tuple(encoding.tokens)
    here = text_statistics([layer.numpy() for layer in weights], encoding)
    value = getattr(here, result.asked.measure)[1, 2]
    whole = here.entropy_limit if result.asked.measure == "entropy" else 1
    assert first.value == pytest.approx(value / whole, abs=1e-5)


def test_without_a_head_the_one_that_is_needed_most_is_shown(
    tiny_engine: Engine, alone: HeadAtlas
) -> None:
    place = np.unravel_index(alone.effects.argmax(), (2, 4))
    assert atlas(tiny_engine).asked.place == first_head(alone) == place


@pytest.mark.parametrize("given", [{"layer": 2, "head": 0}, {"layer": 0, "head": 4}, {"head": 1}])
def test_a_head_that_is_not_there_gets_a_sentence(tiny_engine: Engine, given: dict) -> None:
    with pytest.raises(InputError, match=r"^Found (layer \d|a layer or a head alone)"):
        atlas(tiny_engine, **given)


def test_a_model_is_measured_once_and_may_be_cancelled(tiny_engine: Engine) -> None:
    steps: list[tuple[int, int]] = []
    first = measured(tiny_engine, lambda *step: steps.append(step))
    assert measured(tiny_engine) is first
    assert all(total == 4 and done <= 4 for done, total in steps)
    cancel(tiny_engine)  # too late, and harmless


def test_a_stored_atlas_is_used_only_for_its_own_weights(tiny_folder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_folder, tmp_path / "own"))
    write_head_statistics(folder)
    write_head_atlas(folder)
    stored = Engine(str(folder)).head_atlas()
    assert stored is not None and measured(Engine(str(folder))).words == stored.words
    weights = folder / "model.safetensors"
    raw = weights.read_bytes()
    weights.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    assert Engine(str(folder)).head_atlas() is None


def test_without_a_masked_word_head_there_is_a_map_without_losses(untrained_folder: Path) -> None:
    result = atlas(Engine(str(untrained_folder)))
    assert result.loss is None and result.words == 0
    assert all(each.effect is None and not each.certain for each in result.heads)


def test_findings_state_this_model_s_figures(alone: HeadAtlas) -> None:
    statistics = alone.statistics
    shares = np.full((2, 4), 0.1)
    to_previous = shares.copy()
    to_previous[0, 1] = to_previous[1, 3] = to_previous[1, 2] = 0.6
    made = replace(
        alone,
        statistics=replace(
            statistics,
            to_previous=to_previous,
            to_next=shares,
            to_itself=np.where(shares == shares, 0.3, 0),
            to_cls=np.array([[0.4] * 4, [0.1] * 4]),
            to_sep=np.array([[0.2] * 4, [0.7] * 4]),
            entropy=np.array([[1.0] * 4, [2.0] * 4]),
        ),
        sep_to_sep=np.array([[0.5] * 4, [0.95] * 4]),
        cls_entropy=np.array([[1.0] * 4, [0.5] * 4]),
        gradients=np.array([[1.0, 1.0, 1.0], [9.0, 0.1, 0.4]]),
    )
    found = findings(made)
    assert [each.here for each in found[:4]] == [
        "3 of 8 heads: layers 0, 1, 1",
        "0 of 8 heads",
        "0 of 8 heads give it less than 20 %",
        "layer 1 of 2",
    ]
    assert [each.agrees for each in found[:4]] == [True, False, False, True]
    assert "at most 95 % (mean of layer 1)" in found[5].here and found[5].agrees
    assert "[SEP] gets 70 % of the attention in layer 1" in found[6].here
    assert "0.25 times" in found[6].here and found[6].agrees
    assert found[7].here.startswith("layer 1: mean entropy 2.0") and not found[7].agrees
    assert found[8].here == "0.5 bits, in other layers at most 1.0" and not found[8].agrees


def test_the_nearest_heads_are_counted_by_layer(alone: HeadAtlas) -> None:
    distances = np.full((8, 8), 0.5) - 0.5 * np.eye(8)
    for one, other in ((0, 1), (2, 4), (5, 6), (3, 7)):
        distances[one, other] = distances[other, one] = 0.1
    found = findings(replace(alone, distances=distances))[-1]
    assert found.here.endswith("in the same layer for 4 of 8 heads; by chance 3")
    assert not found.agrees
