"""The recorded site: every example is there, every link leads to a file, nothing leads outside."""

import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from app.catalog import FEATURES, Example, Feature, examples, feature
from app.declared import tabs
from app.engine.models import Engine
from app.faces.recorded import entries
from app.faces.recorded.command import main
from app.faces.recorded.entries import Entry, results
from app.faces.recorded.writing import record
from app.lessons.shelf import mostly_about, shelf
from tests.conftest import NASTY

DATE = "2026-11-22"


class Read(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.handlers: list[str] = []
        self.text = ""
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        values = {name: value or "" for name, value in attrs}
        self.handlers += [name for name in values if name.startswith("on")]
        if tag == "a":
            self.links.append(values["href"])
        elif tag != "image":  # of an SVG; its address is its pixels
            self.sources += [values[n] for n in ("href", "src", "srcset", "action") if n in values]

    def handle_data(self, data: str) -> None:
        self.text += data


def pages(folder: Path) -> dict[str, Path]:
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.html"))}


@pytest.fixture(scope="module")
def site(recorded_site: Path) -> dict[Path, Read]:
    """Every page of the recorded site, read once."""
    return {path: Read(path) for path in pages(recorded_site).values()}


def shorten(monkeypatch: pytest.MonkeyPatch, rows: Sequence[Feature]) -> None:
    """Let a recording have only these pages, no tabs or lessons, a home page without doors."""
    monkeypatch.setattr("app.faces.recorded.writing.in_order", list)
    monkeypatch.setattr(entries, "FEATURES", rows)
    monkeypatch.setattr(entries, "tabs", lambda _: ())
    monkeypatch.setattr("app.faces.recorded.writing.doors", lambda *_: [])


def test_every_lesson_has_a_page_with_its_answers_and_the_menu_leads_to_it(
    recorded_site: Path, site: dict[Path, Read]
) -> None:
    for each in shelf().lessons.values():
        assert f"lessons/{each.slug}.html" in site[recorded_site / "index.html"].links
        found = site[recorded_site / "lessons" / f"{each.slug}.html"]
        assert all(f"{n}. {step.heading}" in found.text for n, step in enumerate(each.steps, 1))
        assert "See it on" not in found.text


def test_a_question_mark_leads_to_the_lessons_of_its_page(recorded_site: Path) -> None:
    for row in FEATURES:
        page = next((recorded_site / row.slug).glob("1-*.html")).read_text(encoding="utf-8")
        wanted = [f"../lessons/{each.slug}.html" for each in mostly_about(row.slug)]
        for mark in page.split('class="bx-hint"')[1:]:
            assert (
                re.findall(r'href="(.*?/lessons/.*?)"', mark.partition("</details>")[0]) == wanted
            )
        assert "bx-hint-end" not in page


def test_every_example_of_every_page_has_a_file(recorded_site: Path) -> None:
    found = list(pages(recorded_site))
    for row in FEATURES:
        own = [name for name in found if name.startswith(f"{row.slug}/")]
        listed = (len(examples(row.slug)) or 1) + len(tabs(row.slug))
        assert len(own) in {listed, listed + 1}  # the home page's text is one more
    assert "index.html" in found
    assert sorted(p.name for p in recorded_site.iterdir() if p.is_file()) == [
        "README.md",
        "index.html",
    ]


def test_a_page_says_what_was_recorded_asks_for_nothing_and_leads_to_files_alone(
    recorded_site: Path, site: dict[Path, Read], tiny_engine: Engine
) -> None:
    model, reached = tiny_engine.provenance, set()
    places = {path: path.read_text(encoding="utf-8") for path in site}
    for path, seen in site.items():
        assert len(seen.links) > len(FEATURES)
        for link in seen.links:
            file, _, place = link.partition("#")
            to = (path.parent / file).resolve()
            assert to.is_relative_to(recorded_site) and to.is_file(), link
            assert f'id="{place}"' in f'{places[to]}id=""', link
            reached.add(to)
        (icon,) = seen.sources  # without one, browsers ask the host for it
        assert icon.startswith("data:image/svg+xml;base64,") and seen.handlers == []
        assert seen.tags.count("script") == seen.tags.count("style") == 1
        assert "default-src 'none'" in places[path] and "url(" not in places[path]
        assert re.search(r"script-src 'sha256-[\w+/]+='", places[path])
        for words in ("Recorded. Stored answers of", model.name, model.fingerprint, DATE,
                      "python -m app record OUT"):  # fmt: skip
            assert words in seen.text
    assert reached == set(site)


def test_the_next_links_lead_through_all_pages_in_the_order_of_the_menu(
    recorded_site: Path,
) -> None:
    at, seen = recorded_site / "tokenizer" / "1-everyday-words.html", []
    while at not in seen:
        seen.append(at)
        step = re.search(r'<a href="([^"]*)" rel="next">', at.read_text(encoding="utf-8"))
        at = (at.parent / step[1]).resolve() if step else at
    others = [name for name in pages(recorded_site) if not name.startswith("lessons/")]
    assert len(seen) == len(others) - 1  # all but the home page
    assert list(dict.fromkeys(p.parent.name for p in seen)) == [row.slug for row in FEATURES]


def test_boxes_hold_the_texts_and_cannot_be_edited(recorded_site: Path) -> None:
    text = (recorded_site / "qa" / "1-a-short-story.html").read_text(encoding="utf-8")
    boxes = re.findall(r"<textarea ([^>]*)>\n([^<]*)</textarea>", text)
    assert [box for _, box in boxes] == [
        str(examples("qa")[0].values[key]) for key in ("text", "question")
    ]
    assert all('readonly=""' in attributes for attributes, _ in boxes)


def test_a_question_box_with_several_lines_is_answered_line_by_line(tiny_engine: Engine) -> None:
    given = {"text": "The cat sat on the mat.", "question": "cat?\n\ndog?\nmat?\n"}
    drawn = results(tiny_engine, Entry(feature("qa"), 1, Example("x", "", given)))
    asked = re.findall(r"<strong>Question: </strong>([^<]*)<", "".join(map(str, drawn)))
    assert asked == ["cat?", "dog?", "mat?"]


def test_two_recordings_differ_in_the_line_with_the_date_alone(
    tiny_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten(monkeypatch, FEATURES[:2])
    later = "2031-01-01"
    size, _ = [record(tiny_engine, tmp_path / day, day, lambda _: None) for day in (DATE, later)]
    files = [path for path in (tmp_path / DATE).rglob("*") if path.is_file()]
    assert size == sum(path.stat().st_size for path in files)
    for path in files:
        before = path.read_text(encoding="utf-8")
        after = (tmp_path / later / path.relative_to(tmp_path / DATE)).read_text(encoding="utf-8")
        assert before.count(DATE) == 1 and before.replace(DATE, later) == after


def test_hostile_examples_stay_text(
    tiny_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [Example(bad, bad, {"text": bad, "text_pair": bad, "cased": True})
            for bad in NASTY.values()]  # fmt: skip
    shorten(monkeypatch, (feature("tokenizer"), feature("next_sentence")))
    monkeypatch.setattr(entries, "examples", lambda _: rows)
    record(tiny_engine, tmp_path, DATE, lambda _: None)
    found = pages(tmp_path)
    assert len(found) == 1 + 2 * len(rows)
    for name, path in found.items():
        assert re.fullmatch(r"[a-z0-9_/.-]+", name)
        seen = Read(path)
        assert seen.tags.count("script") == 1
        assert "img" not in seen.tags
        assert len(seen.sources) == 1 and seen.handlers == []
        assert "\x00" not in seen.text and "\u202e" not in seen.text


def test_a_name_with_markup_cannot_leave_its_place(
    tiny_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = replace(tiny_engine.provenance, name="<img src=x>[a](b)", licence="<b>")
    monkeypatch.setattr(tiny_engine, "provenance", named)
    shorten(monkeypatch, FEATURES[:1])
    record(tiny_engine, tmp_path, DATE, lambda _: None)
    assert all("img" not in Read(path).tags for path in pages(tmp_path).values())
    assert "<img" not in (tmp_path / "README.md").read_text(encoding="utf-8").replace("\\<", "")


def test_what_keeps_a_model_from_answering_is_said_instead(
    untrained_folder: Path, tiny_engine: Engine
) -> None:
    long = Example("x", "", {"text": "[MASK] a " * 6000})
    headless = Engine(str(untrained_folder))
    for engine, example in ((headless, examples("fill_mask")[0]), (tiny_engine, long)):
        (drawn,) = results(engine, Entry(feature("fill_mask"), 1, example))
        assert "bx-caution" in drawn.markup


def test_the_readme_makes_the_folder_a_static_space(recorded_site: Path) -> None:
    _, front, text = (recorded_site / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    rows = dict(line.split(": ", 1) for line in front.strip().splitlines())
    assert rows["sdk"] == "static"
    assert (recorded_site / rows["app_file"]).is_file()
    assert len(rows["short_description"]) <= 60
    assert f"Recorded on {DATE}." in text


@pytest.mark.usefixtures("tiny_model")
def test_the_command_says_what_it_wrote_and_refuses_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten(monkeypatch, FEATURES[:1])
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    out = tmp_path / "out"
    assert main([str(out)]) == 0
    assert f"{out / 'index.html'}: " in capsys.readouterr().out
    assert "Recorded on 1970-01-01." in (out / "index.html").read_text(encoding="utf-8")
    assert main([str(out)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main([str(tmp_path / "two"), "--model", "no such model"]) == 2
    (tmp_path / "file").touch()
    capsys.readouterr()
    assert main([str(tmp_path / "file")]) == 2
    assert "cannot be written: Not a directory" in capsys.readouterr().err
