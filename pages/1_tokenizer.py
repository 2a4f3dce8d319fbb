"""Tokenizer: a text as the model reads it, piece by piece."""

from app.faces.streamlit.standard import standard_page

standard_page("tokenizer")
