"""Every page with the models of every family, and with tokenizers that are not WordPiece."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.catalog import FEATURES, Feature, feature
from app.declared import all_declared, declared
from app.engine.models import Engine
from app.engine.models.facts import read_facts
from app.faces import ask
from bert_core.errors import CheckpointError
from tests.app.features.atlas.conftest import few_texts  # noqa: F401
from tests.conftest import NASTY
from tests.family_models import BEHIND, FAMILIES, behind_tokenizer, of_family
from tests.made_up import needed
from tests.pages.test_every_page import MAY_BE_TOLD, answered, unharmed

pytestmark = pytest.mark.usefixtures("few_texts")

Visit = Callable[..., Any]
MODELS = [*BEHIND, *FAMILIES]
SLUGS = [row.slug for row in FEATURES if row.slug != "lab"]
OWN = ("lab", "tokenizer")  # features whose own tests cover it
TASKS = [each.feature.slug for each in all_declared() if each.feature.folder not in OWN]
ODD = {
    **{name: NASTY[name] for name in ("script", "controls", "emoji", "line breaks", "specials")},
    "several words in a character": "the cat ﷺ sat ½ ㎏ … ﬁ on",
    "marks of pieces": "Ġcat ▁the ##sat <s>cat</s> <mask>",
}
"""Texts whose pieces share characters, or look like the signs of a tokenizer."""


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a model by the name of its family or tokenizer, made when it is asked for."""
    made: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in made:
            place = tmp_path_factory.mktemp(name.replace(" ", "-").lower())
            made[name] = (behind_tokenizer if name in BEHIND else of_family)(place, name)
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
    from tests.pages.conftest import Visit as Open

    return Open


def lacks(folder: Path, row: Feature) -> str:
    """Say what the family was not trained on, if a feature needs it."""
    heads = read_facts(folder).heads
    return " ".join(heads[need].lacks for need in row.needs if heads[need].lacks)


@pytest.mark.parametrize("slug", SLUGS)
def test_a_page_answers_or_says_what_the_family_was_not_trained_on(
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
    for tab in [each.label for each in page.at.tabs]:
        opened = visit(feature(slug).page, **{"why_tab" if slug == "why" else "tab": tab})
        assert opened.errors == "", tab


@pytest.mark.parametrize(
    "slug", [slug for slug in SLUGS if feature(slug).takes_text and slug not in OWN]
)
def test_texts_whose_pieces_share_characters_stay_whole(
    visit: Visit, model: Path, slug: str
) -> None:
    page = visit(feature(slug).page)
    for text in () if lacks(model, feature(slug)) else ODD.values():
        unharmed(page, slug, text)


@pytest.mark.parametrize("task", TASKS)
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
