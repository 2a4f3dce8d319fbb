"""The atlas of heads, against the functions it is put together from."""

import random
import shutil
from collections import OrderedDict
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch

from bert_core import BertModel
from bert_core.analysis import Target, head_atlas, head_effects, text_statistics
from bert_core.analysis.differences import jensen_shannon
from bert_core.analysis.head_atlas import TYPICAL, _hidden, _words
from bert_core.analysis.head_statistics import all_maps, encoded, telling_measure
from bert_core.analysis.similarity import multidimensional_scaling
from bert_core.analysis.statistics_file import (
    ATLAS_NAME,
    read_head_atlas,
    stale_because,
    write_head_atlas,
    write_head_statistics,
)
from bert_core.bundled import bundled_folder, bundled_names
from bert_core.errors import CheckpointError, MissingFileError

TEXTS = (
    "the cat sat on the mat and the dog sat.",
    ("a dog on the mat", "the river bank, the bank!"),
    "cat",
    "the river is on the bank, the dog is on the mat",
)


@pytest.fixture
def atlas(words, tokenizer):
    return head_atlas(words, tokenizer, TEXTS)


def maps(model, tokenizer):
    """Attention (L * H, T, T) of every text."""
    inputs = [encoded(model, tokenizer, text) for text in TEXTS]
    return [np.concatenate(all_maps(model, each)) for each in inputs]


def test_distances_are_means_over_all_tokens(atlas, words, tokenizer):
    for one, other in ((0, 5), (3, 11), (7, 6)):
        rows = [
            jensen_shannon(torch.from_numpy(text[one]), torch.from_numpy(text[other]))
            for text in maps(words, tokenizer)
        ]
        assert atlas.distances[one, other] == pytest.approx(torch.cat(rows).mean().item())
    np.testing.assert_array_equal(atlas.distances, atlas.distances.T)
    np.testing.assert_array_equal(np.diagonal(atlas.distances), 0)
    assert ((atlas.distances >= 0) & (atlas.distances <= 1)).all()


def test_equal_heads_are_at_distance_0(words, tokenizer):
    with torch.no_grad():
        for part in (words.bert.encoder.layer[1].attention.self.query,
                     words.bert.encoder.layer[1].attention.self.key):  # fmt: skip
            part.weight[8:16] = part.weight[:8]
            part.bias[8:16] = part.bias[:8]
    found = head_atlas(words, tokenizer, TEXTS)
    assert found.distances[4, 5] < 1e-6 < found.distances[4, 6]


def test_effects_are_means_over_hidden_words(atlas, words, tokenizer):
    chance, lost, losses = random.Random(0), [], []
    for text in TEXTS:
        encoding = encoded(words, tokenizer, text)
        for place in _words(encoding, chance):
            ids = list(encoding.input_ids)
            target = Target.token(place, ids[place])
            hidden = _hidden(encoding, place)
            ids[place] = tokenizer.vocab["[MASK]"]
            assert hidden.input_ids == ids and hidden.token_type_ids == encoding.token_type_ids
            lost.append(-head_effects(words, hidden, target))
            scores = words.run(torch.tensor([ids]), torch.tensor([hidden.token_type_ids])).logits
            losses.append(-torch.log_softmax(scores[0, place], dim=-1)[target.chosen].item())
    np.testing.assert_allclose(atlas.effects, np.mean(lost, axis=0), atol=1e-6)
    spread = np.std(lost, axis=0, ddof=1) / np.sqrt(len(lost))
    np.testing.assert_allclose(atlas.errors, 1.96 * spread, atol=1e-6)
    assert atlas.words == len(lost) == 7
    assert atlas.loss == pytest.approx(np.mean(losses), abs=1e-5)


def test_special_tokens_are_measured_as_they_say(atlas, words, tokenizer):
    shares, spreads = [], []
    for text, found in zip(TEXTS, maps(words, tokenizer), strict=True):
        encoding = encoded(words, tokenizer, text)
        seps = [n for n, token in enumerate(encoding.tokens) if token == "[SEP]"]
        shares.append(np.mean([found[:, n, seps].sum(axis=-1) for n in seps], axis=0))
        spreads.append(-(found[:, 0] * np.log2(found[:, 0])).sum(axis=-1))
    np.testing.assert_allclose(atlas.sep_to_sep.reshape(-1), np.mean(shares, axis=0))
    np.testing.assert_allclose(atlas.cls_entropy.reshape(-1), np.mean(spreads, axis=0))


def test_gradients_are_0_where_attention_has_no_way_to_the_loss(words, tokenizer, atlas):
    assert (atlas.gradients > 0).all()
    with torch.no_grad():
        words.bert.encoder.layer[1].attention.output.dense.weight.zero_()
    found = head_atlas(words, tokenizer, TEXTS).gradients
    assert (found[1] == 0).all() and (found[[0, 2]] > 0).all()


def test_typical_texts_are_those_with_most_of_what_names_the_head(atlas, words, tokenizer):
    for layer, head in np.ndindex(3, 4):
        measure = telling_measure(atlas.statistics, layer, head)
        values = {}
        for number in (0, 1, 3):  # "cat" is too short
            encoding = encoded(words, tokenizer, TEXTS[number])
            own = text_statistics(all_maps(words, encoding), encoding)
            value = getattr(own, measure)[layer, head]
            values[number] = value / own.entropy_limit if measure == "entropy" else value
        order = sorted(values, key=lambda number: -values[number])
        assert atlas.typical[layer, head].tolist() == [*order, -1, -1]


def test_a_model_without_a_masked_word_head_has_no_effects(build, tokenizer):
    found = head_atlas(build(BertModel), tokenizer, TEXTS)
    assert np.isnan(found.effects).all() and np.isnan(found.loss) and found.words == 0
    assert not np.isnan(found.distances).any()


# --- the file -------------------------------------------------------------------------------------


@pytest.fixture
def few(monkeypatch):
    """Measure on few texts."""
    monkeypatch.setattr("bert_core.analysis.fitting._cache", OrderedDict())  # of other texts
    for name in ("head_atlas", "head_statistics", "fitting"):
        module = import_module(f"bert_core.analysis.{name}")
        monkeypatch.setattr(module, "fixed_texts", lambda: TEXTS)


@pytest.fixture
def folder(tiny_folder, tmp_path, few):
    place = Path(shutil.copytree(tiny_folder, tmp_path / "model"))
    write_head_statistics(place)
    return place


def test_an_atlas_is_read_as_it_was_written(folder):
    with pytest.raises(MissingFileError):
        read_head_atlas(folder)
    written = write_head_atlas(folder)
    found = read_head_atlas(folder)
    for each in fields(found):
        if each.name != "statistics":
            np.testing.assert_allclose(
                getattr(found, each.name), getattr(written, each.name), atol=5.1e-5
            )
    assert found.statistics.weights_sha256 == written.statistics.weights_sha256
    assert found.typical.shape == (2, 4, TYPICAL) and found.words > 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"weights_sha256": "', '"weights_sha256": "0'),
        ('"words": ', '"words": -'),
        ('"distances": [', '"distances": [[0.5],'),
        ('"typical": [\n  [', '"typical": [\n  [99, '),
        ('"effects": [', '"effects": ["a",'),
        ("}", ""),
    ],
)
def test_a_damaged_file_is_refused(folder, old, new):
    write_head_atlas(folder)
    text = (folder / ATLAS_NAME).read_text(encoding="utf-8")
    assert old in text
    (folder / ATLAS_NAME).write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"head-atlas\.json"):
        read_head_atlas(folder)


@pytest.mark.parametrize("name", bundled_names())
def test_the_bundled_atlas_belongs_to_the_weights(name):
    found = read_head_atlas(bundled_folder(name))
    assert stale_because(found.statistics, bundled_folder(name)) == ""
    assert found.statistics.texts == 100 and found.words > 150
    assert (found.typical >= 0).all()


# --- the map --------------------------------------------------------------------------------------


def test_points_of_a_plane_are_placed_as_they_were():
    torch.manual_seed(1)
    points = torch.randn(9, 2, dtype=torch.float64)
    layout = multidimensional_scaling(torch.cdist(points, points))
    assert layout.stress < 1e-5
    found = torch.cdist(layout.coordinates, layout.coordinates)
    np.testing.assert_allclose(found, torch.cdist(points, points), atol=1e-4)
