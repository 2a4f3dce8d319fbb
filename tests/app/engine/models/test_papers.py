"""What a model's card says about its licence, whatever the card is."""

import os
from pathlib import Path

import pytest
import torch

from app.engine.models.papers import _device, _licence


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


@pytest.mark.parametrize(
    ("device", "called"),
    [("cpu", "processor"), ("cuda:1", "GPU, H200"), ("mps", "GPU (mps)")],
)
def test_the_device_is_called_what_people_call_it(
    monkeypatch: pytest.MonkeyPatch, device: str, called: str
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "H200")
    assert _device(torch.device(device)) == called
