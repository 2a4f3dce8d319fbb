"""The files of `deploy/cluster`: what they promise, and that their own programs take them."""

import json
import re
import shutil
import socket
import subprocess
import threading
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from app.engine.counted import REGISTRY
from app.settings import VARIABLES, settings
from app.shared.redis_store import Redis
from deploy.tree import ROOT
from tests.stores import CADDY, PROGRAM, caddy, free_port, needs_caddy, needs_redis
from tests.strangers import PATIENCE, until

FOLDER = ROOT / "deploy/cluster"
COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
SITES = [SERVICES[name] for name in ("site-a", "site-b")]


@pytest.mark.parametrize("name", SERVICES)
def test_no_service_is_root_or_writes_to_its_files_and_all_are_limited(name: str) -> None:
    found = SERVICES[name]
    assert re.fullmatch(r"1000:1000|\$\{USER_ID:-1000\}:\$\{GROUP_ID:-1000\}", found["user"])
    assert found["read_only"] is True and found["cap_drop"] == ["ALL"]
    assert found["security_opt"] == ["no-new-privileges:true"]
    assert {"mem_limit", "cpus", "pids_limit"} <= set(found)
    assert ("ports" in found) == (name == "caddy")


def test_redis_writes_nothing_and_is_reached_by_the_sites_alone() -> None:
    options = SERVICES["redis"]["command"]
    assert {'--save ""', "--appendonly no", "--port 0", "--maxmemory 200mb"} <= set(options)
    networks = COMPOSE["networks"]
    near = [name for name, each in SERVICES.items() if "store" in each["networks"]]
    assert near == ["site-a", "site-b", "redis"]
    assert networks["store"] == {"internal": True} != networks["outside"]


def test_the_sites_have_settings_that_exist_and_the_pinned_packages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for site in SITES:
        ours = {k: v for k, v in site["environment"].items() if k.startswith("BERT_EXPLORER")}
        assert set(ours) <= set(VARIABLES)
        for name, value in ours.items():
            monkeypatch.setenv(name, re.sub(r"\$\{[^}]*\}", "k" * 64, value))
        assert settings().shared.startswith("rediss://:kkk") and "site-b" in settings().hosts
        assert settings().drain < int(site["stop_grace_period"].removesuffix("s"))
    pins = re.findall(r"^redis\S+", (ROOT / "requirements-cluster.txt").read_text(), re.M)
    assert pins and all(each in SITES[0]["build"]["dockerfile_inline"] for each in pins)


def test_the_dashboard_asks_for_numbers_that_exist() -> None:
    panels = json.loads((FOLDER / "grafana.json").read_text(encoding="utf-8"))["panels"]
    asked = " ".join(each["expr"] for panel in panels for each in panel["targets"])
    names = {each.name for each in REGISTRY.collect()}
    known = names | {f"{name}{end}" for name in names for end in ("_total", "_bucket")}
    found = set(re.findall(r"\b(?:bert_explorer|process)_\w+", asked))
    assert len(found) >= 10 and found <= known
    assert {name for name in names if name.startswith("bert_explorer")} <= {
        re.sub(r"_(total|bucket)$", "", name) for name in found
    }


# -- their programs --------------------------------------------------------------------------------


def prepared(folder: Path) -> dict[str, str]:
    """Run `prepare` in a copy of the folder; return what it wrote."""
    shutil.copy(FOLDER / "prepare", folder / "prepare")
    command = [folder / "prepare", "bert.school.example"]
    subprocess.run(command, check=True, timeout=PATIENCE)
    again = subprocess.run(command, check=False, capture_output=True, timeout=PATIENCE)
    assert again.returncode == 2 and b"is there already" in again.stderr
    lines = (folder / ".env").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines)


def answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@needs_redis
@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl is installed")
def test_what_is_prepared_lets_the_sites_and_nobody_else_into_redis(tmp_path: Path) -> None:
    port = free_port()
    made = prepared(tmp_path)
    strict = "openssl verify -x509_strict -CAfile ca.crt redis.crt"  # as Python 3.13 reads them
    subprocess.run(strict.split(), check=True, timeout=PATIENCE, cwd=tmp_path / "secrets")
    text = (FOLDER / "compose.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"\$\{(\w+)", text)) == set(made)
    options = "\n".join([*SERVICES["redis"]["command"][1:], "--bind 127.0.0.1"])
    for old, new in {
        "/run/secrets": str(tmp_path / "secrets"), "${REDIS_PASSWORD}": made["REDIS_PASSWORD"],
        "--tls-port 6379": f"--tls-port {port}",
    }.items():  # fmt: skip
        options = options.replace(old, new)
    command = [str(PROGRAM), *options.split("\n")]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=tmp_path)
    try:
        ca = f"?ssl_ca_certs={tmp_path}/secrets/ca.crt"
        right = Redis(f"rediss://:{made['REDIS_PASSWORD']}@localhost:{port}/0{ca}")
        until(lambda: answers(port))
        assert right.ask("return 1", []) == 1  # `begin` would leave a thread that asks for ever
        for wrong in (
            f"rediss://:wrong@localhost:{port}/0{ca}",
            f"rediss://:{made['REDIS_PASSWORD']}@localhost:{port}/0",
            f"redis://:{made['REDIS_PASSWORD']}@localhost:{port}/0",
        ):
            store = Redis(wrong)
            with pytest.raises(Exception, match=r"(?i)pass|certificate|closed|reset"):
                store.ask("return 1", [])
    finally:
        server.kill()
        server.wait(PATIENCE)
    assert made["USER_ID"] != "0" and list(tmp_path.glob("*.rdb")) == []


@needs_caddy
def test_caddy_takes_its_file() -> None:
    for command in (["validate", "--adapter", "caddyfile"], ["fmt"]):
        done = subprocess.run(
            [str(CADDY), *command, *(["--config"] if "validate" in command else []), "Caddyfile"],
            cwd=FOLDER, capture_output=True, text=True, check=True, timeout=PATIENCE,
        )  # fmt: skip
    assert done.stdout == (FOLDER / "Caddyfile").read_text(encoding="utf-8")


class Site(ThreadingHTTPServer):
    """A small server in place of a site."""

    ready = 200

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Answer(BaseHTTPRequestHandler):
    """Says the port of the server, and whether that is ready."""

    def do_GET(self) -> None:
        assert isinstance(self.server, Site)
        text = str(self.server.server_port).encode()
        self.send_response(self.server.ready if self.path == "/readyz" else 200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@needs_caddy
def test_caddy_keeps_a_visitor_at_one_server_until_that_is_not_ready(tmp_path: Path) -> None:
    with ExitStack() as stack:
        sites = {str(each.server_port): each for each in (Site(), Site())}
        for each in sites.values():
            stack.callback(each.server_close)
            stack.callback(each.shutdown)
        address = stack.enter_context(
            caddy(tmp_path, [each.server_port for each in sites.values()])
        )
        visitors = [
            stack.enter_context(httpx.Client(base_url=address, verify=False)) for _ in range(32)
        ]
        first = [visitor.get("/").text for visitor in visitors]
        assert set(first) == set(sites)
        for _ in range(3):
            assert [visitor.get("/").text for visitor in visitors] == first
        closed = ("/metrics", "/readyz", "/livez", "/healthz")
        assert {visitors[0].get(path).status_code for path in closed} == {404}
        sites[first[0]].ready = 503
        until(lambda: visitors[0].get("/").text != first[0])
        assert len({visitor.get("/").text for visitor in visitors}) == 1
