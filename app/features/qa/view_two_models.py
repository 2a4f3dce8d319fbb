"""The answers of two models, beside each other."""

from app.words.two_answers import TITLE, screen

__all__ = ["TITLE", "screen"]
