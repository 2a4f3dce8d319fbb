"""Inside the input: word + position + segment, with real numbers."""

from app.faces.streamlit.standard import standard_page

standard_page("input")
