"""Why: which words an answer depends on, and whether that is true to the model."""

from app.faces.streamlit import page_shell, text_box
from app.faces.streamlit.controls import pick_from
from app.faces.streamlit.features.why import explain, offer_gap
from app.faces.streamlit.state import begin_with
from app.features.why import view
from app.features.why.task_asked import explainable

SLUG = "why"

with page_shell(SLUG) as page:
    with page.give:
        names = {of: view.OF_NAMES[of] for of in explainable(page.engine)}
        begin = begin_with(SLUG, "of", next(iter(names)))
        of = pick_from("Whose answer?", names, key="of")
        first, second = view.BOXES[of]
        text = text_box(SLUG, first, first=begin["text"])
        pair = text_box(SLUG, second, key="text_pair", first=begin["text_pair"]) if second else ""
        if of == "fill_mask":
            offer_gap(text)
    found = explain(page, of, text, pair)
    if found is not None:
        shown, whole = found
        page.finish(
            lambda: view.screen(whole()),
            lambda: view.snippet(shown),
            text=text,
            text_pair=pair,
        )
