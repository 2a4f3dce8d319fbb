"""The headers of every answer."""

import base64
import hashlib

import pytest

from app.compat.streamlit import page_source
from app.server.policy import Policy, inline_scripts


def rules(headers: dict[str, str]) -> dict[str, list[str]]:
    """Return a policy by directive."""
    parts = (each.split() for each in headers["content-security-policy"].split(";"))
    return {name: sources for name, *sources in parts}


def test_the_installed_page_of_streamlit_has_one_inline_script_and_it_is_admitted() -> None:
    page = page_source()
    code = page.partition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    assert inline_scripts(page) == (f"'sha256-{digest}'",)


def test_scripts_with_an_address_are_not_inline() -> None:
    page = '<script type="module" src="./a.js"></script><script data-x>\n1\n</script>'
    assert len(inline_scripts(page)) == 1


def test_the_first_face_neither_evaluates_text_nor_loads_from_elsewhere() -> None:
    found = rules(Policy(("'sha256-x'",)).first("site.example:8501"))
    assert found["default-src"] == ["'none'"]
    assert found["script-src"] == ["'self'", "blob:", "'sha256-x'"]
    assert found["connect-src"] == ["'self'", "ws://site.example:8501", "wss://site.example:8501"]
    assert found["frame-ancestors"] == ["'self'"]
    assert not any(
        "*" in source or "https:" in source for all_ in found.values() for source in all_
    )


def test_the_second_face_runs_no_script_that_is_written_into_the_page_later() -> None:
    found = rules(Policy().second("abc"))
    assert found["script-src"] == ["'self'", "'nonce-abc'", "'unsafe-eval'"]


@pytest.mark.parametrize(
    "face", [Policy(in_space=True).first("a"), Policy(in_space=True).second("n")]
)
def test_a_space_may_be_shown_in_the_frame_of_the_hub(face: dict[str, str]) -> None:
    hub = ["'self'", "https://huggingface.co", "https://*.hf.space"]
    assert rules(face)["frame-ancestors"] == hub
