"""What hosts of plain files get beside the recorded site."""

import subprocess
from pathlib import Path

import pytest

from deploy.__main__ import main
from deploy.static import KINDS, dress, write_static
from tests.app.faces.recorded.test_recorded import Read


@pytest.mark.parametrize(
    "base", ["", "bert/", "/bert", "/a b/", '/"><script>/', "https://x.example/"]
)
def test_a_base_path_that_is_none_is_refused(tmp_path: Path, base: str) -> None:
    with pytest.raises(ValueError, match="expected one such as /bert-explorer/"):
        write_static("github", tmp_path, base)


def test_what_the_recording_refuses_ends_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(command: list[str], **_: object) -> None:
        assert command[1:] == ["-m", "app", "record", str(tmp_path), "--live", "--parts"]
        raise subprocess.CalledProcessError(2, command)  # and has said why

    monkeypatch.setattr(subprocess, "run", refuse)
    monkeypatch.setattr("sys.argv", ["deploy", "static", "space", str(tmp_path)])
    with pytest.raises(SystemExit, match="2"):
        main()


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_host_gets_what_it_reads(tmp_path: Path, kind: str) -> None:
    (tmp_path / "index.html").write_text("x", encoding="utf-8")
    assert dress(kind, tmp_path, "/bert-explorer/") >= 1
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {
        "index.html",
        *{"space": (), "github": ("404.html", ".nojekyll"), "headers": ("404.html", "_headers")}[
            kind
        ],
    }
    if kind != "space":
        assert Read(tmp_path / "404.html").links == ["/bert-explorer/index.html"]
    if kind == "headers":
        said = (tmp_path / "_headers").read_text(encoding="utf-8")
        assert "/live/worker.js\n  Content-Security-Policy: default-src 'none'" in said
