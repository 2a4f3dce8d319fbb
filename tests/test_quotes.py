"""Filling the documents with what the model does."""

from pathlib import Path

import pytest

from app.engine.models import Engine
from bert_core.errors import InputError
from tools import quotes
from tools.quotes import Quote, fill, read, write


def test_a_sentence_whose_sides_are_equal_is_left_to_a_person(
    tiny_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "a.md"
    page.write_text("First *x*, then *y* (3 %, 3 %).\n", encoding="utf-8")
    monkeypatch.setattr(quotes, "ROOT", tmp_path)
    monkeypatch.setattr(quotes, "write", lambda *given: None)
    row = Quote("a.md", "First *{}*, then *{}* ({} %, {} %)", lambda e: ["z", "z", 3, 3])
    (said,) = fill(tiny_engine, [row])
    assert said == f"{row.key} says “z” twice; word it for equal sides, too"


def test_what_cannot_be_measured_is_left_to_a_person(
    tiny_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(engine: Engine) -> list[str]:
        raise InputError("The text has 0 names.")

    page, values = tmp_path / "a.md", tmp_path / "values.json"
    page.write_text("First is *x*, and then *y*.\n", encoding="utf-8")
    monkeypatch.setattr(quotes, "ROOT", tmp_path)
    monkeypatch.setattr(quotes, "write", lambda *given: write(*given, values))
    rows = [Quote("a.md", "First is *{}*", lambda e: ["z"]), Quote("a.md", "then *{}*", refuse)]
    (message,) = fill(tiny_engine, rows)
    assert message == "a.md: then *{}* cannot be measured or filled: The text has 0 names."
    assert page.read_text(encoding="utf-8") == "First is *z*, and then *y*.\n"
    assert read(values) == (tiny_engine.provenance.fingerprint, {rows[0].key: ["z"]})
