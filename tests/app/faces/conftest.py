"""The answers that the tests of all faces look at."""

from collections.abc import Callable, Iterator

import pytest

from app.declared import declared
from app.engine.models import Engine
from app.faces.paper.answers import Answer, answer
from tests.made_up import VALUES, registered


@pytest.fixture
def made_up() -> Iterator[str]:
    """The slug of a feature that exists only in this test."""
    with registered() as slug:
        yield slug


@pytest.fixture
def answered(tiny_engine: Engine) -> Callable[..., Answer]:
    """Ask the tiny model a task: what is not given has a sample value, or is left out."""

    def ask(slug: str, **given: object) -> Answer:
        found = declared(slug)
        needed = {each.name: VALUES[each.name] for each in found.parameters if each.required}
        return answer(found, tiny_engine, {**needed, **given})

    return ask
