"""The vectors compared are the model's hidden states at the word."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from app.engine.models import Engine
from app.features.senses.task import MOST_SENTENCES, senses, split
from bert_core import BertModel
from bert_core.errors import InputError

TEXT = "the river bank\nthe cat sat on the bank bank\n\nbank on the dog.\nplaying the mat"


def vectors(engine: Engine, sentence: str, positions: list[int]) -> np.ndarray:
    """Return the mean vector of some positions at every layer: (L + 1, D), one sentence alone."""
    ids = torch.tensor([engine.tokenizer.encode(sentence).input_ids])
    with torch.inference_mode():
        states = engine.model(BertModel).run(ids, hidden_states=True).hidden_states
    return np.stack([layer[0, positions].mean(dim=0).numpy() for layer in states])


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_every_layer_compares_the_hidden_states_of_the_word(tiny_engine: Engine) -> None:
    result = senses(tiny_engine, TEXT, "Bank", layer=0)
    assert [each.label for each in result.occurrences] == ["1", "2a", "2b", "3"]
    assert [each.group for each in result.occurrences] == [0, 0, 0, 1]
    one = vectors(tiny_engine, "the river bank", [3])
    other = vectors(tiny_engine, "bank on the dog.", [1])
    for layer in range(3):
        assert result.similarity[layer, 0, 3] == pytest.approx(
            cosine(one[layer], other[layer]), abs=1e-5
        )
    np.testing.assert_allclose(np.diagonal(result.similarity, axis1=1, axis2=2), 1, atol=1e-5)
    assert result.similarity[0, 1, 2] < 0.99999  # the same word at two positions


def test_the_pieces_of_a_word_are_averaged(tiny_engine: Engine) -> None:
    result = senses(tiny_engine, "playing cat\nthe dog playing", "playing")
    assert result.occurrences[1].pieces == (3, 4)
    assert (result.occurrences[1].start, result.occurrences[1].end) == (8, 15)
    expected = cosine(
        vectors(tiny_engine, "playing cat", [1, 2])[2],
        vectors(tiny_engine, "the dog playing", [3, 4])[2],
    )
    assert result.similarity[2, 0, 1] == pytest.approx(expected, abs=1e-5)
    assert (result.layer, result.place) == (1, 2)


def test_the_plane_keeps_the_distances_it_claims_to_keep(tiny_engine: Engine) -> None:
    result = senses(tiny_engine, "the bank\nbank cat\nriver bank on", "bank", layer=0)
    points = np.stack(
        [vectors(tiny_engine, text, [at])[1]
         for text, at in (("the bank", 2), ("bank cat", 1), ("river bank on", 2))]
    )  # fmt: skip
    assert sum(result.shares) == pytest.approx(1, abs=1e-6)  # three points lie in a plane
    for i in range(3):
        for j in range(3):
            found = np.linalg.norm(result.coordinates[i] - result.coordinates[j])
            assert found == pytest.approx(np.linalg.norm(points[i] - points[j]), abs=1e-4)


def test_groups_are_compared_pair_by_pair(tiny_engine: Engine) -> None:
    result = senses(tiny_engine, TEXT, "bank")
    last = result.similarity[2]
    within = [last[0, 1], last[0, 2], last[1, 2]]
    between = [last[0, 3], last[1, 3], last[2, 3]]
    assert result.means(within=True)[2] == pytest.approx(np.mean(within))
    assert result.means(within=False)[2] == pytest.approx(np.mean(between))
    assert result.groups == (0, 1)
    expected = [max((j for j in range(4) if j != i), key=lambda j: last[i, j]) for i in range(4)]
    assert list(result.nearest) == expected
    assert result.at_home == sum(near != 3 for near in expected[:3])  # 3 is alone in its group
    alone = senses(tiny_engine, "the bank\nbank", "bank")
    assert alone.means(within=False) == () and len(alone.means(within=True)) == 3


def test_equal_vectors_are_named_in_their_order_whatever_the_rounding(tiny_engine: Engine) -> None:
    text = "the bank\na bank on the mat\nthe bank sat\nthe bank\n\nthe cat and bank"
    found = senses(tiny_engine, text, "bank", layer=-1)  # the first four are at one place
    for noise in (1e-8, -1e-8):
        shaken = found.similarity.copy()
        shaken[0, 1:4, 0] -= noise
        assert replace(found, similarity=shaken).nearest[:4] == (1, 0, 0, 0)


def test_a_batch_gives_the_numbers_of_single_sentences(tiny_engine: Engine) -> None:
    many = "\n".join(["the bank", "bank " + "cat " * 30, "bank", *["river bank mat"] * 20])
    result = senses(tiny_engine, many, "bank")
    alone = vectors(tiny_engine, "the bank", [2])[2]
    long = vectors(tiny_engine, "bank " + "cat " * 30, [1])[2]
    assert result.similarity[2, 0, 1] == pytest.approx(cosine(alone, long), abs=1e-5)


@pytest.mark.parametrize(
    ("text", "word", "says"),
    [
        ("", "bank", "0 lines"),
        ("the bank", "bank", "1 line;"),
        ("the bank\nthe cat", "bank", "fewer than two places"),
        ("the bank\nthe bank", " ", "no word"),
        ("the bank\nthe bank", "Ω", "cannot spell"),
        ("the bank\nbank " + "cat " * 60, "bank", "Sentence 2 has 63 tokens"),
        ("the bank\n" * (MOST_SENTENCES + 1), "bank", f"{MOST_SENTENCES + 1} sentences"),
        ("bank " * 41 + "\n" + "bank " * 41, "bank", "more than 80 places"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    tiny_engine: Engine, text: str, word: str, says: str
) -> None:
    with pytest.raises(InputError, match=says):
        senses(tiny_engine, text, word)


def test_a_layer_that_is_not_there_is_refused(tiny_engine: Engine) -> None:
    with pytest.raises(InputError, match="layer 2; expected 0 to 1, or -1 for the input"):
        senses(tiny_engine, TEXT, "bank", layer=2)


def test_spaces_do_not_move_a_place(tiny_engine: Engine) -> None:
    result = senses(tiny_engine, "   the bank  \n\n \n bank", "bank")
    assert [(e.sentence, e.start, e.end) for e in result.occurrences] == [(1, 4, 8), (2, 0, 4)]
    assert [each.group for each in split(" a\n \nb ")] == [0, 1]


def test_any_word_and_text_is_answered_or_refused(tiny_engine: Engine, nasty: str) -> None:
    try:
        result = senses(tiny_engine, f"{nasty}\nthe cat\nthe {nasty[:40]}", nasty[:40])
    except InputError:
        return
    for each in result.occurrences:
        text = result.sentences[each.sentence - 1].text
        assert 0 <= each.start < each.end <= len(text)
