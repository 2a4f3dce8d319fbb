"""Sentences by frames: what running text says too seldom, or in too few ways.

The frames and their words are data, in the TOML files of this folder; everything is drawn from a
seed, so that the same seed gives the same sentences. No sentence comes near an evaluation.
"""
