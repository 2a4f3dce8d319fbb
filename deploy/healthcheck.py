"""Exit with 0 if the running server says that its model answers, otherwise with 1.

The image's HEALTHCHECK runs this file; it needs nothing but Python.
"""

import os
import sys
import urllib.error
import urllib.request

_SECONDS = 25.0


def main() -> int:
    """Ask the server on this machine."""
    port = os.environ.get("STREAMLIT_SERVER_PORT") or "8501"
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"http://127.0.0.1:{port}/healthz", timeout=_SECONDS) as answer:
            sys.stdout.write(answer.read(200).decode(errors="replace") + "\n")
            return 0
    except (urllib.error.URLError, OSError) as error:
        said = error.read(200) if isinstance(error, urllib.error.HTTPError) else b""
        sys.stdout.write(f"{error} {said.decode(errors='replace')}\n")
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
