"""Next sentence: may the second text follow the first?"""

from app.faces.streamlit.standard import standard_page

standard_page("next_sentence")
