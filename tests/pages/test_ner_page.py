"""Test the entity page by driving it as a visitor would."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from app.catalog import examples
from tests.taggers import KNOWN, save_tagger

PAGE = "pages/6_ner.py"


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tagger(tmp_path_factory.mktemp("tagger"), known=KNOWN)


@pytest.fixture
def visit(tagger: Path, visit: Callable, monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Open the page on the planted tagger."""
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(tagger))
    return visit


COLUMN = {"entities": "pieces", "all_pieces": "has a say", "labels": "probability"}


def table(page, name: str):
    """Return the only table with this column."""
    return next(t.value for t in page.at.dataframe if COLUMN[name] in t.value.columns)


def test_the_page_opens_with_an_answer(visit: Callable) -> None:
    page = visit(PAGE)
    assert page.at.title[0].value == "Named entities"
    assert page.warnings == page.errors == ""
    assert "bx-ner-text" in page.markup
    assert "no trained weights" not in page.words


@pytest.mark.parametrize("example", examples("ner"), ids=lambda row: row.label)
def test_every_example_gets_an_answer_and_its_note(visit: Callable, example) -> None:
    page = visit(PAGE).click(example.label)
    assert page.at.text_area(key="text").value == example.values["text"]
    assert page.warnings == page.errors == ""
    assert "bx-ner-text" in page.markup
    assert len(page.at.caption) >= 2


def test_entities_are_marked_listed_and_counted(visit: Callable) -> None:
    page = visit(PAGE, text="The cat dog sat on the River bank.")
    assert page.markup.count('<mark class="bx-ner ') == 4  # two in the text, two in the legend
    assert "2 entities." in page.words
    assert table(page, "entities")["text"].tolist() == ["cat dog", "River bank"]


def test_the_aggregation_changes_the_marks(visit: Callable) -> None:
    page = visit(PAGE, text="played")
    assert table(page, "entities")["text"].tolist() == ["played"]
    page.at.button_group(key="aggregation").set_value("simple")
    page.run()
    assert table(page, "entities")["text"].tolist() == ["play", "ed"]
    page.at.button_group(key="aggregation").set_value("none")
    page.run()
    assert table(page, "entities")["label"].tolist() == ["B-MISC", "B-LOC"]
    assert "labelled pieces" in page.words


def test_filter_and_threshold_hide_and_say_so(visit: Callable) -> None:
    page = visit(PAGE, text="cat, river")
    page.at.button_group(key="only").set_value(["LOC"])
    page.run()
    assert table(page, "entities")["text"].tolist() == ["river"]
    assert "1 with other labels" in page.words
    page.at.slider(key="least").set_value(1.0)
    page.run()
    assert "Nothing is left to show" in page.words
    assert "1 scored below 1.00" in page.words


def test_the_address_seeds_every_setting(visit: Callable) -> None:
    page = visit(
        PAGE, text="cat river", aggregation="Average", least="0.2", only="LOC", piece="1: river"
    )
    assert page.at.button_group(key="aggregation").value == "average"
    assert page.at.slider(key="least").value == 0.2
    assert page.at.button_group(key="only").value == ["LOC"]
    assert page.at.selectbox(key="piece").value == "1: river"
    assert table(page, "entities")["text"].tolist() == ["river"]


def test_nonsense_in_the_address_is_ignored(visit: Callable) -> None:
    page = visit(PAGE, aggregation="x", least="7", only="<b>", piece="-3", pieces="all")
    assert page.errors == page.warnings == ""
    assert page.at.button_group(key="aggregation").value == "first"
    assert page.at.button_group(key="only").value == []


def test_a_text_without_entities_is_answered_plainly(visit: Callable) -> None:
    page = visit(PAGE).type("the sat on")
    assert "Nothing found." in page.words
    assert "What came nearest" in page.words
    assert "finds anything in this text" in page.words


def test_an_empty_text_gets_a_friendly_word(visit: Callable) -> None:
    page = visit(PAGE).type(" ")
    assert "no piece that the model reads" in page.warnings
    assert "SHA-256" in page.words
    assert len(page.at.dataframe) == 0


def test_a_long_text_is_read_whole_and_shown_in_parts(visit: Callable) -> None:
    page = visit(PAGE).type("the sat on " * 190 + "river bank")
    assert "Long text, read whole." in page.words
    assert table(page, "entities")["text"].tolist() == ["river bank"]
    assert table(page, "entities")["start"].tolist() == [190 * 11]
    assert len(table(page, "all_pieces")) == 572
    page.at.selectbox(key="pieces").set_value("pieces 480 to 571")
    page.run()
    assert page.at.selectbox(key="piece").options[-1] == "571: bank"
    page.type("cat")
    assert page.errors == ""
    assert page.at.selectbox(key="piece").value == "0: cat"


def test_the_chart_holds_the_labels_of_the_piece_picked(visit: Callable) -> None:
    page = visit(PAGE, text="the cat", piece="1: cat")
    chart = page.at.get("plotly_chart")[0]
    shares = json.loads(chart.proto.spec)["data"][0]["x"]
    assert chart.proto.alt.startswith("Labels of piece 1, cat: B-PER")
    row = table(page, "all_pieces").iloc[1]
    assert max(shares) == pytest.approx(row["P(B-PER)"])
    assert table(page, "labels")["probability"].tolist() == pytest.approx(shares)


def test_nasty_texts_never_become_markup(visit: Callable, nasty: str) -> None:
    page = visit(PAGE).type(f"{nasty} cat")
    assert page.errors == page.warnings == ""
    assert "<script" not in page.markup
    assert "<img" not in page.markup
    assert table(page, "entities")["text"].tolist()[-1].endswith("cat")


def test_a_hostile_label_stays_text(
    visit: Callable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = ("O", "B-![x](http://example.invalid/x.png)", "B-<img src=x>")
    save_tagger(tmp_path, names=names, known={"cat": names[1], "dog": names[2]})
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(tmp_path))
    page = visit(PAGE, text="cat dog")
    assert page.errors == ""
    assert "<img" not in page.markup
    labels = [option.content for option in page.at.button_group(key="only").proto.options]
    assert not any("](" in label and "\\]" not in label for label in labels)


def test_an_untrained_head_is_announced_before_any_number(
    visit: Callable, monkeypatch: pytest.MonkeyPatch, untrained_folder: Path
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(untrained_folder))
    assert "bx-caution" in visit(PAGE).markup  # shown without any number
    page = visit(PAGE, noise="true")
    assert "no trained weights" in page.words
    assert "These labels have no names" in page.words
    assert page.markup.index("bx-untrained") < page.markup.index("bx-ner")


def test_another_model_drops_the_labels_it_does_not_have(
    visit: Callable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = visit(PAGE, text="cat", only="PER")
    save_tagger(tmp_path, names=("O", "B-ANIMAL"), known={"cat": "B-ANIMAL"})
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(tmp_path))
    page.run()
    assert page.errors == ""
    assert table(page, "entities")["label"].tolist() == ["ANIMAL"]


@pytest.mark.parametrize(
    "names", [("O",), tuple(f"TAG{number}" for number in range(70))], ids=["one", "seventy"]
)
def test_any_number_of_labels_is_shown(
    visit: Callable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, names: tuple[str, ...]
) -> None:
    save_tagger(tmp_path, names=names)
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(tmp_path))
    page = visit(PAGE, text="the cat sat")
    assert page.errors == page.warnings == ""
    assert f"{len(names)} labels:" in page.words
    assert ("Nothing found." in page.words) == (names == ("O",))
    assert len(table(page, "labels")) == len(names)


def test_annotations_are_compared_and_every_difference_listed(visit: Callable) -> None:
    page = visit(PAGE, text="the cat", gold="the\tO\ncat\tB-PER\nsat\tB-LOC")
    assert "F1 66.7 %" in page.words
    tables = [t.value for t in page.at.dataframe if "difference" in t.value.columns]
    assert tables[0]["annotated"].tolist() == ["sat"]


def test_lines_that_are_no_annotations_are_met_with_a_sentence(visit: Callable) -> None:
    page = visit(PAGE, text="the cat", gold="Anna met Karl")
    assert "Line 1 ends with 'Karl'" in page.warnings
    assert "bx-ner-text" in page.markup
    assert "F1" not in visit(PAGE, text="the cat").words
