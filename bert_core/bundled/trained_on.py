"""What a model's heads were trained on: reading and writing `trained_on.json` in its folder.

The file maps names of model classes to phrases that follow "Trained on"; that of `BertModel` is
about the encoder and says what it began as. Pages repeat the phrases beside the answers.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from bert_core.errors import CheckpointError
from bert_core.small_files import parse_json, read_small, shown

TRAINED_ON = "trained_on.json"
_LIMIT = 20_000  # bytes
_LONGEST = 400  # characters of a phrase


def read_trained_on(folder: str | Path) -> dict[str, str]:
    """Read what the heads of the model in a folder were trained on, by class.

    Raises:
        MissingFileError: the folder has no `trained_on.json`.
        CheckpointError: the file is damaged.
    """
    found = parse_json(read_small(Path(folder) / TRAINED_ON, _LIMIT), TRAINED_ON)
    if not isinstance(found, dict) or not all(
        isinstance(said, str) and 0 < len(said) <= _LONGEST for said in found.values()
    ):
        raise CheckpointError(
            f"{TRAINED_ON} contains {shown(found)}; expected phrases of at most {_LONGEST} "
            "characters by class."
        )
    return found


def write_trained_on(folder: str | Path, phrases: Mapping[str, str]) -> None:
    """Write the file to a model's folder."""
    text = json.dumps(phrases, indent=1, ensure_ascii=False)
    (Path(folder) / TRAINED_ON).write_text(text + "\n", encoding="utf-8")
