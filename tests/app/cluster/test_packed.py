"""Results cross as bytes: every task's, bit for bit, and nothing but results."""

import json
from typing import Any

import numpy as np
import pytest

from app.cluster.packed import classes_of, pack, unpack
from app.declared import all_declared, declared
from app.declared.answers import answer
from app.engine.models import Engine
from app.features.fill_mask.result import Candidate
from bert_core.errors import BertError
from tests.made_up import needed

GOING = [each.feature.slug for each in all_declared() if each.goes]


@pytest.mark.parametrize("task", GOING)
def test_a_result_is_rebuilt_bit_for_bit(task: str, tiny_engine: Engine) -> None:
    found = declared(task)
    try:
        answered = answer(found, tiny_engine, needed(found))
    except BertError:
        pytest.xfail("the tiny model cannot answer")
    classes = classes_of(found.result)
    data = pack(answered.result, classes)
    rebuilt = unpack(data, classes)
    assert type(rebuilt) is type(answered.result)
    assert pack(rebuilt, classes) == data
    there, here = found.screen(rebuilt), found.screen(answered.result)
    assert str(there.report().drawn()) == str(here.report().drawn())


@pytest.mark.parametrize(
    "value",
    [
        (1, 1.0, True, None, "a\ud800"),
        [0.1 + 0.2, float("-inf"), -0.0, 5e-324],
        {("a", 1): [()], 2: {"b": b"\x00\xff"}},
        frozenset({1, 2}),
        range(3, 9, 2),
        tuple((n, -n, 2**63 - 1) for n in range(100)),
        tuple((n, 2**63) for n in range(100)),
        tuple((n, n == 7) for n in range(100)),
        tuple((0,) * (n % 2) for n in range(100)),
        Candidate("cat", 3, 0.25, 1),
        tuple(Candidate("cat", n, n / 7, 1) for n in range(100)),
    ],
)
def test_values_keep_their_kinds_and_bits(value: Any) -> None:
    classes = classes_of(Candidate)
    again = unpack(pack(value, classes), classes)
    assert (type(again), repr(again)) == (type(value), repr(value))


@pytest.mark.parametrize("dtype", ["<f4", "<f8", "|u1", "<i8", "|b1", "<f2", "<U5"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (3, 0, 2)])
def test_arrays_keep_type_shape_and_bytes(dtype: str, shape: tuple[int, ...]) -> None:
    count = int(np.prod(shape))
    array = np.array([*"words"][:1] * count if dtype == "<U5" else [*range(count)], dtype)
    array = array.reshape(shape)
    for given in (array, array.T, array[()]):
        again = unpack(pack([given], {}), {})[0]
        assert again.dtype == given.dtype and again.shape == given.shape
        assert again.tobytes() == given.tobytes()


def test_what_is_no_result_is_refused_on_both_sides() -> None:
    known = classes_of(Candidate)
    with pytest.raises(TypeError, match="has no form"):
        pack(object(), known)
    with pytest.raises(TypeError, match="has no form"):
        pack(np.array([object()]), known)
    with pytest.raises(TypeError, match="Candidate has no form"):
        pack(Candidate("cat", 3, 0.25, 1), {})


def _data(tree: Any, more: bytes = b"") -> bytes:
    text = json.dumps(tree).encode()
    return len(text).to_bytes(8, "big") + text + more


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x80\x04\x95nonsense",
        _data([["os.system"], [0, "true"]]),
        _data([["app.features.fill_mask.result.Candidate"], [0, "too few"]]),
        _data([[], ["a", "<f4", "C", 0, 1_000_000_000]]),
        _data([[], ["a", "|O", "C", 0, 1]], b"12345678"),
        _data([[], ["a", "<f4", "C", 0, -1, -1]], b"1234"),
        _data([[], ["b", -8, 8]], b"12345678"),
        _data([[], ["x", 1]]),
        _data([[], ["p", 0, 1_000_000_000, 2]]),
        _data([[], ["p", 0, 1]], b"12345678"),
        _data([[], ["m", 0, ["t", 1]]]),
        _data([["app.features.fill_mask.result.Candidate"], ["m", 0, ["t", 1]]]),
        _data([[], ["d", 1]]),
        _data([[], ["d", ["l"], 1]]),
        b"\xff" * 64,
        (99_999).to_bytes(8, "big") + b"[" * 99_999,
    ],
)
def test_foreign_bytes_are_no_result(data: bytes) -> None:
    with pytest.raises(ValueError, match="no packed result"):
        unpack(data, classes_of(Candidate))
