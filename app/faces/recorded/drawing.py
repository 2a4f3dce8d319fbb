"""One page of the recorded site."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Annotated

from app.catalog import GROUPS, Feature, feature
from app.declared.live import lab_described
from app.engine.models import Provenance
from app.faces.paper.page import signature
from app.faces.recorded.entries import Entry
from app.faces.recorded.live import LIVE_TASKS, WEIGHS, is_live, live_values, trains
from app.lessons.records import Lesson
from app.lessons.shelf import mostly_about
from app.lessons.view import lesson_links
from app.overview import DOORS, FIRST, Door, draw
from app.words.blocks import HINT_END, beware, heading, line, note
from app.words.format import count
from app.words.html import Html, filled, join, tag, visible
from app.words.notes import example_note

SITE = "BERT Explorer"
COMMAND = "python -m app record OUT"
_LEAD = "Recorded results of every example."
_BEWARE = "Attention is not an explanation, and a confident answer may be wrong."
_TABS = "Notes may mention parts of a page that only the live site has."
_INVITATION = (
    f"the model ({WEIGHS}) is loaded into this browser and stays there; your text never leaves it. "
    "Until then, the answer below is a recorded one."
)
_PLAYING = (
    f"Then the model answers here: it ({WEIGHS}) is loaded into this browser once and stays there. "
    "Your text never leaves it."
)
_HOME = (
    f"it is computed in this tab, here and on {len(LIVE_TASKS)} pages. The model ({WEIGHS}) is "
    "loaded into this browser once and stays there; your text never leaves it. Until then, the "
    "answers below are recorded ones."
)
_LESSON = "lessons/{}"  # a file, from the root of the folder, without an extension
_COLUMN = 44  # letters in a line of a text box
_LINES = 14  # of a text box


@dataclass(frozen=True)
class Recording:
    """Everything that is recorded, and with what."""

    entries: Annotated[tuple[Entry, ...], "in the order of the menu"]
    model: Annotated[Provenance, "the model that answered"]
    date: Annotated[str, "of the recording, as 2026-11-22"]
    lessons: Annotated[tuple[Lesson, ...], "in the order of their paths"] = ()
    live: Annotated[
        Mapping[str, str],
        "the digests of the files with which pages answer in the browser; empty if they do not",
    ] = field(default_factory=dict)
    lab: Annotated[
        Mapping[str, str], "the digests of those with which runs of the lab are trained there"
    ] = field(default_factory=dict)

    @cached_property
    def pages(self) -> dict[str, tuple[Entry, ...]]:
        """The entries of each page by its slug, in the order of the menu."""
        groups = groupby(self.entries, key=lambda each: each.feature.slug)
        return {slug: tuple(each) for slug, each in groups}


def menu(recording: Recording, root: str, here: Feature | None) -> Html:
    """Draw what is above every page: the name of the site, and the pages by group.

    `root` is the way to the root of the folder, "" or "../".
    """
    groups = []
    if recording.lessons:
        groups.append(tag("li", tag("a", "Lessons", href=f"{root}index.html#lessons")))
    for group in GROUPS:
        firsts = [first for first, *_ in recording.pages.values() if first.feature.group == group]
        pages = (
            _item(each.feature.title, f"{root}{each.place}.html", here=each.feature == here)
            for each in firsts
        )
        groups.append(tag("li", tag("span", group, class_="bx-group"), tag("ul", *pages)))
    home = tag("a", SITE, href=f"{root}index.html", class_="bx-site")
    return tag("header", home, tag("nav", tag("ul", *groups), aria_label="Pages"))


def _item(title: str, address: str, *, here: bool) -> Html:
    current = "page" if here else None
    return tag("li", tag("a", visible(title), href=address, aria_current=current))


def _live(recording: Recording, entry: Entry) -> Html:
    slug, given = entry.task.feature.slug, live_values(entry)
    if trains(entry) and recording.live:
        described = json.dumps(lab_described(given, recording.lab), ensure_ascii=False)
        files = json.dumps(recording.lab)
        return tag("div", class_="bx-live", data_live=slug, data_lab=described, data_files=files)
    says = tag("strong", "Type your own: "), _INVITATION
    gaps = "" if entry.feature.gaps else None
    values = json.dumps(given, ensure_ascii=False)
    return _line(recording, slug, says, data_given=values, data_gaps=gaps)


def _line(
    recording: Recording, slug: str, says: Sequence[Html | str] = (), **data: str | None
) -> Html:
    """Draw the line above a page that answers, or say that nothing is computed.

    `assets/recorded/live.js` adds the button to the line.
    """
    if not recording.live:
        return note(*_nothing(recording.model))
    return tag(
        "div", tag("p", *says or _nothing(recording.model)), class_="bx-note bx-live",
        data_live=slug, data_weighs=WEIGHS, data_files=json.dumps(recording.live), **data,
    )  # fmt: skip


def _nothing(model: Provenance) -> tuple[Html, str]:
    says = f"Stored answers of {visible(model.name)}; nothing is computed here."
    return tag("strong", "Recorded. "), says


def page(recording: Recording, entry: Entry, results: Sequence[Html]) -> Html:
    """Draw an example with its results."""
    named = [each for each in mostly_about(entry.feature.slug) if each in recording.lessons]
    lessons = lesson_links(named, f"../{_LESSON}.html")
    shown = (filled(each, HINT_END, lessons) for each in results)
    answer = tag("section", *shown, class_="bx-result", aria_label="Answer")
    return join(
        tag("div", heading(entry.feature.title, entry.feature.see), data_place=entry.place),
        _live(recording, entry) if is_live(entry) else note(*_nothing(recording.model)),
        tag("div", _given(entry), answer, _list(recording, entry), class_="bx-recorded"),
        _way(recording, entry),
        foot(recording, entry.feature.beware),
    )


def lesson_place(lesson: Lesson) -> str:
    """Return the file of a lesson, from the root of the folder, without an extension."""
    return _LESSON.format(lesson.slug)


def lesson_page(recording: Recording, lesson: Lesson, parts: Sequence[Html]) -> Html:
    """Draw a lesson with everything revealed."""
    return join(
        tag("div", heading(lesson.title, lesson.goal), data_place=lesson_place(lesson)),
        _line(recording, "lesson", data_says=_PLAYING),  # which `live/lesson.js` says instead
        tag("section", *parts, class_="bx-result bx-lesson-whole", aria_label="Lesson"),
        foot(recording, _BEWARE),
    )


def home(recording: Recording, doors: Sequence[Door]) -> Html:
    """Draw the home page: six small results, all lessons, and all examples."""
    last = {each.feature.slug: f"{each.place}.html" for each in recording.entries}
    links = [last[door.slug] for door in doors]
    named = [(slug, feature(slug).title, last[slug]) for slug in DOORS if slug in last]
    says = tag("strong", "Type your own text: "), _HOME
    lists = [
        tag(
            "details",
            tag("summary", tag("strong", rows[0].feature.title), f" {rows[0].feature.see} ",
                tag("span", count(len(rows), "example"), class_="bx-quiet")),
            _links(rows, "", None),
        )
        for rows in recording.pages.values()
    ]  # fmt: skip
    boxes = _box("text", "The text", FIRST)
    if recording.live:
        boxes += _box("question", "Your question about it, if you have one", "")
    return join(
        heading(SITE, _LEAD),
        _line(recording, "home", says, data_given=json.dumps({"doors": named})),
        tag("section", *boxes, class_="bx-given", aria_label="Input"),
        tag("div", tag("section", draw(doors, links), class_="bx-result", aria_label="Answer"),
            class_="bx-recorded"),
        _lessons(recording),
        tag("h2", "All examples"),
        tag("div", *lists, class_="bx-all"),
        foot(recording, _BEWARE),
    )  # fmt: skip


def _lessons(recording: Recording) -> Html:
    rows = [
        tag("li", tag("a", visible(each.title), href=f"{lesson_place(each)}.html"), " ",
            visible(each.goal))
        for each in recording.lessons
    ]  # fmt: skip
    return join(tag("h2", "Lessons", id="lessons"), tag("ol", *rows)) if rows else join()


def foot(recording: Recording, caution: str) -> Html:
    """Draw the foot of every page: the caution, and what was recorded, when and how."""
    own = "." if recording.live else f". To use your own texts, run {SITE}."
    return tag(
        "footer",
        beware(caution),
        line(visible(signature(recording.model))),
        line("Written by ", tag("code", COMMAND), own),
        join("\n", line(f"Recorded on {recording.date}."), "\n"),  # a line of its own in the file
    )


def _given(entry: Entry) -> Html:
    if not entry.feature.has_examples:
        return join()
    remark = entry.example.note
    shown = (*_boxes(entry), example_note(visible(remark)) if remark else join())
    return tag("section", *shown, class_="bx-given", aria_label="Input")


def _boxes(entry: Entry) -> list[Html]:
    """Draw what is given: texts in boxes that cannot be edited, other values in one line."""
    boxes: list[Html] = []
    others: list[str] = []
    for each in entry.task.parameters:
        value = entry.example.values.get(each.key)
        if isinstance(value, str) and value.strip():
            boxes += _box(each.name, each.field.label, value.strip("\n"), each.key)
        elif isinstance(value, bool):
            others.append(f"{each.field.label}: {'yes' if value else 'no'}")
        elif isinstance(value, int | float):
            others.append(f"{each.field.label}: {value:g}")
    return [*boxes, line(". ".join(others), ".")] if others else boxes


def _box(name: str, label: str, text: str, key: str = "") -> list[Html]:
    """Draw one text box; `key` is what it is called on all pages, where that is another name."""
    rows = sum(1 + len(each) // _COLUMN for each in text.split("\n"))
    return [
        tag("label", label, for_=f"given-{name}"),
        tag("textarea", f"\n{visible(text)}", id=f"given-{name}", rows=min(rows, _LINES),
            readonly="", dir="auto", data_key=key or name),  # browsers drop the first line break
    ]  # fmt: skip


def _list(recording: Recording, entry: Entry) -> Html:
    rows = recording.pages[entry.feature.slug]
    if len(rows) == 1:
        return join()
    links = _links(rows, "../", entry)
    return tag("nav", tag("h2", "Examples"), links, line(_TABS), aria_label="Examples")


def _links(rows: Sequence[Entry], root: str, here: Entry | None) -> Html:
    return tag(
        "ol", *(_item(e.example.label, f"{root}{e.place}.html", here=e == here) for e in rows)
    )


def _way(recording: Recording, entry: Entry) -> Html:
    at = recording.entries.index(entry)
    before, after = recording.entries[max(at - 1, 0)], recording.entries[at + 1 : at + 2]
    steps = [("← ", before, "prev")] if at else []
    steps += [("→ ", each, "next") for each in after]
    links = (
        tag("a", arrow, f"{to.feature.title}: " if to.feature != entry.feature else "",
            visible(to.example.label), href=f"../{to.place}.html", rel=rel)
        for arrow, to, rel in steps
    )  # fmt: skip
    return tag("nav", *links, class_="bx-way", aria_label="Previous and next example")
