"""Evaluation sentences of our own, written before the training they measure.

They stay unchanged, even if a model fails one. Nothing is trained on them, nor on a sentence that
differs from one of them in a single word: `training.written.near` tells which do.
"""
