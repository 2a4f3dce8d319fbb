"""Senses: one word in many sentences."""

from app.faces.streamlit.standard import standard_page

standard_page("senses")
