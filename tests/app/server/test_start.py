"""How the parts of the server are put together from the settings."""

import asyncio

import httpx
import pytest
import streamlit as st
from starlette.responses import PlainTextResponse

from app.server import start as server
from bert_core.errors import ConfigError

FACE = PlainTextResponse("there")
XSRF = "server.xsrfCookieSameSite"


def ask(path: str, *, host: str = "localhost:8501", address: str = "127.0.0.1") -> httpx.Response:
    """Ask the gate, as it is made now, in front of an answer to everything."""

    async def asked() -> httpx.Response:
        transport = httpx.ASGITransport(server._gate(FACE, FACE, "/gradio", address, 8501))
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
            return await client.get(path)

    return asyncio.run(asked())


def test_statistics_are_there_if_the_operator_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask("/_stcore/metrics").status_code == 404
    monkeypatch.setenv("BERT_EXPLORER_METRICS", "on")
    assert ask("/_stcore/metrics").text == "there"
    assert ask("/_stcore/agent/interact").status_code == 404


def test_agents_are_let_in_by_streamlits_own_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = st.get_option
    on = {"server.enableAgentApi": True}
    monkeypatch.setattr(st, "get_option", lambda name: on.get(name) or usual(name))
    assert ask("/_stcore/agent/interact").text == "there"
    assert ask("/_stcore/metrics").status_code == 404


def test_a_space_and_a_proxy_have_names(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask("/", host="me-bert.hf.space", address="0.0.0.0").status_code == 421
    monkeypatch.setenv("SPACE_HOST", "me-bert.hf.space")
    monkeypatch.setenv("BERT_EXPLORER_HOSTS", "bert.school.example")
    assert ask("/", host="bert.school.example").text == "there"
    answer = ask("/", host="me-bert.hf.space", address="0.0.0.0")
    assert "https://huggingface.co" in answer.headers["content-security-policy"]


def test_the_whole_site_may_be_below_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    assert server._below("/gradio") == "/gradio"
    monkeypatch.setattr(st, "get_option", {"server.baseUrlPath": "/bert/"}.get)
    assert (server._below("/gradio"), server._below("/")) == ("/bert/gradio", "/bert/")


def test_a_certificate_has_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = st.get_option
    files = {"server.sslCertFile": "cert.pem"}
    monkeypatch.setattr(st, "get_option", lambda name: files.get(name) or usual(name))
    with pytest.raises(ConfigError, match="expected both or neither"):
        server._certificate()
    files["server.sslKeyFile"] = "key.pem"
    assert server._certificate() == ("cert.pem", "key.pem")


def test_the_operator_is_told_where_the_site_is(capsys: pytest.CaptureFixture[str]) -> None:
    server._announce("127.0.0.1", 8501)
    assert capsys.readouterr().out == "BERT Explorer, URL: http://127.0.0.1:8501/\n"
    server._announce("0.0.0.0", 8501)
    assert capsys.readouterr().out.count("URL: http://") == 2
    server._announce("fe80::1", 8501)
    assert "http://[fe80::1]:8501/" in capsys.readouterr().out


def test_a_space_sends_its_cookie_inside_the_frame_and_no_other_server_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SPACE_HOST", raising=False)
    assert XSRF not in server._overrides()
    monkeypatch.setenv("SPACE_HOST", "someone-bert-explorer.hf.space")
    assert server._overrides()[XSRF] == "none"
