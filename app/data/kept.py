"""What visitors have on a page for a while, under random keys; bounded over all of them."""

from app.engine.compute.recent import Cache

_MOST = 128 * 2**20  # bytes

TABLES = Cache(_MOST)
"""The tables that visitors have uploaded or pasted."""

WORKS = Cache(_MOST)
"""Their answers, and those of our samples."""
