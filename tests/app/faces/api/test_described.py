"""What programs and people can read about the tasks."""

from fastapi.openapi.models import OpenAPI

from app.declared import all_declared
from app.faces.api.described import REFUSALS, openapi
from app.faces.paper.json import meanings
from tests.app.faces.api.conftest import Api


def test_openapi_describes_every_task(api: Api) -> None:
    found = api.get("/api/openapi.json").json()
    assert OpenAPI.model_validate(found).servers is not None
    assert found["servers"] == [{"url": "/api"}]
    for task in all_declared():
        posted = found["paths"][f"/{task.feature.slug}"]["post"]
        body = posted["requestBody"]["content"]["application/json"]["schema"]
        assert list(body["properties"]) == [*(each.name for each in task.parameters), "model"]
        answer = posted["responses"]["200"]["content"]["application/json"]["schema"]
        assert list(answer["properties"]) == [*meanings(task.result), "provenance"]
        assert set(posted["responses"]) == {"200", *map(str, REFUSALS)}


def test_defaults_are_values_that_the_schema_allows() -> None:
    for path in openapi("/api/")["paths"].values():
        if "get" in path:  # takes nothing
            continue
        body = path["post"]["requestBody"]["content"]["application/json"]["schema"]
        for name, each in body["properties"].items():
            kinds = each.get("anyOf", [each])
            default = each.get("default")
            if default is None:
                assert name in body["required"] or {"type": "null"} in kinds, name
            elif "enum" in kinds[0]:
                assert default in kinds[0]["enum"]
            elif kinds[0]["type"] in {"integer", "number"}:
                assert (
                    kinds[0].get("minimum", default) <= default <= kinds[0].get("maximum", default)
                )


def test_the_documentation_names_every_task_and_asks_for_nothing_elsewhere(api: Api) -> None:
    found = api.get("/api/", follow_redirects=True)
    assert found.headers["content-type"].startswith("text/html")
    for task in all_declared():
        assert f'id="{task.feature.slug}"' in found.text
        assert all(f">{each.name}" in found.text for each in task.parameters)
    assert "<script" not in found.text and "src=" not in found.text
    assert f"curl -s {api.address}/api/fill_mask" in found.text
