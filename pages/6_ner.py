"""Named entities: the persons, places and organisations that the model sees in a text."""

from app.faces.streamlit.standard import standard_page

standard_page("ner")
