"""The model: encoder, heads and losses.

Read `outputs` (the letters used for shapes), `layers` (the forward pass), `bert`, then `heads`.
`kernels` contains all optimizations; none of them changes a result. This package must not import
the tokenizer.
"""
