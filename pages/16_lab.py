"""The lab: a tiny BERT is trained in the visitor's browser; a model of the site is fine-tuned."""

import json
from functools import partial

import streamlit as st

from app.declared.live import lab_described
from app.faces.streamlit import page_shell, show_html
from app.faces.streamlit.components import show_script
from app.faces.streamlit.controls import draw_tabs
from app.faces.streamlit.features import lab_finetune
from app.features.lab import view
from app.features.lab.result import of_address
from app.features.lab.task import recorded

SLUG = "lab"
SCRATCH, TUNE = "Train from scratch", "Fine-tune"

with page_shell(SLUG) as page:
    tabs = draw_tabs(SLUG, (SCRATCH, TUNE))
    with tabs[SCRATCH]:  # also while it is closed, because what is trained there is on the page
        show_html(view.PICTURES_HINT)
        show_script("lab", {"lab": json.dumps(lab_described({}))}, key="bx-lab")
    if tabs[TUNE].open:
        with tabs[TUNE]:
            lab_finetune.show(page)
    run = recorded(of_address(st.query_params.to_dict())) or recorded({})
    assert run is not None
    page.finish(partial(view.screen, run), partial(view.snippet, run, page.engine.provenance.name))
