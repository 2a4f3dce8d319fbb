"""What a browser draws of an example is what Python draws, node by node."""

import base64
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from PIL import Image

from app.catalog import examples, feature
from app.declared import declared
from app.engine.models import Engine
from app.faces.paper.answers import ask
from app.features.attention.result_views import head_view, strongest_links
from app.features.attention.view_lines import lines_picture
from app.features.ner.task import ner
from app.features.ner.view_text import running_text, score
from app.overview import DOORS, FIRST, doors, draw, unread_of
from app.words.html import join
from tests.drawings import elements
from tests.live.conftest import Node
from tests.live.test_answers import as_given

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_TASKS = ("fill_mask", "next_sentence", "classification", "multiple_choice", "attention")
_ODD_CHOICES = (
    *("\U0001f600" * 60, "漢字" * 50, "a " + "x" * 120, "y" * 200),
    *("The state-of-the-art, well-known—or not—" * 4, "word--" * 40),
)  # of which a picture shows two lines
_HOME = (
    *(
        FIRST,
        "Rain.",
        "12 34",
        "<b>We met Angela Merkel</b> in Zürich ___ 5 p.m. Nobody knew Dr. Who.",
    ),
    *("This is a long text about Paris and nothing else at all, " * 14, "你好 世界 Привет"),
)
_SHADE = 3  # of 255; one step of the scale
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_IMAGE = re.compile(r"data:image/png;base64,([\w+/=]+)")


class _Reader(HTMLParser):
    """Lists the parts of markup: elements with their attributes, and texts."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.append(("open", f"{tag} {sorted(attrs)}"))

    def handle_endtag(self, tag: str) -> None:
        self.parts.append(("close", tag))

    def handle_data(self, data: str) -> None:
        kind, text = self.parts[-1] if self.parts else ("", "")
        if kind == "text":
            self.parts[-1] = (kind, text + data)
        else:
            self.parts.append(("text", data))


def _listed(node: Any, reader: _Reader) -> None:
    if isinstance(node, str):
        reader.handle_data(node)
        return
    attributes = [(key.lower(), str(value)) for key, value in node["attributes"].items()
                  if value is not None]  # fmt: skip
    reader.handle_starttag(node["name"], [*attributes])
    for child in node["children"]:
        _listed(child, reader)
    reader.handle_endtag(node["name"])


def _same(found: str, wanted: str) -> bool:
    """Compare texts; their numbers may differ by a rounding."""
    if found == wanted:
        return True
    images = [_IMAGE.findall(each) for each in (found, wanted)]
    if not all(_alike(*pair) for pair in zip(*images, strict=True)):
        return False
    found, wanted = (_IMAGE.sub("", each) for each in (found, wanted))
    colours = [_COLOUR.findall(each) for each in (found, wanted)]
    if not all(_near_colour(*pair) for pair in zip(*colours, strict=True)):
        return False
    found, wanted = (_COLOUR.sub("", each) for each in (found, wanted))
    if _NUMBER.sub("#", found) != _NUMBER.sub("#", wanted):
        return False
    pairs = zip(_NUMBER.findall(found), _NUMBER.findall(wanted), strict=True)
    return all(_near(*pair) for pair in pairs)


def _alike(one: str, other: str) -> bool:
    """Compare the pixels of two pictures; a shade may differ by a rounding."""
    found, wanted = (
        np.asarray(Image.open(io.BytesIO(base64.b64decode(each))).convert("RGB"), dtype=int)
        for each in (one, other)
    )
    return found.shape == wanted.shape and int(abs(found - wanted).max()) <= _SHADE


def _near_colour(one: str, other: str) -> bool:
    pairs = zip(bytes.fromhex(one[1:]), bytes.fromhex(other[1:]), strict=True)
    return all(abs(a - b) <= _SHADE for a, b in pairs)


def _near(one: str, other: str) -> bool:
    digits = len(other.partition(".")[2].partition("e")[0])
    step = 1.01 * 10.0**-digits if digits and "e" not in other else 0
    return abs(float(one) - float(other)) <= max(step, 2e-4 * abs(float(other)), 1e-7)


def _wanted(task: str, given: dict[str, Any]) -> _Reader:
    answer = ask(task, **given)
    screen = replace(answer.declared.screen(answer.result), tabs={})
    if task == "attention":  # the page with a server draws them in the place of the heat map
        result = answer.result
        links = strongest_links(result, head_view(result, result.shown))
        lines = lines_picture(result, links)
        screen = replace(screen, parts=(*screen.parts, lines))
    reader = _Reader()
    reader.feed(str(join(*screen.report().drawn())))
    return reader


def _examples(task: str) -> Iterator[dict[str, Any]]:
    found = declared(task)
    for example in examples(task):
        yield as_given(found, example.values)
    if task == "multiple_choice":
        yield {"context": "What is it?", "choices": [*_ODD_CHOICES]}


@pytest.mark.parametrize("task", _TASKS)
def test_main_parts_are_drawn_as_python_draws_them(node: Node, bundled: Engine, task: str) -> None:
    rows = list(_examples(task))
    assert rows
    for given, nodes in zip(rows, node("draw", rows=[(task, each) for each in rows]), strict=True):
        found, wanted = _Reader(), _wanted(task, given).parts
        for each in nodes:
            _listed(each, found)
        for one, other in zip(found.parts, wanted, strict=False):
            assert one[0] == other[0], (given, one, other)
            assert _same(one[1], other[1]), (given, one, other)
        assert len(found.parts) == len(wanted)


def test_doors_of_the_home_page_are_drawn_as_python_draws_them(node: Node, bundled: Engine) -> None:
    question = "Who lived in London?"
    for text in _HOME:
        wanted = doors(bundled, text, question)
        titles = [(slug, feature(slug).title, f"{slug}.html") for slug in DOORS]
        *unread, found = node("doors", text=text, question=question, doors=titles)
        for card, door in zip(found["children"], wanted, strict=True):
            taken = json.loads(card["children"][0]["children"][0]["attributes"].pop("data-carry"))
            assert (taken["texts"], taken["whole"]) == (door.texts, text)
        ours, python = _Reader(), _Reader()
        _listed(found, ours)
        python.feed(str(draw(wanted, [f"{door.slug}.html" for door in wanted])))
        for one, other in zip(ours.parts, python.parts, strict=True):
            assert one[0] == other[0] and _same(one[1], other[1]), (text, one, other)
        assert bool(unread) is bool(str(unread_of(bundled, text)))


def test_marks_of_names_are_those_of_python(node: Node, bundled: Engine) -> None:
    rows = [("ner", each) for each in _examples("ner")]
    for (_, given), nodes in zip(rows, node("draw", rows=rows), strict=True):
        result = ner(bundled, **given)
        [text] = [each for each in nodes if each["attributes"].get("dir") == "auto"]
        marks = [each for each in text["children"] if not isinstance(each, str)]
        wanted = elements(running_text(result), "mark")
        for mark, other in zip(marks, wanted, strict=True):
            for name in ("class", "style", "title"):
                assert _same(mark["attributes"][name], other.attributes[name])
        names = elements(running_text(result), "small")
        for mark, other in zip(marks, names, strict=True):
            assert _same(mark["children"][-1]["children"][0], other.text)
    values = [
        1.0,
        0.9999,
        0.996,
        0.994,
        0.5,
        0.004,
        0.0001,
    ]  # the calibrated model is never so sure
    assert node("scores", values=values) == [score(each) for each in values]


@pytest.mark.parametrize("task", ["qa", "ner", "tokenizer", "xray"])
def test_headlines_are_those_of_python(node: Node, bundled: Engine, task: str) -> None:
    rows = list(_examples(task))
    assert rows
    for given, nodes in zip(rows, node("draw", rows=[(task, each) for each in rows]), strict=True):
        [said] = [
            "".join(each["children"])
            for each in nodes
            if each["attributes"].get("class") == "bx-headline"
        ]
        headline = ask(task, **given).report.headline.replace(" %", "\u00a0%")
        assert _same(said, headline), given
        assert "NaN" not in str(nodes)
