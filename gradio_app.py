"""Entry point of the Gradio interface alone, as on a Gradio Space: `python gradio_app.py`.

The site with both interfaces is `app.py`. Address and port come from `GRADIO_SERVER_NAME` and
`GRADIO_SERVER_PORT`; a Space sets them. It ends as `app.py` does, with the same statuses.
"""

import sys


def start() -> None:
    """Serve the interface; if it cannot start, print the reason in one line."""
    from app.compat.gradio_import import write_no_stubs
    from app.settings import check_settings
    from bert_core.errors import BertError

    try:
        check_settings()
        write_no_stubs()
        from app.server.gradio_start import serve  # its imports need valid settings

        serve()
    except BertError as error:
        sys.stderr.write(" ".join(str(error).split()) + "\n")
        raise SystemExit(2) from None


if __name__ == "__main__":
    from app.server.stopping import STOP
    from app.waiting import limit_waiting  # before PyTorch is imported

    STOP.obey()
    limit_waiting()
    start()
