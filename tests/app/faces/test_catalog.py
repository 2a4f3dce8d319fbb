"""No feature is missing in any interface; `test_new_feature` has one that is new."""

import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from app.declared import all_declared, declared
from app.faces import ask
from app.faces.paper.answers import Written
from app.faces.paper.json import meanings
from app.faces.terminal import main
from bert_core.errors import InputError
from tests.made_up import needed

NAMES = [each.feature.slug for each in all_declared()]
HOSTILE = "<script></p><img src=x> \x00\x1b\u202e [MASK] cat"
FITTING: dict[str, dict[str, object]] = {
    "tokenizer_compare": {"text": HOSTILE},
    "fill_mask_pair": {"text": HOSTILE, "words": "cat / <img\x1b>"},
    "next_sentence_order": {"paragraph": f"{HOSTILE}\n\n{HOSTILE}"},
    "data": {"table": json.dumps([{"text": HOSTILE, "<b>": HOSTILE}] * 2)},
    "input": {"text": HOSTILE},
    "lab_finetune": {
        "rows": "".join(f"{HOSTILE} {n}\t{n % 2} {HOSTILE[:30]}\n" for n in range(8)),
        "steps": 10,
    },
    "qa": {"passage": HOSTILE * 3, "question": "<img>\x1b?"},
    "senses": {"text": f"{HOSTILE}\n{HOSTILE}", "word": "cat"},
    "xray": {"text": HOSTILE, "off": HOSTILE},
    "xray_patching": {"text": HOSTILE, "against": HOSTILE.replace("cat", "dog")},
    "why": {"text": HOSTILE, "text_pair": HOSTILE},
}
"""Hostile texts in the form that these tasks read."""

PIXELS = "data:image/png;base64,"


def arguments(slug: str) -> list[str]:
    """Return a command line with all values that a task needs."""
    given = needed(declared(slug))
    values = (given[each.name] for each in declared(slug).typed)
    lists = ([value] if isinstance(value, str) else value for value in values)
    more = ["--steps", "10"] if slug == "lab_finetune" else []  # each is a second
    return [slug, *(text for texts in lists for text in texts), *more]


class Elements(HTMLParser):
    """Collects the elements of a page."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("slug", NAMES)
def test_a_feature_has_every_face(
    slug: str,
    tiny_model: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    short = {"steps": 10} if slug == "lab_finetune" else {}
    answer = ask(slug, **needed(declared(slug)), **short)
    assert main([*arguments(slug), "--json"]) == 0
    monkeypatch.setattr("app.faces.paper.answers.ask", lambda *_, **__: answer)  # not computed anew
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(json.dumps(answer.json(), allow_nan=False))
    assert printed.keys() == {*meanings(type(answer.result)), "provenance"}
    assert main(arguments(slug)) == 0
    text = capsys.readouterr().out
    assert text == answer.text() and answer.report.headline.split()[0] in text
    file = tmp_path / "page.html"
    assert main([*arguments(slug), "--html", str(file)]) == 0
    assert file.read_bytes() == answer.html()
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"{file}: {file.stat().st_size:,} bytes written.\n")
    assert answer._repr_html_().startswith("<iframe ")
    for said in (text, answer.html().decode()):
        assert tiny_model.name in said and answer.model.fingerprint in said
        assert " ".join(answer.declared.feature.beware.split()[:3]) in said


@pytest.mark.parametrize("slug", NAMES)
def test_nothing_of_a_visitors_becomes_markup_or_a_control_character(
    slug: str, answered: Callable[..., Written]
) -> None:
    everywhere = {
        each.name: [f"{HOSTILE} {n}" for n in range(2)] if each.kind is list else HOSTILE
        for each in declared(slug).parameters
        if each.kind in (str, list) and not each.choices
    }
    try:
        answer = answered(slug, **FITTING.get(slug, everywhere))
    except InputError:  # it reads texts of another form: the first of its first example then
        assert slug not in FITTING
        given = needed(declared(slug))
        first = next(iter(everywhere))
        answer = answered(slug, **given | {first: f"{given[first]} {HOSTILE}"})
    elements = Elements(answer.html()).found
    assert [name for name, _ in elements if name in {"script", "img", "iframe", "a"}] == ["script"]
    for _, given in elements:
        assert not {"src", "srcset"} & given.keys()
        assert str(given.get("href", PIXELS)).startswith(PIXELS)
    said = answer.html().decode().partition("<script")[0] + answer.text()
    assert not {"\x00", "\x1b", "\u202e"} & set(said)
    assert Elements(answer._repr_html_().encode()).found[1:] == []
    assert json.dumps(answer.json(), allow_nan=False)


def test_every_task_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    said = capsys.readouterr().out
    assert all(each.feature.slug in said for each in all_declared())
    for slug in NAMES:
        with pytest.raises(SystemExit) as left:
            main([slug, "--help"])
        assert left.value.code == 0
        said = " ".join(capsys.readouterr().out.split())
        assert all(each.name.replace("_", "-") in said for each in declared(slug).parameters)
        assert all(f"{key}: " in said for key in meanings(declared(slug).result))
