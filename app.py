"""The entry of the explorer.

`python app.py` starts the server, with `--models FOLDER` it also offers the models in a folder;
`streamlit run app.py` starts it through Streamlit's own command. In both cases Streamlit runs
this file again for every visit, and then it draws the site.
"""

import os
import sys
from pathlib import Path

from streamlit.runtime.scriptrunner import get_script_run_ctx

if __name__ == "__main__":
    # PyTorch's threads wait for each other awake, which is quick, but not for long: where
    # something else wants the core, one pass took ten times as long. The library that runs them
    # reads this when PyTorch is loaded, so the site is imported after it.
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    if get_script_run_ctx(suppress_warning=True) is None:
        from app.streamlit_kit.server import read_arguments, serve

        read_arguments(sys.argv[1:])
        serve(Path(__file__).resolve())
    else:
        from app.streamlit_kit.site import show_site

        show_site()
