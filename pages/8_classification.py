"""Classification: which label does the model give a text?"""

from app.faces.streamlit.standard import standard_page

standard_page("classification")
