"""Widgets that only one feature's page needs, each module named by the slug of its feature."""
