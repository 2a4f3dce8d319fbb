"""The names that two models find, beside each other."""

from app.words.two_answers import TITLE, screen

__all__ = ["TITLE", "screen"]
