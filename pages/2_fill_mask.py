"""Fill-mask: what the model would write where a word is hidden."""

from app.faces.streamlit.standard import standard_page

standard_page("fill_mask")
