"""Which weights every derived file was computed from: the table `tools/derived.toml`.

`python -m tools.derive` writes such files and their rows; a test compares both with the weights.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from app.settings import BUNDLED_MODEL, ROOT
from bert_core.bundled import bundled_folder

TABLE = ROOT / "tools" / "derived.toml"
_HEAD = """# Every file that is computed from the weights of the bundled model: the step of
# `python -m tools.derive` that writes it, the weights it was computed from (their fingerprint, as
# on the page "Model card"), and its own SHA-256. Written by that command.

"""


@dataclass(frozen=True, slots=True)
class Derived:
    """One row of the table."""

    step: Annotated[str, "the step that writes the file"]
    weights: Annotated[str, "fingerprint of the weights it was computed from"]
    sha256: Annotated[str, "of the file"]


def weights_here() -> str:
    """Return the fingerprint of the bundled weights."""
    from app.engine.models.papers import fingerprint  # imports PyTorch

    return fingerprint(bundled_folder(BUNDLED_MODEL))


def read_table(path: Path = TABLE) -> dict[str, Derived]:
    """Read the table: file, from the root of the repository -> its row."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: Derived(**row) for name, row in rows.items()}


def stamp(
    step: str,
    files: Iterable[str],
    path: Path = TABLE,
    root: Path = ROOT,
    *,
    others_stay: bool = False,
) -> None:
    """Record that files of a step are those of the bundled weights, and forget its others."""
    weights = weights_here()
    rows = read_table(path).items()
    table = {name: row for name, row in rows if others_stay or row.step != step}
    table |= {name: Derived(step, weights, _digest(root / name)) for name in files}
    lines = (
        f"{json.dumps(name)} = {{ "
        f"{', '.join(f'{key} = {json.dumps(value)}' for key, value in asdict(row).items())} }}\n"
        for name, row in sorted(table.items())
    )
    path.write_text(_HEAD + "".join(lines), encoding="utf-8")


def stale(
    weights: str, table: Mapping[str, Derived], expected: Mapping[str, str], root: Path = ROOT
) -> list[str]:
    """Say of every file that does not belong to the weights what is wrong, and what to do.

    Args:
        weights: fingerprint of the bundled weights.
        table: what is recorded.
        expected: file -> step, of every derived file that there is.
        root: of the repository.
    """
    found = []
    for name in sorted({*expected, *table}):
        row, step = table.get(name), expected.get(name)
        if step is None:
            wrong = "is in the table, but no longer there"
        elif row is None:
            wrong = "is derived from the weights, but not in the table"
        elif row.weights != weights:
            wrong = (
                f"was computed from other weights ({row.weights}) than the bundled ones ({weights})"
            )
        elif row.sha256 != _digest(root / name):
            wrong = "was changed after it had been computed"
        else:
            continue
        found.append(f"{name} {wrong}. Run `python -m tools.derive {step or table[name].step}`.")
    return found


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
