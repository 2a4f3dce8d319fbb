"""Data: every row of a table through one task, and where the model is right."""

from app.faces.streamlit.features.data import data_page

data_page()
