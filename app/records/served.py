"""Which interfaces this process serves beside the pages."""

import threading

PATH = "/gradio"  # where the Gradio interface is, below the site's own path

GRADIO = threading.Event()  # set while this process serves it: `streamlit run app.py` does not

# Set while this process serves the students' page of classes; see `app.faces.classroom`.
CLASSES = threading.Event()
