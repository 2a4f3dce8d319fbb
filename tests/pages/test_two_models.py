"""A second model beside the first, as a visitor chooses it."""

from collections.abc import Callable

import pytest

from app.engine.models.shelf import UNTRAINED
from app.faces.streamlit.take import take_row

TEXT, PASSAGE = "the cat sat on the [MASK].", "the cat sat on the mat. a dog sat on the bank."
PAGES: dict[str, dict[str, str]] = {
    "pages/2_fill_mask.py": {"text": TEXT},
    "pages/6_ner.py": {"text": PASSAGE},
    "pages/5_qa.py": {"text": PASSAGE, "question": "the cat"},
}
TAB, TABLE = "Two models", 'class="bx-two"'


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the page would save, of every run."""
    found: list[str] = []

    def keep(feature: object, engine: object, report: Callable, *rest: object, **more: str) -> None:
        found.append("".join(map(str, report().drawn())))
        take_row(feature, engine, report, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr("app.faces.streamlit.frame.take_row", keep)
    return found


@pytest.mark.parametrize("script", PAGES)
def test_both_answers_are_on_the_page_and_on_paper(
    visit: Callable, second_model: str, saved: list[str], script: str
) -> None:
    page = visit(script, **PAGES[script], tab=TAB)
    assert page.errors == page.warnings == "" and TABLE not in page.markup
    page.choose("beside", second_model)
    assert page.errors == page.warnings == ""
    assert page.markup.count(TABLE) == 1 and "marked ≠" in page.words
    assert TABLE not in saved[0] and saved[-1].count(TABLE) == 1


@pytest.mark.parametrize("script", PAGES)
def test_a_link_that_names_a_second_model_opens_its_tab(
    visit: Callable, second_model: str, script: str
) -> None:
    page = visit(script, **PAGES[script], beside=second_model)
    assert TABLE in page.markup and page.errors == page.warnings == ""


@pytest.mark.parametrize("script", PAGES)
def test_a_second_model_that_is_not_there_is_said_in_one_line(
    visit: Callable, second_model: str, script: str
) -> None:
    page = visit(script, **PAGES[script], beside="<b>no", tab=TAB)
    [said] = [each.value for each in page.at.caption if "Left out of the address" in each.value]
    assert "beside=\\<b\\>no" in said
    assert "beside" not in page.at.query_params and TABLE not in page.markup


def test_nothing_is_compared_before_it_is_asked_for(visit: Callable, second_model: str) -> None:
    for script, address in PAGES.items():
        page = visit(script, **address)
        assert TAB in [tab.label for tab in page.at.tabs]
        assert not [box for box in page.at.selectbox if box.key == "beside"]


def test_where_there_is_no_other_trained_model_the_untrained_one_is_offered(
    visit: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", "explorer-mini-uncased")
    page = visit("pages/2_fill_mask.py", text=TEXT, beside="nonsense", tab=TAB)
    [box] = [each for each in page.at.selectbox if each.key == "beside"]
    assert box.options == [f"explorer-mini-uncased{UNTRAINED}"] and box.value is None
    assert any("beside=nonsense" in each.value for each in page.at.caption)


def test_the_tokenizer_takes_the_same_parameter(visit: Callable, second_model: str) -> None:
    page = visit("pages/1_tokenizer.py", text="the cat", tab="Compare", beside=second_model)
    assert f"{second_model}, lower-cased" in page.words and page.errors == ""
