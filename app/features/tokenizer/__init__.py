"""Tokenizer: the pieces that a text is cut into."""
