"""The statistics of heads, against sums written out."""

import json
import math
import shutil
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from bert_core import BertModel, BertTokenizer
from bert_core.analysis.head_statistics import (
    MEASURES,
    HeadName,
    HeadStatistics,
    fixed_texts,
    head_statistics,
    name_heads,
    rank_heads,
    text_digest,
    text_statistics,
)
from bert_core.analysis.statistics_file import (
    read_head_statistics,
    stale_because,
    write_head_statistics,
)
from bert_core.errors import CheckpointError, InputError
from bert_core.text.characters import Role, role

TEXTS = (
    "the cat sat on the mat.",
    ("the dog, the dog!", "sat on the river bank."),
    "cat",
    "a - b - c - d",
    "",
)


@pytest.fixture(scope="module")
def measured(tiny_folder, tmp_path_factory):
    """A folder with a model and its statistics, and these."""
    place = Path(shutil.copytree(tiny_folder, tmp_path_factory.mktemp("measured") / "model"))
    return place, write_head_statistics(place)


@pytest.fixture
def folder(measured, tmp_path):
    return Path(shutil.copytree(measured[0], tmp_path / "model"))


@pytest.fixture
def tiny(tiny_folder):
    """A model and its tokenizer."""
    return BertModel.from_pretrained(tiny_folder), BertTokenizer.from_pretrained(tiny_folder)


def looked_at(layer, tokens, added, row):
    """What one token of one head gives to each place; a place that is not there is left out."""
    weights, length = layer[row], len(tokens)
    inside = [not each for each in added]
    found = {
        "to_itself": weights[row],
        "to_cls": weights[0],
        "to_sep": sum(w for i, w in enumerate(weights) if i and added[i]),
        "to_punctuation": sum(
            w
            for i, w in enumerate(weights)
            if inside[i] and all(role(c) is Role.PUNCTUATION for c in tokens[i])
        ),
        "entropy": -sum(w * math.log2(w) for w in weights if w),
    }
    if row > 0:
        found["to_previous"] = weights[row - 1]
    if row + 1 < length:
        found["to_next"] = weights[row + 1]
    same = [i for i in range(length) if i != row and tokens[i] == tokens[row]]
    same = [i for i in same if inside[i] and inside[row]]
    if same:
        found["to_repeats"] = sum(weights[i] for i in same)
    return found


def slowly(model, tokenizer, texts):
    """Every number of every head, collected token by token."""
    found: dict[str, list] = defaultdict(list)
    for text in texts:
        pair = text if isinstance(text, tuple) else (text, None)
        encoding = tokenizer.encode(*pair)
        ids, types = (torch.tensor([x]) for x in (encoding.input_ids, encoding.token_type_ids))
        with torch.no_grad():
            layers = model.run(ids, types).attentions
        assert layers is not None
        for layer, head in np.ndindex(2, 4):
            rows = layers[layer][0, head].double().tolist()
            for row in range(len(rows)):
                added = encoding.special_tokens_mask
                for measure, value in looked_at(rows, encoding.tokens, added, row).items():
                    found[f"{measure} {layer} {head}"].append(value)
    return found


def test_every_number_is_the_mean_over_all_tokens_written_out(tiny):
    model, tokenizer = tiny
    found = head_statistics(model, tokenizer, TEXTS)
    slow = slowly(model, tokenizer, TEXTS)
    for measure in MEASURES:
        for layer, head in np.ndindex(2, 4):
            values = slow[f"{measure} {layer} {head}"]
            wanted = sum(values) / len(values)
            assert getattr(found, measure)[layer, head] == pytest.approx(wanted, abs=1e-9)
    lengths = [len(tokenizer.encode(*(t if isinstance(t, tuple) else (t,)))) for t in TEXTS]
    assert (found.texts, found.pairs, found.tokens) == (5, 1, sum(lengths))
    assert found.repeats == len(slow["to_repeats 0 0"])
    assert found.entropy_limit == pytest.approx(
        sum(n * math.log2(n) for n in lengths) / sum(lengths), abs=1e-12
    )
    assert (found.entropy <= found.entropy_limit).all()
    assert (*found.entropy.shape, found.truncated) == (2, 4, 0)


def test_a_text_alone_has_no_share_of_what_it_does_not_contain(tiny):
    before = np.eye(4, k=-1)
    before[0, 0] = 1
    found = text_statistics([before[None]], tiny[1].encode("cat sat"))
    assert (found.to_previous, found.to_next, found.to_special) == (1, 0, 0.5)
    assert np.isnan(found.to_punctuation) and np.isnan(found.to_repeats)
    assert (found.texts, found.pairs, found.tokens, found.entropy_limit) == (1, 0, 4, 2)


def made_up(**heads):
    """One layer; what is not named is 0."""
    width = len(next(iter(heads.values())))
    values = {m: np.array([heads.get(m, [0.0] * width)]) for m in MEASURES}
    counts = {"texts": 1, "pairs": 0, "tokens": 9, "repeats": 0, "truncated": 0}
    return HeadStatistics(**values, entropy_limit=4.0, **counts)


def test_a_head_is_named_by_its_largest_pattern_then_by_where_it_rests():
    found = made_up(
        to_previous=[0.9, 0.31, 0.29, 0.0, 0.0, np.nan],
        to_repeats=[0.3, 0.35, 0.0, 0.0, np.nan, np.nan],
        to_cls=[0.0, 0.6, 0.5, 0.49, 0.1, np.nan],
        entropy=[1.0, 1.0, 4.0, 3.2, 3.1, np.nan],
    )
    (names,) = name_heads(found)
    assert names[:5] == (
        HeadName("previous", 0.9),
        HeadName("same piece", 0.35),  # a pattern, before a larger share to [CLS]
        HeadName("[CLS]", 0.5),
        HeadName("broad", 0.8),
        HeadName("none", 0.1),
    )
    assert names[5].name == "pruned" and math.isnan(names[5].score)


def test_heads_are_ranked_by_a_measure_or_by_their_clearest_pattern():
    gone = np.nan
    found = made_up(
        to_previous=[0.1, 0.7, 0.2, gone],
        to_next=[0.8, 0.0, 0.0, gone],
        entropy=[1.0, 1.0, 3.0, gone],
    )
    assert rank_heads(found, "to_previous") == ((0, 1), (0, 2), (0, 0))
    assert rank_heads(found, "entropy") == ((0, 2), (0, 0), (0, 1))  # equals keep their order
    assert rank_heads(found) == ((0, 0), (0, 1), (0, 2))
    with pytest.raises(InputError, match="cannot be ranked by 'fame'; expected one of pattern"):
        rank_heads(found, "fame")


def test_the_fixed_texts_are_eighty_sentences_and_twenty_pairs():
    texts = fixed_texts()
    pairs = [text for text in texts if isinstance(text, tuple)]
    assert (len(texts), len(pairs)) == (100, 20)
    assert len(set(texts)) == 100
    assert all(len(pair) == 2 and all(pair) for pair in pairs)
    whole = [part for text in texts for part in ([text] if isinstance(text, str) else text)]
    assert all(part == part.strip() and part[-1] in '.?!"' for part in whole)


def test_a_text_that_does_not_fit_is_cut_and_the_cut_is_told(tiny):
    model, tokenizer = tiny
    found = head_statistics(model, tokenizer, ["a b " * 40, "cat"])
    assert (found.tokens, found.truncated) == (48 + 3, 82 - 48)


def test_a_pruned_head_has_no_numbers_and_the_others_keep_theirs(tiny):
    model, tokenizer = tiny
    whole = head_statistics(model, tokenizer, TEXTS)
    model.prune_heads({0: [1], 1: [0, 3]})
    pruned = head_statistics(model, tokenizer, TEXTS)
    gone = np.array([[False, True, False, False], [True, False, False, True]])
    for measure in MEASURES:
        assert (np.isnan(getattr(pruned, measure)) == gone).all()
        kept = [0, 2, 3]  # the first layer still reads what it read
        np.testing.assert_allclose(
            getattr(pruned, measure)[0, kept], getattr(whole, measure)[0, kept], atol=1e-6
        )


def test_statistics_come_back_from_their_file(measured):
    folder, written = measured
    found = read_head_statistics(folder)
    for measure in MEASURES:
        np.testing.assert_allclose(
            getattr(found, measure), getattr(written, measure), atol=1e-6, rtol=0
        )
        assert not getattr(found, measure).flags.writeable
    assert (found.texts, found.tokens, found.repeats) == (100, written.tokens, written.repeats)
    assert found.text_sha256 == text_digest(fixed_texts())
    assert stale_because(found, folder) == ""
    assert not list(folder.glob(".*"))


def test_statistics_of_another_model_are_recognised(folder):
    found = read_head_statistics(folder)
    assert "texts" in stale_because(replace(found, text_sha256="0" * 64), folder)
    with (folder / "vocab.txt").open("a", encoding="utf-8") as file:
        file.write("mouse\n")
    assert "vocabulary" in stale_because(found, folder)
    raw = bytearray((folder / "model.safetensors").read_bytes())
    raw[-1] ^= 1
    (folder / "model.safetensors").write_bytes(raw)
    assert "weights" in stale_because(found, folder)


@pytest.mark.parametrize(
    "change",
    [
        {"entropy": [[1.0]]},
        {"to_cls": [[0.1, 0.2], [0.3]]},
        {"to_cls": "many"},
        {"to_cls": [[2.0] * 4] * 2},
        {"to_next": [[-1.0] * 4] * 2},
        {"to_next": [[True] * 4] * 2},
        {"to_next": []},
        {"tokens": -1},
        {"tokens": 1.5},
        {"texts": True},
        {"entropy_limit": "x"},
        {"entropy_limit": None},
        {"text_sha256": 7},
        {"to_itself": None},
        "",
        "[]",
        "{",
        '{"entropy": 1}',
    ],
    ids=str,
)
def test_a_damaged_file_ends_in_a_sentence(folder, change):
    path = folder / "head-statistics.json"
    if isinstance(change, dict):
        change = json.dumps(json.loads(path.read_text(encoding="utf-8")) | change)
    path.write_text(change, encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"head-statistics\.json"):
        read_head_statistics(folder)
