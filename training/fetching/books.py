"""Textbooks of OpenStax in CNXML: their text, and review questions with an answer key."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from bert_core.errors import CheckpointError
from training.fetching.texts import text
from training.fetching.transfer import Files
from training.sources import Piece

_LEFT_OUT = ("exercise", "problem", "solution", "figure", "table", "glossary", "metadata")
_SECTIONS = re.compile(
    r"references|further-(research|reading|study)|key-(terms|equations|concepts)|bibliograph|"
    r"suggested|review-questions|practice|section-quiz|short-answer|critical-thinking|multiple-"
)
_OTHER = re.compile("-ap-|courseware|atoms-first|macro|micro(?!bio)|template")  # other editions


def book(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make the text of a book, one document a module, and its questions, if it has any."""
    [target] = piece.files
    modules = {name.split("/")[-2]: body for name, body in files.items() if "/modules/" in name}
    order = [
        each.get("document", "")
        for name, body in sorted(files.items())
        if "/collections/" in name and not _OTHER.search(name)
        for each in tree(body).iter()
        if _tag(each) == "module"
    ]
    if not order:
        raise CheckpointError("it has no collection of modules.")
    roots = [tree(modules[name]) for name in dict.fromkeys(order) if name in modules]
    made = {target: text(list(_paragraphs(root)) for root in roots)}
    rows = [row for root in roots for row in _questions(root)]
    if rows:
        name = target.rpartition("/")[2].partition(".")[0]
        lines = (json.dumps({"source": name, "context": "", **row}) + "\n" for row in rows)
        made[f"parts/questions-{name}.jsonl"] = "".join(lines)
    return made


def tree(body: bytes) -> ElementTree.Element:
    """Parse a document that declares nothing, so that nothing in it can expand."""
    if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise CheckpointError("a document in it declares entities.")
    try:
        return ElementTree.fromstring(body)  # noqa: S314  it has no declarations
    except ElementTree.ParseError as error:
        raise CheckpointError(f"a document in it is damaged ({error}).") from None


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _paragraphs(element: ElementTree.Element) -> Iterator[str]:
    """Yield paragraphs, and list items of at least twelve words."""
    tag = _tag(element)
    kind = f"{element.get('class', '')} {element.get('type', '')}"
    if tag in _LEFT_OUT or (tag == "section" and _SECTIONS.search(kind)):
        return
    inside = any(_tag(each) in ("para", "list") for each in element.iter() if each is not element)
    if tag in ("para", "item", "quote") and not (inside and tag != "para"):
        said = _said(element)
        formula = any(_tag(each) == "math" for each in element.iter())
        if said and not formula and (tag != "item" or len(said.split()) >= 12):
            yield said
        if tag != "para":
            return
    for child in element:
        if tag != "para" or _tag(child) in ("list", "note", "quote"):
            yield from _paragraphs(child)


def _said(element: ElementTree.Element) -> str:
    """Return the words of an element, without notes, lists and media inside it."""
    parts = [element.text or ""]
    for child in element:
        if _tag(child) not in (
            "list",
            "note",
            "footnote",
            "media",
            "figure",
            "table",
            "title",
            "quote",
        ):
            parts.append(_said(child))
        parts.append(child.tail or "")
    return re.sub(r"\s+", " ", "".join(parts)).strip()


def _questions(root: ElementTree.Element) -> Iterator[dict[str, object]]:
    """Yield the exercises that have three to five choices and a letter as their solution."""
    for exercise in root.iter():
        if _tag(exercise) != "exercise":
            continue
        parts = {_tag(child): child for child in exercise}
        if not {"problem", "solution"} <= parts.keys():
            continue
        problem, key = parts["problem"], re.sub(r"\W", "", "".join(parts["solution"].itertext()))
        asked = [_said(each) for each in problem if _tag(each) == "para"]
        items = [_said(each) for each in problem.iter() if _tag(each) == "item"]
        label = "ABCDE".find(key.upper()) if len(key) == 1 else -1
        if len(asked) == 1 and 3 <= len(items) <= 5 and 0 <= label < len(items) and all(items):
            yield {"question": asked[0], "choices": items, "label": label}
