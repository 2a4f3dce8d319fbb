"""Results as plain values."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import pytest

from app.catalog import FEATURES
from app.declared import declared
from app.faces.paper.answers import Written
from app.faces.paper.json import all_meanings, as_json, keys, meanings
from bert_core import BertTokenizer


@dataclass(frozen=True)
class Inner:
    share: Annotated[float, "a share"]


@dataclass(frozen=True)
class Outer:
    name: Annotated[str | None, "a name"]
    parts: Annotated[tuple[Inner, ...], "its parts"]
    table: Annotated[Mapping[int, Inner], "by name"]
    picture: Annotated[np.ndarray, "an array"]


@dataclass(frozen=True)
class Listed(Outer):
    ANSWER: ClassVar = ("length", "picture")

    @property
    def length(self) -> int:
        """The number of its parts.

        Not told.
        """
        return len(self.parts)


VALUES: tuple[Any, ...] = (
    "a\ud800",
    (Inner(math.nan), Inner(0.5)),
    {3: Inner(math.inf)},
    np.eye(2),
)


def test_an_object_has_its_fields_and_no_arrays() -> None:
    found = as_json(Outer(*VALUES))
    assert found == {
        "name": "a\ud800",
        "parts": [{"share": None}, {"share": 0.5}],
        "table": {"3": {"share": None}},
    }
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert meanings(Outer) == {"name": "a name.", "parts": "its parts.", "table": "by name."}


def test_a_class_may_list_its_answer() -> None:
    assert as_json(Listed(*VALUES)) == {"length": 2, "picture": [[1.0, 0.0], [0.0, 1.0]]}
    assert meanings(Listed)["length"] == "The number of its parts."


def test_numbers_of_numpy_become_numbers() -> None:
    given = [np.float32(0.5), np.int64(3), np.bool_(True), np.float64("nan")]
    assert as_json(given) == [0.5, 3, True, None]
    assert [type(each) for each in as_json(given)] == [float, int, bool, type(None)]


@pytest.mark.parametrize("value", [b"ab", {1, 2}, object()])
def test_what_json_has_no_word_for_is_a_mistake_of_ours(value: object) -> None:
    with pytest.raises(TypeError, match="has no form in JSON"):
        as_json(value)


def test_an_encoding_is_its_tokens_ids_and_places(tiny_folder: Any) -> None:
    encoding = BertTokenizer.from_pretrained(str(tiny_folder)).encode("the cat")
    assert as_json(encoding) == {
        "tokens": ["[CLS]", "the", "cat", "[SEP]"],
        "input_ids": encoding.input_ids,
        "offsets": [[0, 0], [0, 3], [4, 7], [0, 0]],
    }


@pytest.mark.parametrize("slug", [row.slug for row in FEATURES])
def test_every_key_of_a_feature_is_explained(slug: str) -> None:
    result = declared(slug).result
    assert keys(result) and all(said.endswith((".", ")")) for said in meanings(result).values())
    assert [key for key, said in all_meanings(result).items() if not said] == []


def test_the_keys_of_parts_are_explained_by_their_way() -> None:
    found = all_meanings(declared("fill_mask").result)
    assert found["slots[].candidates[].rank"] == "1 for the most probable."
    assert found["slots[].named.token"].startswith("its spelling")
    assert found["slots[].named"].endswith("or null.") and "[] if" in found["slots"]
    assert "encoding.input_ids" in all_meanings(declared("classification").result)


def test_attention_has_a_matrix_only_of_the_heads_asked_for(
    answered: Callable[..., Written],
) -> None:
    found = answered("attention").json()
    assert found["matrix"] is None
    assert len(found["patterns"]) == found["layers"] * found["heads"] == 8
    strongest = found["links"][0]
    asked = answered("attention", layer=1, head=2)
    weights = asked.result.attentions[1][2]
    assert asked.json()["matrix"] == weights.tolist()
    assert asked.json()["shown"]["places"] == [[1, 2]]
    first = asked.json()["links"][0]
    assert first["weight"] == weights.max() == weights[first["source"], first["target"]]
    assert len(asked.json()["links"]) == 20
    layer, head = found["shown"]["places"][0]
    assert strongest["weight"] == answered("attention").result.attentions[layer][head].max()
    mean = answered("attention", layer=1)
    np.testing.assert_allclose(mean.json()["matrix"], mean.result.attentions[1].mean(0), rtol=1e-6)
    assert "Layer 1, mean of its 4 heads" in mean.report.headline


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"layer": 2}, "There is no layer 2; this model has layers 0 to 1"),
        ({"layer": 0, "head": 4}, "There is no head 4; every layer has heads 0 to 3"),
        ({"head": 1}, "Found head 1 without a layer"),
        ({"layer": -1}, "layer: found -1; expected a whole number from 0"),
    ],
)
def test_a_head_that_is_not_there_is_refused(
    answered: Callable[..., Written], given: dict[str, int], says: str
) -> None:
    with pytest.raises(Exception, match=says):
        answered("attention", **given)


def test_input_has_the_vectors_only_of_the_piece_asked_for(
    answered: Callable[..., Written],
) -> None:
    found = answered("input", text="the cat").json()
    assert found["vectors"] is None and len(found["lengths"]["word"]) == 4
    asked = answered("input", text="the cat", piece=2)
    assert asked.json()["vectors"]["sum"] == asked.result.sum[2].tolist()
    length = np.linalg.norm(asked.result.sum[2])
    assert asked.json()["lengths"]["sum"][2] == pytest.approx(length)
    assert ">cat<" in str(asked.html())
    with pytest.raises(Exception, match="Found piece 4; expected 0 to 3"):
        answered("input", text="the cat", piece=4)


@pytest.mark.parametrize(
    ("slug", "given"),
    [
        ("fill_mask", {"text": "the cat [MASK] " * 20 + "the cat sat. " * 500}),
        ("qa", {"passage": "the cat sat. " * 2_000}),
        ("classification", {"text": "the cat sat. " * 2_000}),
        ("attention", {"text": "the cat sat. " * 2_000}),
        ("senses", {"text": "the cat sat\n" * 60}),
    ],
)
def test_the_answer_to_a_long_text_is_small(
    answered: Callable[..., Written], slug: str, given: dict[str, str]
) -> None:
    found = answered(slug, **given).json()
    assert len(json.dumps(found, allow_nan=False)) < 40_000


def test_a_text_full_of_names_takes_a_line_for_each(answered: Callable[..., Written]) -> None:
    found = answered("ner", text="the cat sat. " * 200).json()
    first = found["entities"][0]
    assert first["text"] == ("the cat sat. " * 200)[first["start"] : first["end"]]
    assert len(json.dumps(found)) < 500 + 130 * len(found["entities"])
