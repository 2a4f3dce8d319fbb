"""Exit with 0 if the running server says that its model answers, otherwise with 1.

The image's HEALTHCHECK runs this file; it needs nothing but Python.
"""

import http.client
import os
import sys


def main() -> bool:
    """Ask the server on this machine; return whether something is wrong."""
    port = int(os.environ.get("STREAMLIT_SERVER_PORT") or 8501)
    asked = http.client.HTTPConnection("127.0.0.1", port, timeout=25)
    asked.request("GET", "/healthz")
    answer = asked.getresponse()
    sys.stdout.write(answer.read(200).decode(errors="replace") + "\n")
    return answer.status != 200


if __name__ == "__main__":
    raise SystemExit(main())
