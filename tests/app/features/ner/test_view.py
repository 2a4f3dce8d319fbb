"""The entity page's drawings and tables: exact text, every sign, and no markup of a visitor."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from app.features.ner import view as view
from app.features.ner import view_pieces as pieces_view
from app.features.ner.result import NerResult
from app.features.ner.task import ner
from app.models import Engine
from app.words.html import Html, visible
from bert_core.reading.entities import AGGREGATIONS
from tests.taggers import KNOWN, save_tagger


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return Engine(str(save_tagger(tmp_path_factory.mktemp("planted"), known=KNOWN)))


class Reader(HTMLParser):
    """Collects the marks of a drawing, and its text with and without what is added to it."""

    def __init__(self, drawn: Html) -> None:
        super().__init__()
        self.marks: list[dict[str, str | None]] = []
        self.typed = self.all = ""
        self._added = 0
        self.feed(drawn.markup)
        self.close()

    def handle_starttag(self, name: str, attrs: list[tuple[str, str | None]]) -> None:
        if name == "mark":
            self.marks.append(dict(attrs))
        self._added += name == "span"

    def handle_endtag(self, name: str) -> None:
        self._added -= name == "span"

    def handle_data(self, data: str) -> None:
        self.all += data
        self.typed += "" if self._added else data


def drawn(result: NerResult, **chosen) -> Reader:
    return Reader(view.marked_text(result, result.select(**chosen)))


def words(markup: Html) -> str:
    return Reader(markup).all


def test_marks_carry_label_line_and_score_and_not_only_a_colour(planted: Engine) -> None:
    read = drawn(ner(planted, "cat sat on the river bank."))
    assert len(read.marks) == 2
    assert read.all.startswith("cat PER ")
    assert "river bank LOC " in read.all
    assert re.search(r"PER \d\d %", read.all)
    lines = [re.search(r"bx-ner-l\d", str(mark["class"])) for mark in read.marks]
    assert lines[0] and lines[1] and lines[0].group() != lines[1].group()
    scores = [float(str(mark["style"]).rpartition(":")[2]) for mark in read.marks]
    expected = [e.score for e in ner(planted, "cat sat on the river bank.").reading.entities]
    assert scores == pytest.approx(expected, abs=0.0006)


def test_characters_that_two_entities_share_are_drawn_once(planted: Engine) -> None:
    result = ner(planted, "cat river")
    first, second = result.reading.entities
    shared = replace(
        result.reading, entities=(replace(first, end=6), replace(second, start=4, end=9))
    )
    read = drawn(replace(result, readings={**result.readings, result.aggregation: shared}))
    assert read.typed == "cat river"
    assert len(read.marks) == 2


@pytest.mark.parametrize("how", AGGREGATIONS)
def test_the_marked_text_is_the_text_as_typed(planted: Engine, how: str, nasty: str) -> None:
    result = ner(planted, f"{nasty} cat <b>dog</b>", aggregation=how)  # type: ignore[arg-type]
    read = drawn(result)
    assert read.typed == visible(result.text)
    assert "<b>dog" not in str(view.marked_text(result, result.select()))
    assert len(read.marks) == len(result.reading.entities)


def test_every_kind_of_thirty_has_a_look_of_its_own(tmp_path: Path) -> None:
    names = ["O", *(f"B-K{number:02}" for number in range(30))]
    result = ner(Engine(str(save_tagger(tmp_path, names=names, known={}))), "the cat")
    looks = {(view.colour_of(result, k), view.line_of(result, k)) for k in result.labels.kinds}
    assert len(looks) == 30


def test_the_style_sheet_has_every_colour_and_line() -> None:
    from app.settings import ASSETS

    sheet = (ASSETS / "site.css").read_text(encoding="utf-8")
    assert all(f"--bx-c{number}:" in sheet for number in range(view.COLOURS))
    assert all(f".bx-ner-l{number}" in sheet for number in range(1, view.LINES))


def test_a_kind_looks_the_same_whatever_the_text_and_the_order_of_labels(tmp_path: Path) -> None:
    turned = ["B-LOC", "O", "B-PER", "I-PER", "I-LOC", "B-MISC", "I-MISC", "B-ORG", "I-ORG"]
    one = ner(Engine(str(save_tagger(tmp_path / "a", known=KNOWN))), "cat")
    other = ner(Engine(str(save_tagger(tmp_path / "b", names=turned, known={}))), "river mat")
    for kind in ("PER", "LOC", "ORG", "MISC"):
        assert view.colour_of(one, kind) == view.colour_of(other, kind)
        assert view.line_of(one, kind) == view.line_of(other, kind)


def test_the_legend_counts_what_is_found_and_what_is_shown(planted: Engine) -> None:
    result = ner(planted, "cat, dog, river")
    told = words(view.legend(result, result.select(only=["LOC"])))
    assert "PER person · 0 of 2 shown" in told
    assert "LOC place · 1 of 1 shown" in told
    assert "ORG" not in told
    assert view.legend(ner(planted, "the sat"), result.select()).markup == ""


def test_the_kept_page_holds_it_all_and_asks_for_nothing(planted: Engine, nasty: str) -> None:
    result = ner(planted, f"{nasty} Cat")
    page = view.kept_page(result, result.select(), "<model>").decode()
    assert page.startswith("<!DOCTYPE html>") and page.count("<script") == page.count("<img") == 0
    assert not re.search(r"(src|href)=|url\(|@import", page.replace("&lt;img src=x", ""))
    assert str(view.marked_text(result, result.select())) in page
    assert page.count("<tr>") == 1 + len(result.reading.entities)
    assert "&lt;model&gt;" in page
    assert "<table" not in view.kept_page(result, result.select(least=1), "m").decode()


def test_nothing_found_is_said_plainly_with_what_came_nearest(planted: Engine) -> None:
    result = ner(planted, "the sat on")
    told = words(view.outcome(result, result.select(least=0.9)))
    assert told.startswith("Nothing found.")
    assert re.search(r"nearest: [BI]-\w+ with \d+ % at “\w+”", told)


def test_what_hides_entities_is_named_with_numbers(planted: Engine) -> None:
    result = ner(planted, "cat, dog, river")
    assert words(view.outcome(result, result.select())) == "3 entities."
    below = words(view.outcome(result, result.select(least=1.0)))
    assert below.startswith("Nothing is left to show.") and "3 scored below 1.00" in below
    best = max(entity.score for entity in result.reading.entities)
    assert f"best of these has {best:.2f}" in below
    other = words(view.outcome(result, result.select(only=["MISC"])))
    assert "Nothing is left" in other and "3 with other labels" in other
    some = words(view.outcome(result, result.select(only=["PER"])))
    assert some == "2 entities of 3. Hidden: 1 with other labels than those chosen."
    one = words(view.outcome(ner(planted, "cat"), ner(planted, "cat").select(least=1)))
    assert "found 1 entity, but your settings hide it." in one
    every = ner(planted, "cat dog", aggregation="none")
    assert words(view.outcome(every, every.select())) == "2 labelled pieces."


def test_the_table_and_its_words_hold_the_same_entities(planted: Engine) -> None:
    result = ner(planted, "Cat dog, <b>River</b>")
    table = view.entity_table(result, result.select())
    assert list(table.columns) == ["text", "label", "start", "end", "score", "pieces"]
    assert table[["text", "label", "start", "end", "pieces"]].to_numpy().tolist() == [
        ["Cat dog", "PER", 0, 7, 2],
        ["River", "LOC", 12, 17, 1],
    ]
    assert table["score"].tolist() == [entity.score for entity in result.reading.entities]
    assert "Cat dog (PER, " in view.describe(result, result.select())
    assert view.describe(result, result.select(least=1)) == "No entity is shown."
    assert "and 4 more" in view.describe(
        ner(planted, "cat " * 12), ner(planted, "cat " * 12).select()
    )


@pytest.mark.parametrize("how", AGGREGATIONS)
def test_every_way_of_reading_says_what_its_score_is(planted: Engine, how: str) -> None:
    told = words(view.score_note(ner(planted, "cat", aggregation=how)))  # type: ignore[arg-type]
    assert "probability" in told and "not how often it is right" in told
    assert view.AGGREGATION_NAMES[how] in words(view.rules())  # type: ignore[index]


def test_coverage_is_told_with_its_numbers(planted: Engine) -> None:
    assert "All 3 pieces were read at once." in words(view.coverage(ner(planted, "the cat sat")))
    result = ner(planted, "the cat sat " * 40)
    told = words(view.coverage(result))
    assert "120 pieces" in told and "46 that" in told
    assert f"{result.pieces.coverage.windows} windows" in told
    assert f"at least {result.pieces.coverage.context} pieces" in told


def test_the_strip_shows_each_piece_its_label_and_whether_it_counts(planted: Engine) -> None:
    result = ner(planted, "the mating cat")
    told = words(pieces_view.strip(result, range(4)))
    assert "matB-ORG" in told
    assert "##ing(I-MISC)" in told
    simple = ner(planted, "the mating cat", aggregation="simple")
    assert "##ingI-MISC ⚠" in words(pieces_view.strip(simple, range(4)))
    assert "brackets" in words(pieces_view.strip_note(result))
    assert "brackets" not in words(pieces_view.strip_note(simple))


def test_a_long_text_is_drawn_in_parts_that_cover_it(planted: Engine) -> None:
    result = ner(planted, "the cat sat " * 200)
    parts = pieces_view.part_names(result)
    assert [number for part in parts.values() for number in part] == list(range(600))
    assert list(parts)[-1] == "pieces 480 to 599"
    names = pieces_view.piece_names(result, range(480, 600))
    assert len(names) == 120 and names["481: cat"] == 481


def test_labels_out_of_rule_are_explained(planted: Engine) -> None:
    assert pieces_view.fault_note(ner(planted, "cat sat")).markup == ""
    told = words(pieces_view.fault_note(ner(planted, "dog, bank <b>")))
    assert "2 labels are out of rule" in told
    assert "“dog” (piece 0): I-PER opens the text." in told
    assert "“bank” (piece 2): I-LOC stands after O." in told
    many = words(pieces_view.fault_note(ner(planted, "dog, " * 9)))
    assert "and 4 more" in many


def test_the_table_of_pieces_adds_up(planted: Engine) -> None:
    result = ner(planted, "the mating dog, dog")
    table = pieces_view.piece_table(result)
    shares = table[[name for name in table.columns if name.startswith("P(")]]
    assert shares.sum(axis=1).tolist() == pytest.approx([1.0] * len(result.pieces))
    assert table["label"].tolist() == ["O", "B-ORG", "I-MISC", "I-PER", "O", "I-PER"]
    assert table["has a say"].tolist() == ["yes", "yes", "no", "yes", "yes", "yes"]
    assert table["out of rule"].tolist()[3:] == [
        "I-PER stands after B-ORG",
        "",
        "I-PER stands after O",
    ]


def test_the_bars_of_a_piece_are_its_labels_best_first(planted: Engine) -> None:
    result = ner(planted, "the cat")
    bars = pieces_view.label_bars(result, 1).data[0]
    table = pieces_view.label_table(result, 1)
    assert table["label"].iloc[0] == "B-PER"
    assert list(bars.x) == table["probability"].tolist() == sorted(bars.x, reverse=True)
    assert len(table) == 9
    assert pieces_view.describe_piece(result, 1).startswith("Labels of piece 1, cat: B-PER ")


def test_the_likeliest_label_is_on_top(planted: Engine) -> None:
    fig = pieces_view.label_bars(ner(planted, "the cat"), 1)
    assert fig.layout.yaxis.autorange == "reversed"
    assert list(fig.data[0].y) == list(fig.layout.yaxis.tickvals) == list(range(9))
    assert next(iter(fig.layout.yaxis.ticktext)) == "B-PER"


def test_bars_left_out_for_their_number_are_counted(tmp_path: Path) -> None:
    names = tuple(f"TAG{number}" for number in range(13))
    result = ner(Engine(str(save_tagger(tmp_path, names=names))), "cat")
    fig = pieces_view.label_bars(result, 0)
    assert len(fig.data[0].x) == 12
    assert fig.layout.xaxis.title.text == "the 12 likeliest of 13 labels"
    assert len(pieces_view.label_table(result, 0)) == 13


def test_the_ways_of_reading_stand_side_by_side(planted: Engine) -> None:
    result = ner(planted, "cat played")
    table = pieces_view.comparison(result).set_index("text")
    assert table.loc["cat", "differ"] == ""
    assert table.loc["played", "differ"] == table.loc["ed", "differ"] == "yes"
    assert table.loc["played", "Join pieces"] == "–"
    assert table.loc["played", "First piece"].startswith("MISC ")
    assert table.loc["played", "Every piece"] == "B-MISC B-LOC"
    assert table.loc["ed", "Join pieces"].startswith("LOC ")
    for text, told in [
        ("cat played", "do not agree: of 4 places"),
        ("cat", "find the same"),
        ("the", "finds anything"),
    ]:
        ways = pieces_view.comparison(ner(planted, text))
        assert told in pieces_view.agreement(ways)
        assert told in words(pieces_view.agreement_note(ways))


def test_labels_are_explained_by_their_scheme(planted: Engine, tmp_path: Path) -> None:
    assert "I- continues it" in words(view.label_note(ner(planted, "cat")))
    nameless = ner(Engine(str(save_tagger(tmp_path, names=()))), "cat")
    assert "have no names" in words(view.label_note(nameless))


def test_label_names_of_a_hostile_model_stay_text(tmp_path: Path) -> None:
    names = ("O", "B-<script>alert(1)</script>", "I-<script>alert(1)</script>", "B-\u202e![x](y)")
    known = {"cat": names[1], "dog": names[3]}
    result = ner(Engine(str(save_tagger(tmp_path, names=names, known=known))), "cat dog")
    chosen = result.select()
    markup = [
        view.marked_text(result, chosen),
        view.legend(result, chosen),
        view.label_note(result),
        pieces_view.strip(result, range(2)),
        pieces_view.fault_note(result),
    ]
    assert len(result.reading.entities) == 2
    assert not any("<script" in each.markup or "\u202e" in each.markup for each in markup)
    assert "&lt;script" in str(pieces_view.label_bars(result, 0).layout.yaxis.ticktext)


def test_nothing_found_names_the_ways_of_reading_that_do_find_something(tmp_path: Path) -> None:
    engine = Engine(str(save_tagger(tmp_path / "tagger", known={"##ing": "B-PER"})))
    result = ner(engine, "playing the cat")
    told = words(view.outcome(result, result.select()))
    assert told.startswith("Nothing found. In this way of reading")
    assert "Other ways of reading do find something:" in told
    assert "Join pieces" in told and "First piece" not in told


def test_a_long_text_scrolls_in_a_frame_that_keys_reach(planted: Engine) -> None:
    short, long = ner(planted, "the cat"), ner(planted, "the cat sat. " * 400)
    assert "tabindex" not in str(view.marked_text(short, short.select()))
    drawn = str(view.marked_text(long, long.select()))
    assert 'tabindex="0"' in drawn and 'aria-label="The marked text"' in drawn
    kept = view.kept_page(long, long.select(), "m").decode()
    assert "main .bx-ner-long { max-height: none" in kept, "a page to keep shows it all"
