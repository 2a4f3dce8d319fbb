"""The entry of the explorer.

`python app.py` starts the server, with `--models FOLDER` it also offers the models in a folder;
`streamlit run app.py` starts it through Streamlit's own command. In both cases Streamlit runs
this file again for every visit, and then it draws the site.
"""

import sys
from pathlib import Path

from streamlit.runtime.scriptrunner import get_script_run_ctx

from app.streamlit_kit.server import read_arguments, serve
from app.streamlit_kit.site import show_site

if __name__ == "__main__":
    if get_script_run_ctx(suppress_warning=True) is None:
        read_arguments(sys.argv[1:])
        serve(Path(__file__).resolve())
    else:
        show_site()
