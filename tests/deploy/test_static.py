"""What hosts of plain files get beside the recorded site."""

import http.server
import threading
import urllib.request
from functools import partial
from pathlib import Path
from urllib.error import HTTPError

import pytest

from deploy.__main__ import main
from deploy.static import KINDS, dress, write_static
from tests.app.faces.recorded.test_recorded import Read, pages


@pytest.mark.parametrize(
    "base", ["", "bert/", "/bert", "/a b/", '/"><script>/', "https://x.example/"]
)
def test_a_base_path_that_is_none_is_refused(tmp_path: Path, base: str) -> None:
    with pytest.raises(ValueError, match="expected one such as /bert-explorer/"):
        write_static("github", tmp_path, base)


def test_a_folder_with_files_is_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["deploy", "static", "space", str(tmp_path)])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "contains files" in capfd.readouterr().err
    assert (tmp_path / "mine.txt").read_text(encoding="utf-8") == "mine"


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


def test_every_link_works_below_a_base_path(recorded_site: Path, tmp_path: Path) -> None:
    (tmp_path / "bert-explorer").symlink_to(recorded_site)
    handler = partial(_Quiet, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        home = f"http://127.0.0.1:{server.server_port}/bert-explorer/"
        wanted = [name for name in pages(recorded_site) if name.split("/")[-1].startswith("1-")]
        for name in ("index.html", *wanted):
            links = Read(recorded_site / name).links
            assert not [each for each in links if each.startswith("/")]
        with urllib.request.urlopen(f"{home}{wanted[0]}") as answer:
            assert answer.headers.get_content_type() == "text/html"
        with pytest.raises(HTTPError, match="404"):
            urllib.request.urlopen(f"{home}nothing.html")
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""
