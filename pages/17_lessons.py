"""Lessons: a guess first, then the answer, the reason, and one thing to change."""

from app.faces.streamlit.lessons import lessons_page

lessons_page()
