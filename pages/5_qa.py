"""Question answering: find the answer in a passage."""

from app.faces.streamlit.standard import standard_page

standard_page("qa")
