"""What a model's heads were trained on: reading and writing `trained_on.json` in its folder.

The file maps names of model classes to phrases that follow "Trained on"; that of `BertModel` is
about the encoder and says what it began as. Pages repeat the phrases beside the answers.
"""

from collections.abc import Mapping
from pathlib import Path

from bert_core.bundled.records import as_json, read_json, write_json
from bert_core.errors import CheckpointError
from bert_core.small_files import shown

TRAINED_ON = "trained_on.json"
_LONGEST = 400  # characters of a phrase


def read_trained_on(folder: str | Path) -> dict[str, str]:
    """Read what the heads of the model in a folder were trained on, by class.

    Raises:
        MissingFileError: the folder has no `trained_on.json`.
        CheckpointError: the file is damaged.
    """
    phrases = read_json(folder, TRAINED_ON)
    if not isinstance(phrases, dict) or not all(
        isinstance(phrase, str) and 0 < len(phrase) <= _LONGEST for phrase in phrases.values()
    ):
        raise CheckpointError(
            f"{TRAINED_ON} contains {shown(phrases)}; expected short phrases by class."
        )
    return phrases


def write_trained_on(folder: str | Path, phrases: Mapping[str, str]) -> None:
    """Write the file to a model's folder."""
    write_json(folder, TRAINED_ON, as_json(phrases))
