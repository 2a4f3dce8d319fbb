"""The real server says that its model answers."""

import json
import urllib.request

import pytest

from tests.e2e.conftest import Site

pytestmark = pytest.mark.e2e


def test_the_running_server_says_that_its_model_answers(site: Site) -> None:
    with urllib.request.urlopen(f"{site.address}/healthz", timeout=30) as answer:
        found = json.load(answer)
    assert found == {"status": "answers", "model": "explorer-mini-uncased"}
