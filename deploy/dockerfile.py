"""Read the few instructions of the Dockerfile that a check without a container engine follows."""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Recipe:
    """What the Dockerfile does after copying files.

    Attributes:
        folder: where the files of the site are.
        commands: the commands that are run while it is built, word by word.
        environment: the variables of the running container.
        health: the command of the health check.
        start: the command that starts the server.
    """

    folder: str
    commands: tuple[tuple[str, ...], ...]
    environment: dict[str, str]
    health: tuple[str, ...]
    start: tuple[str, ...]

    @property
    def installs(self) -> tuple[tuple[str, ...], ...]:
        """Those of the commands that install packages."""
        return tuple(each for each in self.commands if each[:3] == ("python", "-m", "pip"))


def read_dockerfile(path: Path) -> Recipe:
    """Read a Dockerfile.

    Raises:
        KeyError: it has no CMD or no HEALTHCHECK.
    """
    text = re.sub(r"^\s*#.*\n", "", path.read_text(encoding="utf-8"), flags=re.M)
    lines = re.sub(r"\\\n", " ", text).splitlines()
    instructions = [line.strip().partition(" ")[::2] for line in lines if line.strip()]
    commands = [
        tuple(shlex.split(command))
        for name, rest in instructions
        if name == "RUN"
        for command in rest.split("&&")
    ]
    last = dict(instructions)
    words = [word for name, rest in instructions if name == "ENV" for word in shlex.split(rest)]
    return Recipe(
        folder=last.get("WORKDIR", "/"),
        commands=tuple(commands),
        environment=dict(word.split("=", 1) for word in words),
        health=tuple(json.loads(last["HEALTHCHECK"].partition("CMD ")[2])),
        start=tuple(json.loads(last["CMD"])),
    )
