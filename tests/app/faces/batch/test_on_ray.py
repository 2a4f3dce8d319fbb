"""Rows that are answered elsewhere: with a cluster in this process, without Ray."""

import json
import sys
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from app.declared.answers import engine_named
from app.faces.batch import on_ray
from app.faces.batch.answering import Asked
from bert_core.errors import InputError

TEXT = "A [MASK] sat."


class RayError(Exception):
    """As Ray's."""


class RayTaskError(RayError):
    """As Ray's."""

    cause = ModuleNotFoundError("app")


class Near:
    """What is asked of Ray here; a call is answered when it is waited for."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def __init__(self, cores: int = 2) -> None:
        self.cores, self.raises, self.hangs = cores, RayError, False
        self.rows: list[int] = []
        self.most = 0

    def remote(self, **_: object) -> Any:
        return lambda _: SimpleNamespace(remote=self.send)

    def send(self, asked: bytes) -> tuple[int, int]:
        self.rows.append(len(json.loads(asked)["rows"]))
        return len(self.rows) - 1, self.rows[-1]

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": self.cores} if self.cores else {}

    def wait(self, busy: list[Any], *, num_returns: int, timeout: float) -> tuple[list[Any], Any]:
        self.most = max(self.most, len(busy))
        if self.hangs:
            self.cores = 0
        return [] if self.hangs else busy[:num_returns], busy[num_returns:]

    def get(self, call: tuple[int, int]) -> bytes:
        if self.raises is not RayError:
            raise self.raises
        return b"{}\n" * call[1]


@pytest.fixture
def near(monkeypatch: pytest.MonkeyPatch) -> Near:
    found = Near()
    monkeypatch.setitem(sys.modules, "ray", found)
    for name in ("connect", "leave", "find_spec"):
        monkeypatch.setattr(on_ray, name, lambda *_: True)
    return found


def spread(sizes: Sequence[int], length: int = 1) -> Iterator[tuple[int, bytes]]:
    row: Asked = ({"text": TEXT * length}, "")
    chunks = ((number, [row] * size) for number, size in enumerate(sizes))
    return on_ray.spread_on("ray://127.0.0.1:1", chunks, "fill_mask", engine_named(""))


def test_a_call_has_a_few_hundred_rows_and_each_is_answered(near: Near) -> None:
    sizes = [256] * 9 + [1] * 20 + [100] * 7
    answered = {number: lines.count(b"\n") for number, lines in spread(sizes)}
    assert answered == dict(enumerate(sizes))
    assert max(near.rows) < 512 and near.most == 4 and len(near.rows) < len(sizes)


def test_long_rows_are_on_their_way_in_a_bounded_number_of_bytes(
    near: Near, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_ray, "_BYTES", 1_000)
    assert len(list(spread([256] * 4, length=100))) == 4 and near.most == 1


def test_what_a_node_cannot_do_is_not_called_lost(near: Near) -> None:
    near.raises = RayTaskError
    with pytest.raises(InputError, match=r"A node cannot answer \(ModuleNotFoundError\)\."):
        next(spread([1]))


def test_a_cluster_that_has_lost_all_nodes_is_not_waited_for(near: Near) -> None:
    near.hangs = True
    with pytest.raises(InputError, match="No node of the cluster is left"):
        next(spread([1]))


def test_a_cluster_needs_a_package_more(near: Near, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_ray, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install -r requirements-cluster\.txt"):
        next(spread([1]))


@pytest.mark.parametrize("refusals", [2, 3])
def test_who_comes_soon_after_a_killed_one_tries_again(
    near: Near, monkeypatch: pytest.MonkeyPatch, refusals: int
) -> None:
    left = [ConnectionAbortedError()] * refusals

    def connect(_: str) -> None:
        if left:
            raise left.pop()

    monkeypatch.setattr(on_ray, "connect", connect)
    if refusals == 2:
        assert [number for number, _ in spread([1])] == [0]
    else:
        with pytest.raises(InputError, match="No Ray cluster answers"):
            next(spread([1]))
    assert left == []
