"""The base image is named by its digest once it has been looked up, and by nothing else."""

import os
from pathlib import Path

import pytest

from deploy.dockerfile import read_dockerfile
from deploy.pin import pin

ROOT = Path(__file__).resolve().parents[2]
DIGEST = f"sha256:{'0123456789abcdef' * 4}"
OTHER = f"sha256:{'f' * 64}"


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in Docker's place that prints the file `says` beside it."""
    place = tmp_path / "bin"
    place.mkdir()
    program = place / "docker"
    program.write_text(f'#!/bin/sh\necho "$@" > {place}/asked\ncat {place}/says\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
    return place


@pytest.fixture
def dockerfile(tmp_path: Path) -> Path:
    """A copy of the Dockerfile."""
    copy = tmp_path / "Dockerfile"
    copy.write_text((ROOT / "Dockerfile").read_text(encoding="utf-8"), encoding="utf-8")
    return copy


def test_the_digest_is_written_behind_the_tag_and_replaced_later(
    docker: Path, dockerfile: Path
) -> None:
    before = dockerfile.read_text(encoding="utf-8")
    for digest in (DIGEST, OTHER):
        (docker / "says").write_text(f"{digest}\n")
        assert pin(dockerfile) == f"python:3.12-slim-trixie@{digest}"
        text = dockerfile.read_text(encoding="utf-8")
        assert text.splitlines().count(f"FROM python:3.12-slim-trixie@{digest}") == 1
        assert (docker / "asked").read_text().split()[-1] == "python:3.12-slim-trixie"
    strip = [line for line in before.splitlines() if not line.startswith("FROM ")]
    assert [line for line in text.splitlines() if not line.startswith("FROM ")] == strip
    assert read_dockerfile(dockerfile) == read_dockerfile(ROOT / "Dockerfile")


@pytest.mark.parametrize("answer", ["", "latest", "sha256:12", f"{DIGEST}\n{OTHER}"])
def test_what_is_no_digest_changes_nothing(docker: Path, dockerfile: Path, answer: str) -> None:
    before = dockerfile.read_bytes()
    (docker / "says").write_text(answer)
    with pytest.raises(SystemExit, match="expected sha256"):
        pin(dockerfile)
    assert dockerfile.read_bytes() == before


def test_without_docker_or_an_answer_nothing_changes(
    docker: Path, dockerfile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dockerfile.read_bytes()
    (docker / "docker").write_text("#!/bin/sh\necho no such tag >&2\nexit 1\n")
    with pytest.raises(SystemExit, match="no such tag"):
        pin(dockerfile)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit, match="install it"):
        pin(dockerfile)
    assert dockerfile.read_bytes() == before


def test_a_file_without_an_image_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("RUN true\n")
    with pytest.raises(SystemExit, match="FROM NAME:TAG"):
        pin(tmp_path / "Dockerfile")
