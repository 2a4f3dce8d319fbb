"""Which weights every derived file was computed from: the table `tools/derived.toml`.

A file is derived if it is computed from the weights of the bundled model. `python -m tools.derive`
writes such files, and their rows of the table; a test compares both with the weights.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from app.settings import BUNDLED_MODEL, ROOT
from bert_core.bundled import bundled_folder

TABLE = ROOT / "tools" / "derived.toml"
_HEAD = """# Every file that is computed from the weights of the bundled model: the step of
# `python -m tools.derive` that writes it, the weights it was computed from (their fingerprint, as
# on the page "Model card"), and its own SHA-256. Written by that command.

"""


@dataclass(frozen=True, slots=True)
class Derived:
    """One row of the table.

    Attributes:
        step: the step that writes the file.
        weights: fingerprint of the weights it was computed from.
        sha256: of the file.
    """

    step: str
    weights: str
    sha256: str


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
    """Record that the files of a step are now those of the bundled weights.

    Args:
        step: its name.
        files: from the root of the repository.
        path: of the table.
        root: of the repository.
        others_stay: whether the rows of the step's other files stay as they are.
    """
    weights = weights_here()
    rows = read_table(path).items()
    table = {name: row for name, row in rows if others_stay or row.step != step}
    for name in files:
        table[name] = Derived(step, weights, _digest(root / name))
    path.write_text(_HEAD + "".join(map(_line, sorted(table.items()))), encoding="utf-8")


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
    for name, step in sorted(expected.items()):
        again = f"Run `python -m tools.derive {step}`."
        row = table.get(name)
        if row is None:
            found.append(f"{name} is derived from the weights, but not in the table. {again}")
        elif row.weights != weights:
            found.append(
                f"{name} was computed from other weights ({row.weights}) than the bundled ones "
                f"({weights}). {again}"
            )
        elif row.sha256 != _digest(root / name):
            found.append(f"{name} was changed after it had been computed. {again}")
    gone = sorted(set(table) - set(expected))
    return found + [
        f"{name} is in the table, but no longer there. Run `python -m tools.derive "
        f"{table[name].step}`."
        for name in gone
    ]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _line(row: tuple[str, Derived]) -> str:
    cells = ", ".join(f"{key} = {json.dumps(value)}" for key, value in asdict(row[1]).items())
    return f"{json.dumps(row[0])} = {{ {cells} }}\n"
