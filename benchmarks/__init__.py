"""Benchmarks against other implementations: `python -m benchmarks`.

Read `measure` (how two implementations are timed), `forward` and `tokenizer` (what is compared),
`pages` (how long the server takes to respond), then `report` (what is printed).
Nothing here is imported by the product.
"""
