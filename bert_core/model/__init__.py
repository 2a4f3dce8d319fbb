"""The model: encoder, heads and losses.

Read `outputs` (the letters used for shapes), `bert` (the encoder), then `heads`. `speed` makes
linear layers faster and changes no result. This package must not import the tokenizer.
"""
