"""Filling the documents with what the model does."""

from pathlib import Path

import pytest

from app.engine.models import Engine
from bert_core.errors import InputError
from tools.quotes import Quote, fill

TEXT = "The model is right\nin 43 of 100\ncases, *france* first.\n"


def refuse(_: Engine) -> list[str]:
    raise InputError("The text has 0 names.")


def test_gaps_are_filled_and_line_breaks_stay(tiny_engine: Engine, tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text(TEXT, encoding="utf-8")
    quote = Quote("a.md", "right in {} of 100 cases, *{}* first", lambda _: (44, "paris"))
    assert fill(tiny_engine, [quote], tmp_path) == []
    filled = page.read_text(encoding="utf-8")
    assert filled == TEXT.replace("43", "44").replace("france", "paris")


@pytest.mark.parametrize(
    ("says", "look", "wrong"),
    [
        ("cases, *{}* first", refuse, "The text has 0 names."),
        ("cases, *{}* first", lambda _: ("one", "two"), "longer"),
        ("cases, *{}* last", lambda _: ("paris",), "0 times; expected once"),
    ],
)
def test_what_cannot_be_measured_or_filled_is_left_to_a_person(
    says: str, look: object, wrong: str, tiny_engine: Engine, tmp_path: Path
) -> None:
    page = tmp_path / "a.md"
    page.write_text(TEXT, encoding="utf-8")
    (said,) = fill(tiny_engine, [Quote("a.md", says, look)], tmp_path)  # type: ignore[arg-type]
    assert said.startswith(f"a.md: {says}") and wrong in said
    assert page.read_text(encoding="utf-8") == TEXT
