"""The files that browsers run: served as they are, under a policy of their own, nothing else."""

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from app.declared.live import live_files
from app.faces.live import Live, lab_page
from app.server.policy import Policy


@pytest.fixture
def client() -> TestClient:
    return TestClient(Live(PlainTextResponse("elsewhere"), below="/site"))


def test_every_file_is_served_once_and_then_known(client: TestClient) -> None:
    for name, content in {**live_files(), "lab.html": lab_page()}.items():
        answer = client.get(f"/site/live/{name}")
        assert (answer.status_code, answer.content) == (200, content), name
        again = client.get(f"/site/live/{name}", headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b""), name


@pytest.mark.parametrize(
    "path", ["", "bert.c", "NOTICE", "../app.py", "..%2fapp.py", "runs", "runs/../../app.py"]
)
def test_nothing_else_is(client: TestClient, path: str) -> None:
    answer = client.get(f"/site/live/{path}")
    assert answer.status_code == 404 or answer.text == "elsewhere"
    assert client.get("/live/lab.html").text == "elsewhere"
    assert client.post("/site/live/lab.html").status_code == 405


def test_a_space_is_shown_in_a_frame_with_the_lab_in_it() -> None:
    for there in (True, False):
        rule = Policy(in_space=there).live()["content-security-policy"]
        assert ("https://huggingface.co" in rule) == there


def test_only_these_files_may_compile_webassembly() -> None:
    policy = Policy()
    assert "'wasm-unsafe-eval'" in policy.live()["content-security-policy"]
    for other in (policy.first("host"), policy.second("1"), policy.plain(), policy.classroom()):
        assert "wasm-unsafe-eval" not in other["content-security-policy"]
