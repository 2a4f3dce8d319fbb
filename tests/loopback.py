"""A loopback server that imitates the Hub and a plain file server, with faults on demand.

It answers everything the Hub client requests for a model: the list of files, a file's metadata and
its contents. Large files are redirected to another path, as the Hub redirects to its CDN. `faults`
sets what goes wrong at each path; `log` records every request.
"""

import hashlib
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

LARGE = 2_000  # smallest size in bytes of a large file (the Hub: 10 MB)


@dataclass
class Fault:
    """What goes wrong when the contents at one path are requested.

    Attributes:
        status: reply with this status instead.
        cut: number of times the connection breaks in the middle of the contents.
        instead: send these bytes instead.
        wait: seconds before anything is sent.
        drip: seconds between pieces of 100 bytes; may be changed while they are sent.
        redirect: redirect to this address, on every request.
        nameless: send no ETag, date or length.
        headers: extra headers; they replace the usual ones of the same name.
    """

    status: int = 0
    cut: int = 0
    instead: bytes | None = None
    wait: float = 0.0
    drip: float = 0.0
    redirect: str = ""
    nameless: bool = False
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Repository:
    """A model on the Hub: its files, its version and its access rights."""

    files: dict[str, bytes]
    commit: str
    private: bool = False
    gated: bool = False

    @property
    def weights_at(self) -> str:
        """The path at which its weights are fetched."""
        return f"/cdn/{hashlib.sha256(self.files['model.safetensors']).hexdigest()}"


class Loopback:
    """The server; `with Loopback() as server` runs it in a thread."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.files: dict[str, bytes] = {}
        self.faults: dict[str, Fault] = {}
        self.log: list[tuple[str, str, dict[str, str]]] = []
        self._server: ThreadingHTTPServer | None = None
        self._lines: list[socket.socket] = []
        self.url = ""

    def __enter__(self) -> "Loopback":
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def start(self, port: int = 0) -> None:
        """Start listening; the same port can be reused after `stop`."""
        outer = self

        class Handler(_Handler):
            loopback = outer

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def process_request(self, request: Any, client_address: Any) -> None:
                outer._lines.append(request)
                super().process_request(request, client_address)

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Ignore errors: several tests disconnect on purpose."""

        self._server = Server(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Stop the server: refuse new connections and end open ones."""
        if self._server is None:
            return
        self._server.shutdown()
        self._server.server_close()
        self._server = None
        for line in self._lines:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
        self._lines.clear()

    def add_model(self, name: str, folder: Path, **options: Any) -> Repository:
        """Publish a folder on the Hub under an id."""
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
        commit = hashlib.sha1(repr(sorted(files.items())).encode()).hexdigest()
        self.repositories[name] = Repository(files, commit, **options)
        return self.repositories[name]

    def asked(self, *methods: str) -> list[str]:
        """Return the paths requested so far with the given methods, by default with any."""
        return [path for method, path, _ in self.log if not methods or method in methods]

    @contextmanager
    def dead(self) -> Iterator[None]:
        """Stop the server during the block, then restart it on the same port."""
        port = int(self.url.rpartition(":")[2])
        self.stop()
        try:
            yield
        finally:
            self.start(port)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else every body waits 40 ms for the receipt of its head
    loopback: Loopback

    def log_message(self, *args: object) -> None:
        """Stay quiet."""

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.loopback.log.append((self.command, path, dict(self.headers)))
        fault = self.loopback.faults.get(path, Fault())
        if fault.wait:
            time.sleep(fault.wait)
        if fault.status:
            self._refuse(fault.status)
        elif fault.redirect:
            self._send(302, {"Location": fault.redirect})
        elif path.startswith("/files/"):
            data = self.loopback.files.get(path.removeprefix("/files/"))
            if data is None:
                self._refuse(404)
            else:
                self._send_file(data, fault)
        elif path.startswith("/cdn/"):
            self._send_file(self._blob(path.removeprefix("/cdn/")), fault)
        elif path.startswith("/api/models/"):
            self._describe(path.removeprefix("/api/models/"))
        else:
            self._resolve(path[1:], fault)

    def _blob(self, digest: str) -> bytes:
        for repository in self.loopback.repositories.values():
            for data in repository.files.values():
                if hashlib.sha256(data).hexdigest() == digest:
                    return data
        raise KeyError(digest)

    def _repository(self, name: str, revision: str) -> Repository | None:
        found = self.loopback.repositories.get(name)
        authorized = "authorization" in self.headers
        if found is None or (found.private and not authorized):
            self._refuse(401, "RepoNotFound")
        elif found.gated and not authorized:
            self._refuse(403, "GatedRepo")
        elif revision not in ("main", found.commit):
            self._refuse(404, "RevisionNotFound")
        else:
            return found
        return None

    def _describe(self, rest: str) -> None:
        """Answer with the commit of a model, or with the entries of one of its folders."""
        name, kind, place = re.fullmatch(r"([^/]+/[^/]+)/(revision|tree)/(.*)", rest).groups()  # type: ignore[union-attr]
        revision, _, folder = place.partition("/") if kind == "tree" else (place, "", "")
        found = self._repository(name, revision)
        if found is None:
            return
        answer: Any = {"id": name, "modelId": name, "sha": found.commit}
        if kind == "tree":
            answer = tree(
                found, f"{folder}/" if folder else "", "recursive=true" in self.path.lower()
            )
        self._send(200, {"Content-Type": "application/json"}, json.dumps(answer).encode())

    def _resolve(self, rest: str, fault: Fault) -> None:
        name, _, place = rest.partition("/resolve/")
        revision, _, file = place.partition("/")
        found = self._repository(name, revision)
        if found is None:
            return
        if file not in found.files:
            self._refuse(404, "EntryNotFound")
            return
        data = found.files[file]
        headers = {"X-Repo-Commit": found.commit, **fault.headers}
        if len(data) < LARGE:
            self._send_file(data, fault, {"ETag": f'"{git_sha1(data)}"', **headers})
            return
        digest = hashlib.sha256(data).hexdigest()
        linked = {"X-Linked-Etag": f'"{digest}"', "X-Linked-Size": str(len(data))}
        # Another name for this machine, so that the host differs, as with the CDN.
        elsewhere = self.loopback.url.replace("127.0.0.1", "localhost")
        self._send(302, {"Location": f"{elsewhere}/cdn/{digest}", **linked, **headers})

    def _send_file(self, data: bytes, fault: Fault, headers: dict[str, str] | None = None) -> None:
        """Send contents, or the rest of them, subject to the fault."""
        etag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
        names = {"ETag": etag, "Accept-Ranges": "bytes", **(headers or {}), **fault.headers}
        if fault.nameless:
            names = {}
        if self.headers.get("If-None-Match") == names.get("ETag", "-"):
            self._send(304, names)
            return
        status, start = 200, 0
        wanted = self.headers.get("Range", "")
        if wanted and not fault.nameless and self.headers.get("If-Range", etag) == etag:
            start = int(wanted.removeprefix("bytes=").partition("-")[0])
            if start >= len(data):
                self._refuse(416)
                return
            status = 206
            names.setdefault("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        body = (data if fault.instead is None else fault.instead)[start:]
        if fault.nameless:
            self.close_connection = True
            names["Connection"] = "close"
        else:
            names["Content-Length"] = str(len(body))
        self._begin(status, names)
        if self.command == "HEAD":
            return
        if fault.cut > 0:
            fault.cut -= 1
            body = body[: max(1, len(body) // 2)]
            self.close_connection = True
        step = 100 if fault.drip else max(1, len(body))
        for place in range(0, len(body), step):
            self.wfile.write(body[place : place + step])
            self.wfile.flush()
            time.sleep(fault.drip)

    def _refuse(self, status: int, code: str = "") -> None:
        self._send(status, {"X-Error-Code": code} if code else {}, b"{}")

    def _send(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        lengths = {} if status == 304 else {"Content-Length": str(len(body))}
        self._begin(status, {**headers, **lengths})
        if self.command != "HEAD" and status != 304:
            self.wfile.write(body)

    def _begin(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


def tree(repository: Repository, folder: str, recursive: bool) -> list[dict[str, Any]]:
    """Return the entries of a folder, as the Hub lists them."""
    entries = {}
    for file, data in repository.files.items():
        if not file.startswith(folder):
            continue
        top, deeper, _ = file.removeprefix(folder).partition("/")
        if deeper and not recursive:
            entries[top] = {"type": "directory", "path": folder + top, "oid": "0" * 40}
        else:
            entries[file] = {"type": "file", "path": file, "size": len(data), "oid": git_sha1(data)}
    return list(entries.values())


def git_sha1(data: bytes) -> str:
    """Return the name git gives to contents."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
