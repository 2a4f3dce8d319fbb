"""Name the image that the Dockerfile begins from by its digest, as `make lock` does for packages.

A tag can be moved to other files; a digest cannot. The digest is looked up with Docker, which asks
the tag's own registry.
"""

import re
import subprocess
from pathlib import Path

_FROM = re.compile(r"^FROM (?P<image>[^\s@]+)(@sha256:[0-9a-f]{64})?$", re.M)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_LOOK_UP = ("docker", "buildx", "imagetools", "inspect", "--format", "{{.Manifest.Digest}}")


def pin(dockerfile: Path) -> str:
    """Write the present digest of the base image into a Dockerfile; return the image with it.

    Raises:
        SystemExit: there is no such line, no Docker, or no answer; the file stays as it is.
    """
    text = dockerfile.read_text(encoding="utf-8")
    line = _FROM.search(text)
    if line is None:
        raise SystemExit(f"{dockerfile} has no line FROM with one image; expected FROM NAME:TAG.")
    image = line["image"]
    pinned = f"{image}@{_digest(image)}"
    dockerfile.write_text(text.replace(line[0], f"FROM {pinned}", 1), encoding="utf-8")
    return pinned


def _digest(image: str) -> str:
    try:
        found = subprocess.run([*_LOOK_UP, image], capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise SystemExit(f"The digest of {image} is looked up with Docker; install it.") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"Docker found no digest of {image}:\n{error.stderr.strip()}") from None
    digest = found.stdout.strip()
    if not _DIGEST.fullmatch(digest):
        raise SystemExit(f"Docker gave {digest[:80]!r} for {image}; expected sha256 and 64 digits.")
    return digest
