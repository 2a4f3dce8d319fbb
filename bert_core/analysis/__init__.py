"""What happens inside a model: its attentions, and statistics of its heads.

This package must not modify a model.
"""
