"""What batch sets for its own process is taken back: here it is that of other tests, too."""

import csv
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def usual_fields() -> Iterator[None]:
    """Keep Python's limit for a field of CSV."""
    limit = csv.field_size_limit()
    yield
    csv.field_size_limit(limit)
