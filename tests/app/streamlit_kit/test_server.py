"""How the server is set: what the environment says, and what a Space needs."""

import pytest

from app.streamlit_kit.server import _overrides

XSRF = "server.xsrfCookieSameSite"


def test_a_space_sends_its_cookie_inside_the_frame_and_no_other_server_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SPACE_HOST", raising=False)
    assert XSRF not in _overrides()
    monkeypatch.setenv("SPACE_HOST", "someone-bert-explorer.hf.space")
    assert _overrides()[XSRF] == "none"
