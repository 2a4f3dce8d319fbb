"""What a teacher should know of a lesson: a file of the same name in the folder `teacher`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from app.lessons.reading import read_file, record
from app.lessons.records import Lesson, OfFile, Texts
from app.lessons.shelf import FOLDER
from app.settings import settings


@dataclass(frozen=True, slots=True)
class Notes(OfFile):
    """What a lesson does not say to its visitors."""

    minutes: Annotated[int, "how long it takes with a class that talks about it"]
    before: Annotated[Texts, "what students believe before it"]
    run: Annotated[Texts, "how to run it with a class"]
    offline: Annotated[str, "how to run it without a network"]
    wrong: Annotated[Texts, "what may go wrong"] = ()


def notes_of(found: Lesson) -> Notes | None:
    """Return a teacher's notes on a lesson; None if there are none.

    Raises:
        InputError: something is wrong with the file.
    """
    folder = Path(settings().lessons).expanduser() if found.own else FOLDER
    path = folder / "teacher" / f"{found.slug}.toml"
    if not path.is_file():
        return None
    return record(Notes, read_file(path), path.name)
