"""Which interfaces this process serves beside the pages."""

import threading

PATH = "/gradio"
"""Where the Gradio interface is, below the site's own path."""

GRADIO = threading.Event()
"""Set while this process serves it: `streamlit run app.py` does not."""

CLASSES = threading.Event()
"""Set while this process serves the students' page of classes; see `app.faces.classroom`."""
