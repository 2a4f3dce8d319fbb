"""Entry point of the explorer.

`python app.py` starts the server; with `--models FOLDER` it also offers the models in a folder.
`streamlit run app.py` starts it through Streamlit's own command. In both cases Streamlit runs
this file again for every visit to draw the site.

Exit status of `python app.py`: 2 if it cannot start as requested, 0 after SIGTERM, 130 after
Ctrl+C.
"""

import gc
import sys
import threading
from pathlib import Path


def start() -> None:
    """Serve the site; if it cannot start, print the reason in one line."""
    from app.settings import check_settings
    from bert_core.errors import BertError

    try:
        check_settings()
        from app.server.start import serve  # its imports need valid settings

        serve(Path(__file__).resolve())
    except BertError as error:
        sys.stderr.write(" ".join(str(error).split()) + "\n")
        raise SystemExit(2) from None


if __name__ == "__main__":
    if threading.current_thread() is threading.main_thread():  # visits run in other threads
        from app.arguments import read_arguments

        read_arguments(sys.argv[1:])
        from app.server.stopping import STOP

        STOP.obey()
        # Looking for garbage among what imports and models create finds none, and took a sixth of
        # the start. `warm_up` turns it on again.
        gc.disable()
    from app.waiting import limit_waiting  # before PyTorch is imported

    limit_waiting()
    from app.compat.streamlit import is_in_a_run

    if not is_in_a_run():
        start()
    else:
        from app.faces.streamlit.site import show_site

        show_site()
