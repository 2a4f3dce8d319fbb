"""Attention: every head, as a heat map or as lines."""
