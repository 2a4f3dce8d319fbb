"""Write the recorded site: a folder of plain files that refer to nothing outside it."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from app.catalog import Feature
from app.declared import declared
from app.engine.models import Engine
from app.faces.paper.page import style
from app.faces.recorded.drawing import SITE, Recording, home, lesson_page, lesson_place, menu, page
from app.faces.recorded.entries import Entry, all_entries, results
from app.faces.recorded.live import ICON, MANIFEST, digests, live_files
from app.faces.recorded.playing import played
from app.lessons.records import Lesson
from app.lessons.shelf import in_order
from app.lessons.whole import whole
from app.overview import FIRST, Door, doors
from app.settings import ASSETS, LIVE
from app.words.html import Html, document, plain
from bert_core.errors import ConfigError

_README = """---
title: {site}, recorded
emoji: 🔎
colorFrom: blue
colorTo: yellow
sdk: static
app_file: index.html
pinned: false
short_description: What a BERT model does, example by example, without a server
---

# {site}, recorded

{number} examples of {pages} pages with the answers of {model} (weights {fingerprint}), as plain
files: open `index.html`, or put the folder on any web server. There is nothing to install, and
nothing is sent. `python -m app record OUT` wrote it; `sdk: static` above makes it a Hugging Face
Space.

Recorded on {date}.
"""


def record(
    engine: Engine,
    target: Path,
    date: str,
    say: Callable[[str], None],
    *,
    live: bool = False,
) -> int:
    """Write the folder and return its size in bytes.

    The same model gives the same bytes, except the line with the date.

    Args:
        engine: the model that answers.
        target: a folder that is empty or does not exist.
        date: of the recording, as 2026-11-22.
        say: prints how far it is, in one line for each page.
        live: whether the pages answer in the browser, too.

    Raises:
        ConfigError: the folder contains something or cannot be written, or the model is not one
            that can be live.
    """
    try:
        if target.exists() and any(target.iterdir()):
            raise ConfigError(f"{target} contains files; expected an empty folder or a new one.")
        files = dict(live_files(engine)) if live else {}
        return _write(engine, target, date, say, files)
    except OSError as error:
        raise ConfigError(
            f"{target} cannot be written: {error.strerror}. Choose another."
        ) from None


def _write(
    engine: Engine, target: Path, date: str, say: Callable[[str], None], more: dict[str, bytes]
) -> int:
    opened = doors(engine, FIRST)
    lessons = tuple(each for each in in_order() if not each.own)
    model, in_lab = engine.provenance, digests(more, lab=True) if more else {}
    recording = Recording(all_entries(opened), model, date, lessons, digests(more), in_lab)
    readme = _README.format(
        site=SITE, number=len(recording.entries), pages=len(recording.pages), date=date,
        model=plain(model.name), fingerprint=model.fingerprint,
    )  # fmt: skip
    files = {"README.md": readme.encode()} | more
    files["index.html"] = home_page(recording, opened)
    for rows in recording.pages.values():
        for entry in rows:
            files[f"{entry.place}.html"] = example_page(engine, recording, entry)
        say(f"{rows[0].feature.title}: {len(rows)}")
    for lesson in lessons:
        files[f"{lesson_place(lesson)}.html"] = lesson_file(engine, recording, lesson)
    say(f"Lessons: {len(lessons)}")
    for name, content in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return sum(map(len, files.values()))


def home_page(recording: Recording, opened: Sequence[Door]) -> bytes:
    """Return the file of the home page."""
    return _file(recording, "", ("home",), home(recording, opened), root="")


def example_page(engine: Engine, recording: Recording, entry: Entry) -> bytes:
    """Return the file of an example."""
    row = entry.feature
    title = f"{entry.example.label} · {row.title} · "
    return _file(recording, title, (row.slug,), page(recording, entry, results(engine, entry)), row)


def lesson_file(engine: Engine, recording: Recording, lesson: Lesson) -> bytes:
    """Return the file of a lesson, which is played where the site is live."""
    slugs = {declared(step.page).feature.folder for step in lesson.steps}
    parts = whole(engine, lesson, played if recording.live else None)
    return _file(recording, f"{lesson.title} · ", slugs, lesson_page(recording, lesson, parts))


def _file(
    recording: Recording, title: str, slugs: Iterable[str], body: Html,
    here: Feature | None = None, *, root: str = "../",
) -> bytes:  # fmt: skip
    live = bool(recording.live)
    return document(
        f"{title}{SITE}, recorded",
        _style(*slugs, live=live and here is not None),
        body,
        header=menu(recording, root, here),
        script=_script(live),
        manifest=f"{root}{MANIFEST}" if live else "",
        icon=ICON.read_bytes(),
    )


def _style(*slugs: str, live: bool = False) -> str:
    sheets = [ASSETS / "recorded" / "recorded.css", *[LIVE / "lab.css"] * ("lab" in slugs)]
    own = style(*slugs) + "".join(each.read_text(encoding="utf-8") for each in sheets)
    if not live or "xray" not in slugs:
        return own
    board = (ASSETS / "components" / "xray.css").read_text(encoding="utf-8")
    return f"{own}.bx-live-switches {{\n{board.replace(':host', '&')}}}"


def _script(live: bool) -> str:
    scripts = [ASSETS / "components" / "bridge.js", ASSETS / "recorded" / "recorded.js"]
    scripts += [ASSETS / "recorded" / "live.js"] * live
    return "\n".join(each.read_text(encoding="utf-8") for each in scripts)
