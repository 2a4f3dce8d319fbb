"""What goes along from page to page, and what does not."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.catalog import examples
from app.overview import FIRST
from tests.visits import checked, opened

TOKENIZER, FILL_MASK = "pages/1_tokenizer.py", "pages/2_fill_mask.py"
NEXT, QA, NER, ATLAS = (
    "pages/3_next_sentence.py",
    "pages/5_qa.py",
    "pages/6_ner.py",
    "pages/13_atlas.py",
)
OWN = "the dog sat on the river bank"


@pytest.fixture
def site(tiny_model: Path) -> AppTest:
    return opened("app.py")


def go(site: AppTest, page: str) -> AppTest:
    return checked(site.switch_page(page))


def text(site: AppTest, key: str = "text") -> str:
    return str(site.text_area(key=key).value)


def first(slug: str, key: str = "text") -> str:
    return str(examples(slug)[0].values[key])


def test_what_was_written_last_goes_along_past_pages_without_texts(site: AppTest) -> None:
    go(site, TOKENIZER).text_area(key="text").set_value(OWN).run()
    go(site, ATLAS)
    assert text(go(site, FILL_MASK)) == OWN
    site.text_area(key="text").set_value("the cat").run()
    assert text(go(site, TOKENIZER)) == "the cat"
    assert text(go(site, FILL_MASK)) == "the cat"


def test_the_second_text_and_the_question_wait_for_a_page_that_has_their_box(site: AppTest) -> None:
    go(site, NEXT).text_area(key="text").set_value(OWN).run()
    site.text_area(key="text_pair").set_value("the cat ran").run()
    assert text(go(site, NER)) == OWN
    assert text(go(site, TOKENIZER), "text_pair") == "the cat ran"
    site.text_area(key="text_pair").set_value("").run()
    assert text(go(site, QA)) == OWN
    site.text_area(key="question").set_value("who sat?").run()
    assert text(go(site, NEXT)) == OWN
    assert text(site, "text_pair") == ""
    assert text(go(site, QA), "question") == "who sat?"


def test_an_example_stays_where_it_is(site: AppTest) -> None:
    go(site, NER)
    next(b for b in site.button if b.key == "_example_2").click().run()
    assert text(go(site, TOKENIZER)) == first("tokenizer")
    assert text(go(site, NER)) == str(examples("ner")[2].values["text"])


def test_the_first_text_of_the_home_page_and_its_doors_are_not_carried(site: AppTest) -> None:
    site.text_area(key="question").set_value("Where did she live?").run()
    assert text(go(site, NER)) == first("ner")
    home = go(site, "pages/0_home.py")
    assert text(home) == FIRST
    home.text_area(key="text").set_value(OWN).run()
    assert text(go(site, NER)) == OWN


def test_one_visitor_carries_nothing_to_another(site: AppTest, tiny_model: Path) -> None:
    go(site, TOKENIZER).text_area(key="text").set_value(OWN).run()
    other = opened("app.py")
    assert text(go(other, NER)) == first("ner")
