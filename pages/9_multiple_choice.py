"""Multiple choice: which of several texts goes with a context?"""

from app.faces.streamlit.standard import standard_page

standard_page("multiple_choice")
