"""The model is really asked: a text it has not seen, and scores that are numbers."""

import threading

import pytest
import torch

from app.engine.models import Engine, asking
from app.engine.models.asking import ask_model
from bert_core import BertTokenizer, Encoding


def test_the_model_is_asked_something_new_each_time(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []
    here, encode, scores_at = threading.current_thread(), BertTokenizer.encode, Engine.scores_at

    def read(tokenizer: BertTokenizer, text: str) -> Encoding:
        if threading.current_thread() is here:  # others may still be warming a model up
            texts.append(text)
        return encode(tokenizer, text)

    def score(engine: Engine, text: Encoding, places: list[int]) -> torch.Tensor:
        assert [text.tokens[place] for place in places] == ["[MASK]"]
        return scores_at(engine, text, places)

    monkeypatch.setattr(BertTokenizer, "encode", read)
    monkeypatch.setattr(Engine, "scores_at", score)
    monkeypatch.setattr(asking, "open_engine", lambda: tiny_engine)
    assert [ask_model() for _ in range(3)] == [tiny_engine.provenance.name] * 3
    assert len(set(texts)) == 3


def test_scores_that_are_not_numbers_are_no_answer(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "open_engine", lambda: tiny_engine)
    monkeypatch.setattr(Engine, "scores_at", lambda *_: torch.tensor([[0.5, float("nan")]]))
    with pytest.raises(ArithmeticError):
        ask_model()
