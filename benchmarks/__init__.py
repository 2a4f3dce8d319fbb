"""Measurements beside other implementations: `python -m benchmarks`.

Read in this order: `measure` (how two things are timed fairly), `forward` and `tokenizer` (what
is compared), `pages` (how long the server works for a visitor), `report` (how `RESULTS.md` is
written). Nothing here is imported by the product.
"""
