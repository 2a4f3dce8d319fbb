"""What a teacher should know of a lesson: a file of the same name in the folder `teacher`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from app.lessons.reading import read_file
from app.lessons.records import Lesson
from app.lessons.shelf import FOLDER
from app.settings import settings


@dataclass(frozen=True, slots=True)
class Notes:
    """What a lesson does not say to its visitors."""

    minutes: Annotated[int, "how long it takes with a class that talks about it"]
    before: Annotated[tuple[str, ...], "what students believe before it"]
    run: Annotated[tuple[str, ...], "how to run it with a class"]
    offline: Annotated[str, "how to run it without a network"]
    wrong: Annotated[tuple[str, ...], "what may go wrong"] = ()


def notes_of(found: Lesson) -> Notes | None:
    """Return a teacher's notes on a lesson; None if there are none.

    Raises:
        InputError: something is wrong with the file.
    """
    folder = Path(settings().lessons).expanduser() if found.own else FOLDER
    path = folder / "teacher" / f"{found.slug}.toml"
    if not path.is_file():
        return None
    return read_file(path).record(Notes)
