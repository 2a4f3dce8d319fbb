"""Problem sheets on the command line: list them, copy one, grade what students give.

Grading executes the file, in a process of its own with limits of time and memory. That is no
sandbox: grade only files that you would run yourself. It needs no network.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.faces.paper.arguments import Parser, refused, say

if TYPE_CHECKING:
    from app.sheets.sheets import Sheet


def main(arguments: Sequence[str]) -> int:
    """List the sheets, copy one, or grade files; return the exit status: 0, or 2 if it cannot."""
    parser = Parser(prog="python -m app sheet", description=__doc__)
    parser.add_argument("number", nargs="?", type=int, metavar="N", help="of the sheet")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="notebooks to grade")
    parser.add_argument("--copy", type=Path, metavar="FOLDER", help="write the notebook there")
    parser.add_argument("--solutions", action="store_true", help="with --copy: with the answers")
    given = parser.parse_args(arguments)
    if given.number is None and (given.copy or given.solutions):
        parser.error("--copy needs the number of a sheet")
    from app.sheets.sheets import sheet, sheets
    from bert_core.errors import BertError, count

    try:
        if given.number is None:
            for each in sheets().values():
                say(f"{each.title} ({count(each.points, 'point')})")
            return 0
        found = sheet(given.number)
        if given.copy:
            _copy(found.solved() if given.solutions else found, given.copy)
        elif not given.files:
            say(f"{found.title}: {', '.join(each.name for each in found.blanks)}")
        for path in given.files:
            _grade(found, path)
    except BertError as error:
        return refused(error)
    except OSError as error:
        return refused(f"{given.copy} cannot be written: {error.strerror}.")
    return 0


def _copy(found: "Sheet", folder: Path) -> None:
    from bert_core.errors import count

    path = folder / f"{found.slug}.ipynb"
    folder.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:  # a student's answers are not written over
        file.write(found.notebook())
    say(f"{path}: {count(found.points, 'point')}.\nOpen it with `jupyter lab {path}` (pip install "
        "jupyterlab), or in an editor that opens notebooks.")  # fmt: skip


def _grade(found: "Sheet", path: Path) -> None:
    from app.sheets.grading import graded
    from app.sheets.sheets import read_given

    cells = read_given(path)
    sys.stderr.write(f"{path} is being executed, in a process of its own, for a minute at most.\n")
    grades = graded(found, cells)
    say(f"{path}: {sum(each.points for each in grades)} of {found.points} points")
    for each in grades:
        say(f"  {each.points} of {each.of}  {each.name}{each.says and f': {each.says}'}")
