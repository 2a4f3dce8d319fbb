"""The answers that the tests of all interfaces look at."""

from collections.abc import Callable, Iterator

import pytest

from app.declared import declared
from app.declared.answers import answer
from app.engine.models import Engine
from app.faces.paper.answers import Written, written
from tests.made_up import needed, registered


@pytest.fixture
def made_up() -> Iterator[str]:
    """The slug of a feature that exists only in this test."""
    with registered() as slug:
        yield slug


@pytest.fixture
def answered(tiny_engine: Engine) -> Callable[..., Written]:
    """Ask the tiny model a task: what is not given has a sample value, or is left out."""

    def ask(slug: str, **given: object) -> Written:
        found = declared(slug)
        return written(answer(found, tiny_engine, {**needed(found), **given}))

    return ask
