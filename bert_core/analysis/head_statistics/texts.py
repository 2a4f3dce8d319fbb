"""The fixed texts that heads are compared on, written for this package."""

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

Text = str | tuple[str, str]

_FILE = Path(__file__).with_name("text.txt")


@cache
def fixed_texts() -> tuple[Text, ...]:
    """Return 80 sentences and 20 pairs of sentences, in the order of the file.

    They mix short and long ones, questions, speech, names, numbers, lists and repetitions; of the
    pairs most continue and a few do not.
    """
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    parts = [tuple(line.split("\t")) for line in lines]
    return tuple(part[0] if len(part) == 1 else (part[0], part[1]) for part in parts)


def text_digest(texts: Sequence[Text]) -> str:
    """Return the SHA-256 of texts, 64 hexadecimal digits; the same on every system.

    What is hashed is their JSON in UTF-8, without blanks, a pair as a list of two.
    """
    listed = [text if isinstance(text, str) else list(text) for text in texts]
    raw = json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(raw.encode()).hexdigest()
