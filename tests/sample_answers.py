"""Our sample tables as the bundled model answers them: once a session, for whoever compares."""

from functools import cache

from app.declared.answers import engine_of
from app.features.data.result import DataResult
from app.features.data.task import data


@cache
def answered(name: str) -> DataResult:
    """Return the answers to a sample; ask for them without another model in the settings."""
    return data(engine_of(""), name)
