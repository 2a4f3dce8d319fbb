"""Every page with the models of every family, and with tokenizers that are not WordPiece."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.catalog import HOME, Feature, feature, pages
from app.declared import all_declared, declared
from app.engine.models import Engine
from app.engine.models.facts import read_facts
from app.faces import ask
from app.features.fill_mask.result import mask_word
from bert_core.errors import CheckpointError
from tests.app.features.atlas.conftest import few_texts  # noqa: F401
from tests.conftest import NASTY
from tests.family_models import BEHIND, FAMILIES, of_family
from tests.made_up import needed
from tests.pages.test_every_page import MAY_BE_TOLD, answered, unharmed
from tests.visits import Visit as Open

pytestmark = pytest.mark.usefixtures("few_texts", "few_rows")

Visit = Callable[..., Any]
MODELS = [*BEHIND, *FAMILIES]
SLUGS = [
    row.slug
    for row in sorted(pages(), key=lambda row: not row.takes_text)  # so that all families read
    if row.slug != "lab"
]
OWN = ("lab", "tokenizer")  # features whose own tests cover it
TASKS = [each.feature.slug for each in all_declared() if each.feature.folder not in OWN]
KINDS = ("roberta", "albert")
"""Each kind of tokenizer once, WordPiece aside, which `test_every_page` has."""


def in_turn(name: str, rows: Sequence[str]) -> pytest.MarkDecorator:
    """Ask all rows of all models; in a short run each row of one model, taken in turn."""
    pairs = [
        pytest.param(row, model, marks=() if place == number % len(MODELS) else pytest.mark.slow)
        for number, row in enumerate(rows)
        for place, model in enumerate(MODELS)
    ]
    return pytest.mark.parametrize((name, "model"), pairs, indirect=["model"])


def of_kinds(each: str) -> Any:
    return pytest.param(each, marks=() if each in KINDS else pytest.mark.slow)


OF_KINDS = pytest.mark.parametrize("model", [*map(of_kinds, MODELS)], indirect=True)
"""In a short run one model of each kind of tokenizer."""
ODD = (
    f"{NASTY['script']} Ġcat ▁the ##sat <s>cat</s> <mask>",
    f"the cat ﷺ sat ½ ㎏ … ﬁ on {NASTY['emoji']}",
    f"{NASTY['specials']} {NASTY['line breaks']} {NASTY['controls']}",
)
"""Texts whose pieces share characters, or look like the signs of a tokenizer."""


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a model by the name of its family or tokenizer, made when it is asked for."""
    made: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in made:
            place = tmp_path_factory.mktemp(name.replace(" ", "-").lower())
            made[name] = of_family(place, name)
        return made[name]

    return folder


@pytest.fixture(params=MODELS)
def model(
    request: pytest.FixtureRequest,
    folders: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """Make each model in turn the default model of the site."""
    folder = folders(request.param)
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(folder))
    return folder


@pytest.fixture
def visit(model: Path) -> Visit:
    """Open a page on one of the models."""
    return Open


def lacks(folder: Path, row: Feature) -> str:
    """Say what the family was not trained on, if a feature needs it."""
    heads = read_facts(folder).heads
    return " ".join(heads[need].lacks for need in row.needs if heads[need].lacks)


@in_turn("slug", SLUGS)
def test_a_page_answers_any_text_or_says_what_the_family_was_not_trained_on(
    visit: Visit, model: Path, slug: str
) -> None:
    page = visit(feature(slug).page)
    assert page.errors == ""
    if says := lacks(model, feature(slug)):
        assert says in page.words and not answered(page, slug)
        return
    asks = any(each.label.startswith("Explain this text") for each in page.at.button)
    told = slug in MAY_BE_TOLD and (page.warnings or asks)
    assert answered(page, slug) or slug == "model_card" or told
    assert slug == "tokenizer" or "Ġ" not in page.words
    for tab in [each.label for each in page.at.tabs][1:]:
        opened = visit(feature(slug).page, tab=tab)
        assert opened.errors == "", tab
    for text in ODD if feature(slug).takes_text and slug not in OWN else ():
        unharmed(page, slug, text)


@in_turn("task", TASKS)
def test_every_task_answers_programs_or_says_why_not(model: Path, task: str) -> None:
    if says := lacks(model, declared(task).feature):
        with pytest.raises(CheckpointError) as raised:
            ask(task, **needed(declared(task)))
        assert says in str(raised.value)
        return
    found = ask(task, **needed(declared(task)))
    assert found.json() and found.html()
    assert "Ġ" not in found.text()
    assert Engine(str(model)).provenance.signs in " ".join(found.text().split())


@OF_KINDS
@pytest.mark.parametrize("task", ["fill_mask", "xray", "why", "attention"])
def test_every_sign_of_a_gap_is_the_models_own_mask(model: Path, task: str) -> None:
    own = Engine(str(model)).tokenizer.mask_token
    given = {"check": False} if task == "why" else {}
    same = ask(task, text=f"the cat {own} sat on", **given).json()
    for sign in ("[MASK]", "<mask>", "___"):
        found = ask(task, text=f"the cat {sign} sat on", **given)
        assert tuple(found.result.read_as) == (() if sign in ("[MASK]", own) else (sign,))
        assert found.json() | {"read_as": 0} == same | {"read_as": 0}


@OF_KINDS
def test_a_word_that_is_hidden_by_a_click_is_written_in_the_neutral_sign(model: Path) -> None:
    found: Any = ask("fill_mask", text="the <mask> sat on the mat").result
    own = Engine(str(model)).tokenizer.mask_token
    assert found.text == f"the {own} sat on the mat"
    assert [word.text for word in found.words] == ["the", own, "sat", "on", "the", "mat"]
    assert found.text[found.slots[0].start : found.slots[0].end] == own
    sat = next(word for word in found.words if word.text == "sat")
    assert mask_word(found.text, sat) == "the [MASK] [MASK] on the mat"


def test_an_entry_is_found_by_the_spelling_that_is_shown(model: Path) -> None:
    engine = Engine(str(model))
    tokenizer = engine.tokenizer
    for id_ in range(0, len(tokenizer), 7):
        shown = engine.readable(id_)
        if tokenizer.begins_word(tokenizer.ids_to_tokens[id_]):
            assert engine.entry(shown) == id_, shown
    word = engine.entry("the")
    assert word is not None and tokenizer.decode([word]).strip() == "the"
    assert engine.entry("") is None and engine.entry("thecatsatonthemat") is None


@pytest.mark.parametrize(("name", "said"), [("roberta", True), ("distilbert", False)])
def test_pieces_that_share_a_character_are_told_where_a_text_is_coloured(
    folders: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, name: str, said: bool
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(folders(name)))
    text = ask("ner", text="the cat 👩 sat").text()
    assert ("Some characters are read in several parts" in text) == said
    assert "Some characters are read" not in ask("ner", text="the cat sat").text()


@OF_KINDS
def test_the_home_page_shows_what_each_family_can_do(visit: Visit, model: Path) -> None:
    page = visit(HOME)
    assert page.errors == page.warnings == ""
    assert "Ġ" not in page.words
    assert lacks(model, feature("next_sentence")) in page.words
