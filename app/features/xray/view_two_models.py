"""One text on its way through two models, beside each other."""

from app.words.two_answers import TITLE, screen

__all__ = ["TITLE", "screen"]
