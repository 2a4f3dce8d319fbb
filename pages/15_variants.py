"""Variants: BERT and five models based on it, and a configuration of your own, on paper."""

from app.faces.streamlit.standard import standard_page

standard_page("variants")
