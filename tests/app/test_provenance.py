"""What a model's card says about its licence, whatever the card is."""

import os
from pathlib import Path

import pytest

from app.engine.provenance import _licence


@pytest.mark.parametrize(
    ("card", "licence"),
    [
        ("---\nlicense: apache-2.0\n---\nText", "apache-2.0"),
        ("---\r\ntags: [a]\r\nlicense: 'mit' \r\n---\r\n", "mit"),
        ("---\nlicense: mit", ""),
        ("license: mit\n", ""),
        ("---\ntags:\n  license: mit\n---\n", ""),
        ("---\n---\nlicense: mit\n", ""),
        ("", ""),
        ("---" + "\n" * 60_000, ""),
        ("---\nlicense: " + "x" * 50_000 + "\n---\n", "x" * 60),
    ],
)
def test_the_licence_is_read_from_the_front_of_the_card(
    tmp_path: Path, card: str, licence: str
) -> None:
    (tmp_path / "README.md").write_bytes(card.encode())
    assert _licence(tmp_path / "README.md") == licence


def test_a_card_that_is_no_file_says_nothing(tmp_path: Path) -> None:
    assert _licence(tmp_path / "README.md") == ""
    (tmp_path / "folder").mkdir()
    assert _licence(tmp_path / "folder") == ""
    os.mkfifo(tmp_path / "pipe")
    assert _licence(tmp_path / "pipe") == ""
