"""The choice of a model, driven as visitors do: on every page, by link, by id, by button."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.arguments import read_arguments
from app.catalog import feature
from app.engine.models import default_offer, open_engine
from app.server.model import bring_model
from bert_core import BertForSequenceClassification, BertForTokenClassification
from bert_core.errors import DownloadError
from tests import visits
from tests.conftest import VOCABULARY, save_tiny
from tests.loopback import Loopback
from tests.visits import checked, labels, markup, press

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="module")
def models(headless_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models beside the tiny one that pages start with, some of them bad."""
    folder = tmp_path_factory.mktemp("shelf")
    (folder / "headless").symlink_to(headless_folder, target_is_directory=True)
    save_tiny(folder / "texts", BertForSequenceClassification)
    save_tiny(folder / "nameless", BertForTokenClassification)
    words = ["x-y" if word == "[MASK]" else word for word in VOCABULARY]
    save_tiny(folder / "no mask", BertForTokenClassification, vocabulary=words)
    save_tiny(folder / "cut", BertForTokenClassification)
    with (folder / "cut" / "model.safetensors").open("r+b") as file:
        file.truncate(9_000)
    (folder / "other").mkdir()
    (folder / "other" / "config.json").write_text('{"model_type": "gpt2", "vocab_size": 9}')
    place = folder / "models--someone--tiny"
    save_tiny(place / "snapshots" / COMMIT, BertForTokenClassification)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(COMMIT, encoding="utf-8")
    return folder


@pytest.fixture
def shelf(tiny_model: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Offer them."""
    monkeypatch.setenv("BERT_EXPLORER_MODELS", str(models))
    return models


@pytest.fixture
def opened(shelf: Path) -> Callable[..., AppTest]:
    """Open one page by its address."""

    def visit(slug: str, **address: str) -> AppTest:
        return visits.opened(feature(slug).page, **address)

    return visit


def used(at: AppTest) -> str:
    """The model named at the foot: the one that answered."""
    body = next(e.proto.body for e in at.get("html") if "What this model is" in e.proto.body)
    return str(body.partition("Model</span> <span>")[2].partition(" (")[0])


def popovers(at: AppTest) -> list[Any]:
    return [node.proto.popover for node in at.get("popover")]


def test_the_picker_offers_every_model_and_the_page_says_all_about_its_own(
    opened: Callable[..., AppTest], tiny_model: Path
) -> None:
    at = opened("tokenizer")
    box = at.selectbox(key="model")
    assert box.value == used(at) == tiny_model.name
    assert {"headless-model0", "texts", "someone/tiny"} <= set(box.options)
    assert "About this model" in [popover.label for popover in popovers(at)]
    assert f"{tiny_model.name}: " in markup(at)  # the line that is always visible
    assert "Computed by</span> <span>processor" in markup(at)
    assert str(tiny_model) not in markup(at)


def test_a_choice_is_used_at_once(opened: Callable[..., AppTest]) -> None:
    at = opened("tokenizer", text="the cat")
    at.selectbox(key="model").set_value("texts")
    assert used(checked(at)) == "texts"
    assert at.text_area(key="text").value == "the cat"


def test_a_link_opens_the_model_it_names(opened: Callable[..., AppTest]) -> None:
    at = opened("tokenizer", model="someone/tiny", text="a dog")
    assert used(at) == "someone/tiny"
    assert "someone/tiny" in [popover.label for popover in popovers(at)]  # on the first run
    assert "a copy from the Hugging Face Hub, on this server" in markup(at)
    assert len(at.warning) == 0


@pytest.mark.parametrize(
    "name", ["gone", "../shelf/texts", "no/such-model", "", "![x](http://a.example/x.png)" * 9]
)
def test_an_unknown_name_in_a_link_loses_nothing(
    opened: Callable[..., AppTest], tiny_model: Path, name: str
) -> None:
    at = opened("tokenizer", model=name, text="the dog")
    assert used(at) == tiny_model.name
    assert at.text_area(key="text").value == "the dog"
    assert "which this server does not offer" in at.warning[0].value
    assert "![x]" not in at.warning[0].value
    assert len(at.warning[0].value) < 300
    at.selectbox(key="model").set_value("texts")
    assert len(checked(at).warning) == 0


def test_a_model_without_the_head_shows_no_numbers_and_one_that_fits_is_a_click_away(
    opened: Callable[..., AppTest], tiny_model: Path
) -> None:
    at = opened("ner", model="texts", text="the cat sat")
    assert "no trained head for labelling words" in markup(at)
    assert "is a head for classifying texts" in markup(at)
    assert 'class="bx-ner' not in markup(at)
    assert len(at.text_area) == 0
    at.toggle(key="noise").set_value(True)
    assert checked(at).text_area(key="text").value == "the cat sat"
    press(at, f"Use {tiny_model.name} instead")
    assert used(at) == tiny_model.name
    assert at.text_area(key="text").value == "the cat sat"
    assert 'role="alert"' not in markup(at)


def test_a_remark_lets_the_page_answer(opened: Callable[..., AppTest]) -> None:
    at = opened("ner", model="nameless", text="the cat")
    assert "what its 2 labels mean" in markup(at)
    assert 'role="alert"' not in markup(at)
    assert at.text_area(key="text").value == "the cat"


@pytest.mark.parametrize(("name", "why"), [("cut", "truncated"), ("other", "gpt2")])
def test_a_model_that_cannot_be_loaded_says_why_and_leads_back(
    opened: Callable[..., AppTest], shelf: Path, tiny_model: Path, name: str, why: str
) -> None:
    at = opened("tokenizer", model=name, text="the dog")
    assert why in at.error[0].value
    assert str(shelf) not in at.error[0].value
    assert len(at.text_area) == 0
    press(at, f"Use {tiny_model.name} instead")
    assert used(at) == tiny_model.name
    assert at.text_area(key="text").value == "the dog"


def test_where_no_model_suits_the_page_says_so(
    untrained_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(untrained_folder))
    monkeypatch.setattr("app.engine.models.shelf.bundled_names", tuple)
    monkeypatch.delenv("BERT_EXPLORER_MODELS", raising=False)
    at = visits.opened("pages/2_fill_mask.py")
    assert "No other model on this server suits" in " ".join(c.value for c in at.caption)
    assert not any("instead" in label for label in labels(at))


# -- ids of the Hub --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked", [f"someone/tiny@{COMMIT}", " someone/tiny", "https://huggingface.co/someone/tiny"]
)
def test_a_link_by_another_name_of_the_same_copy_opens_it(
    opened: Callable[..., AppTest], asked: str
) -> None:
    at = opened("tokenizer", model=asked, text="the cat")
    assert used(at) == at.selectbox(key="model").value == "someone/tiny"
    assert len(at.warning) == 0
    assert COMMIT[:12] in markup(at)


def test_a_link_to_a_model_of_the_hub_downloads_nothing_and_offers_to_look(
    opened: Callable[..., AppTest], tiny_model: Path, loopback: Loopback
) -> None:
    at = opened("tokenizer", model="someone/gone", text="the cat")
    assert used(at) == tiny_model.name
    assert "which this server does not offer" in at.warning[0].value
    press(at, "Look for someone/gone on the Hub")
    assert at.text_input(key="_hub_id").value == "someone/gone"
    assert loopback.log == []


def test_the_operator_may_switch_the_field_off(
    opened: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "By Hub id" in labels(opened("tokenizer"))
    monkeypatch.setenv("BERT_EXPLORER_HUB", "off")
    at = opened("tokenizer", model="someone/gone")
    assert not any("Hub" in label for label in labels(at))


# -- across pages ----------------------------------------------------------------------------------


@pytest.fixture
def site(shelf: Path) -> AppTest:
    return visits.opened("app.py")


def test_the_choice_comes_along_to_every_page_and_home(site: AppTest) -> None:
    site.selectbox(key="model").set_value("texts")
    checked(site)
    for slug in ("tokenizer", "model_card"):
        site.switch_page(feature(slug).page)
        assert used(checked(site)) == "texts"
        assert site.selectbox(key="model").value == "texts"
    site.switch_page("app.py")
    assert site.selectbox(key="model").value == "texts"


# -- the command line ------------------------------------------------------------------------------


def test_models_can_be_given_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", "before")
    monkeypatch.setenv("BERT_EXPLORER_MODELS", "before")
    read_arguments([])
    assert os.environ["BERT_EXPLORER_MODEL"] == os.environ["BERT_EXPLORER_MODELS"] == "before"
    folder = str(tmp_path)
    read_arguments(["--model", folder, "--models", folder, "--models", folder])
    assert os.environ["BERT_EXPLORER_MODEL"] == folder
    assert os.environ["BERT_EXPLORER_MODELS"] == os.pathsep.join([folder, folder])


def test_a_model_of_the_hub_is_fetched_at_the_start_with_a_word(
    loopback: Loopback,
    tiny_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("BERT_EXPLORER_MODEL", "before")
    commit = loopback.add_model("someone/first", tiny_folder).commit
    read_arguments(["--model", "someone/first"])
    assert loopback.log == []
    bring_model()
    said = capsys.readouterr().err
    assert "looking for someone/first on the Hugging Face Hub" in said
    assert "kB" in said and commit in said
    assert default_offer().name == "someone/first"
    assert open_engine().provenance.commit == commit
    asked = len(loopback.log)
    bring_model()
    assert len(loopback.log) == asked


def test_the_server_does_not_start_without_the_model_of_the_hub(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", "someone/gone")
    with pytest.raises(DownloadError, match="There is no 'someone/gone' on the Hub"):
        bring_model()


def test_a_page_never_fetches_the_model_it_starts_with(
    loopback: Loopback, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loopback.add_model("someone/first", tiny_folder)
    monkeypatch.setenv("BERT_EXPLORER_MODEL", "someone/first")
    at = visits.opened("pages/1_tokenizer.py")
    assert "There is no folder or bundled model first" in at.error[0].value
    assert loopback.log == []
