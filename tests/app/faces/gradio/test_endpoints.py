"""Endpoints: made from the declarations, called by Gradio's own client."""

import inspect
import json
import re
from collections import OrderedDict
from typing import Any

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from app.declared import Declared, all_declared, declared
from app.declared.answers import answer
from app.engine.compute.recent import RECENT
from app.engine.models import Engine
from app.faces.gradio.face import MODEL, endpoint
from app.faces.paper.answers import record
from tests.app.faces.gradio.conftest import Served
from tests.wrong_values import WRONG

NAMES = [each.feature.slug for each in all_declared()]
EVERY = pytest.mark.parametrize("feature", all_declared(), ids=NAMES)


def values(feature: Declared) -> dict[str, Any]:
    """The values of the first example."""
    found = feature.examples
    return feature.example_values(found[0].values) if found else {}


@pytest.fixture(scope="module")
def one_client(server: Served) -> Client:
    return Client(server.address, verbose=False, analytics_enabled=False)


@pytest.fixture
def client(served: Served, one_client: Client) -> Client:
    """The client, of a server with the tiny model."""
    return one_client


# -- what is promised ------------------------------------------------------------------------------


@EVERY
def test_an_endpoint_takes_what_the_task_takes_and_a_model(feature: Declared) -> None:
    written = inspect.signature(endpoint(feature))
    assert list(written.parameters) == [each.name for each in feature.parameters] + [MODEL]
    for each in feature.parameters:
        default = inspect.Parameter.empty if each.required else each.default
        assert written.parameters[each.name].default == default


def test_endpoints_are_named_as_the_features_and_say_what_they_take(served: Served) -> None:
    found = served.get("gradio_api/info").json()
    assert list(found["named_endpoints"]) == [f"/{slug}" for slug in NAMES]
    assert found["unnamed_endpoints"] == {}
    for feature in all_declared():
        promised = found["named_endpoints"][f"/{feature.feature.slug}"]
        assert promised["description"].startswith(feature.about)
        assert feature.feature.beware in promised["description"]
        for each, given in zip(feature.parameters, promised["parameters"], strict=False):
            assert given["parameter_name"] == each.name
            assert given["parameter_has_default"] is not each.required


# -- what comes back -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "slug", ["fill_mask", "multiple_choice", "attention_cell", "xray", "model_card"]
)
def test_gradios_client_gets_the_fields_of_the_result(
    client: Client, tiny_engine: Engine, slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    feature = declared(slug)
    # What other tests have fitted to these weights, with texts or a tokenizer of their own
    monkeypatch.setattr("bert_core.analysis.fitting._cache", OrderedDict())
    RECENT.clear()
    given = values(feature)
    found = client.predict(api_name=f"/{feature.feature.slug}", **given)
    wanted = record(answer(feature, tiny_engine, given))
    assert found == json.loads(json.dumps(wanted, allow_nan=False))
    assert len(json.dumps(found)) < 60_000, "not a small answer"


# -- what cannot be answered -----------------------------------------------------------------------


@pytest.mark.parametrize(("slug", "given", "says"), WRONG, ids=[str(row[1]) for row in WRONG])
def test_a_wrong_value_is_answered_with_the_reason(
    client: Client, slug: str, given: dict[str, Any], says: str
) -> None:
    with pytest.raises(AppError, match=re.escape(says)) as refused:
        client.predict(api_name=f"/{slug}", **given)
    assert "Traceback" not in str(refused.value)
