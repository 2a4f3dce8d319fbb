"""What happens inside a model: its input, its attentions, statistics of its heads, its vectors.

This package must not modify a model.
"""
