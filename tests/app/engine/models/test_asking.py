"""The model is really asked: a text it has not seen, and scores that are numbers."""

import pytest
import torch

from app.engine.models import Engine, asking
from app.engine.models.asking import ask_model
from bert_core import Encoding


def test_the_model_is_asked_something_new_each_time(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[list[str]] = []
    scores_at = Engine.scores_at

    def score(engine: Engine, text: Encoding, places: list[int]) -> torch.Tensor:
        assert [text.tokens[place] for place in places] == ["[MASK]"]
        texts.append(text.tokens)
        return scores_at(engine, text, places)

    monkeypatch.setattr(Engine, "scores_at", score)
    monkeypatch.setattr(asking, "open_engine", lambda: tiny_engine)
    assert [ask_model() for _ in range(3)] == [tiny_engine.provenance.name] * 3
    assert len({tuple(each) for each in texts}) == 3


def test_scores_that_are_not_numbers_are_no_answer(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "open_engine", lambda: tiny_engine)
    monkeypatch.setattr(Engine, "scores_at", lambda *_: torch.tensor([[0.5, float("nan")]]))
    with pytest.raises(ArithmeticError):
        ask_model()
