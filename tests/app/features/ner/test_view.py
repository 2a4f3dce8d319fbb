"""The entity page's drawings and tables: exact text, every sign, and no markup of a visitor."""

import json
import re
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import pytest

from app.engine.models import Engine
from app.features.ner import view as view
from app.features.ner import view_pieces as pieces_view
from app.features.ner.result import NerResult
from app.features.ner.task import ner
from app.features.ner.view_text import COLOURS, STROKES
from app.settings import BUNDLED_MODEL, ROOT
from app.words.html import visible
from app.words.pictures import figure
from bert_core.reading.entities import AGGREGATIONS
from tests.drawings import words
from tests.snippets import ran
from tests.taggers import KNOWN, save_tagger


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return Engine(str(save_tagger(tmp_path_factory.mktemp("planted"), known=KNOWN)))


@dataclass(frozen=True)
class Marked:
    """A marked stretch as it is drawn."""

    text: str
    label: str
    look: str
    style: str
    title: str


def drawn(result: NerResult, colours: dict[str, str] | None = None, **chosen) -> list[Marked]:
    """The marks of the text, in order."""
    markup = str(view.running_text(result, result.select(**chosen), colours or {}))
    return [
        Marked(shown(text), shown(label), *map(unescape, (look, style, title)))
        for look, style, title, text, label in re.findall(
            r'<mark class="bx-ner-mark (.*?)" style="(.*?)" title="(.*?)".*?>(.*?)'
            r'<small class="bx-ner-name">(.*?)</small></mark>', markup, re.DOTALL
        )
    ]  # fmt: skip


def shown(markup: object) -> str:
    """What a person reads of some markup."""
    return unescape(re.sub(r"<[^>]*>", "", str(markup)))


def typed(result: NerResult) -> str:
    """The text as it is drawn, without the labels."""
    markup = str(view.running_text(result, result.select()))
    return shown(re.sub(r"<small.*?</small>", "", markup))


def test_marks_carry_label_line_and_score_and_not_only_a_colour(planted: Engine) -> None:
    result = ner(planted, "cat sat on the river bank.")
    marks = drawn(result)
    for mark, entity in zip(marks, result.reading.entities, strict=True):
        assert mark.label == f"{entity.kind} {view.score(entity.score)}"
        assert mark.text == result.text[entity.start : entity.end]
        assert f"--bx-w:{entity.score:.3f}" in mark.style  # the tint and the weight of the line
        assert f"score {entity.score:.4f}, characters {entity.start} to" in mark.title
    first, second = marks
    assert first.look != second.look and first.style != second.style


@pytest.mark.parametrize("how", AGGREGATIONS)
def test_the_drawn_text_is_the_text_as_typed(planted: Engine, how: str, nasty: str) -> None:
    result = ner(planted, f"{nasty} cat <b>dog</b>", aggregation=how)  # type: ignore[arg-type]
    assert typed(result) == visible(result.text)
    assert "<b>dog" not in str(view.running_text(result, result.select()))
    wanted = "".join(visible(result.text[e.start : e.end]) for e in result.reading.entities)
    assert "".join(mark.text for mark in drawn(result)) in wanted  # a character is drawn once


def test_the_first_and_the_last_character_can_be_marked(planted: Engine) -> None:
    first, last = drawn(ner(planted, "cat sat on the river"))
    assert (first.text, last.text) == ("cat", "river")


def test_a_colour_of_the_visitor_is_used_everywhere_and_markup_never(planted: Engine) -> None:
    result = ner(planted, "cat river")
    own = {"PER": "#123456", "LOC": "red;background:url(x)"}
    assert [mark.style[7:14] for mark in drawn(result, own)] == ["#123456", COLOURS[0]]
    assert "--bx-c:#123456" in str(view.legend(result, result.select(), own))
    assert "url(" not in str(view.legend(result, result.select(), own))


def test_pieces_text_and_table_are_linked_by_the_same_keys(planted: Engine) -> None:
    result = ner(planted, "the mating cat")
    table = view.entity_table(result, result.select())
    text = str(view.running_text(result, result.select()))
    spots = re.findall(r'<span data-at="([^"]*)">', text)
    cards = re.findall(r'<button[^>]*data-at="([^"]*)"', str(pieces_view.strip(result, range(4))))
    assert cards == spots == ["0.0", "0.1", "0.2", "0.3"]
    assert set(" ".join(table["at"]).split()) <= set(spots)
    whole = re.findall(r'bx-ner-whole" data-at="([^"]*)"', str(pieces_view.strip(result, range(4))))
    assert whole == ["0.1 0.2"]


def test_every_kind_of_thirty_has_a_look_of_its_own(tmp_path: Path) -> None:
    names = ["O", *(f"B-K{number:02}" for number in range(30))]
    result = ner(Engine(str(save_tagger(tmp_path, names=names, known={}))), "the cat")
    looks = {(view.colour_of(result, k), view.stroke_of(result, k)) for k in result.labels.kinds}
    assert len(looks) == 30


def test_the_style_sheet_has_the_lines_of_the_marks() -> None:
    sheet = (ROOT / "app/features/ner/style.css").read_text(encoding="utf-8")
    assert all(f".bx-ner-mark.bx-ner-l{number}" in sheet for number in range(1, STROKES))


def test_a_kind_looks_the_same_whatever_the_text_and_the_order_of_labels(tmp_path: Path) -> None:
    turned = ["B-LOC", "O", "B-PER", "I-PER", "I-LOC", "B-MISC", "I-MISC", "B-ORG", "I-ORG"]
    one = ner(Engine(str(save_tagger(tmp_path / "a", known=KNOWN))), "cat")
    other = ner(Engine(str(save_tagger(tmp_path / "b", names=turned, known={}))), "river mat")
    for kind in ("PER", "LOC", "ORG", "MISC"):
        assert view.colour_of(one, kind) == view.colour_of(other, kind)
        assert view.stroke_of(one, kind) == view.stroke_of(other, kind)


def test_the_legend_counts_what_is_found_and_what_is_shown(planted: Engine) -> None:
    result = ner(planted, "cat, dog, river")
    told = words(view.legend(result, result.select(only=["LOC"])))
    assert "PER person 0 of 2" in told
    assert "LOC place 1" in told
    assert "ORG" not in told
    chips = re.findall(
        r'aria-pressed="(\w+)"', str(view.legend(result, result.select(only=["LOC"])))
    )
    assert chips == ["true", "false"]
    assert view.legend(ner(planted, "the sat"), result.select()).markup == ""


def test_the_json_holds_the_text_and_every_shown_entity(planted: Engine) -> None:
    result = ner(planted, "Cat “dog”, river 🙂")
    told = json.loads(view.entities_json(result, result.select(only=["PER"]), "m"))
    assert told["text"] == result.text and told["only"] == ["PER"]
    assert [(e["text"], e["label"]) for e in told["entities"]] == [("Cat", "PER"), ("dog", "PER")]
    for row in told["entities"]:
        assert told["text"][row["start"] : row["end"]] == row["text"]


def test_the_kept_blocks_hold_it_all_and_ask_for_nothing(planted: Engine, nasty: str) -> None:
    result = ner(planted, f"{nasty} Cat")
    page = "".join(str(block) for block in view.screen(result).report().drawn())
    assert page.count("<script") == page.count("<img") == 0
    assert not re.search(r"<[^>]* (src|srcset|href)=|url\(|@import", page)
    assert str(view.running_text(result, result.select())) in page


def test_the_snippet_computes_what_the_page_shows() -> None:
    result = ner(Engine(BUNDLED_MODEL), 'Anna\'s "friend" met\nKarl in Paris.')
    scope, printed = ran(view.snippet(result, BUNDLED_MODEL))
    shown = result.reading.entities
    assert [(e.label, e.start, e.end) for e in scope["entities"]] == [
        (e.label, e.start, e.end) for e in shown
    ]
    assert [e.score for e in scope["entities"]] == pytest.approx([e.score for e in shown], abs=1e-4)
    assert len(printed.splitlines()) == len(shown) > 0


def test_nothing_found_is_said_plainly_with_what_came_nearest(planted: Engine) -> None:
    result = ner(planted, "the sat on")
    told = words(view.outcome(result, result.select(least=0.9)))
    assert told.startswith("Nothing found.")
    assert re.search(r"Closest to a name: [BI]-\w+, score \d\.\d\d, at “\w+”", told)


def test_words_that_cannot_be_read_are_named_before_nothing_is_found(planted: Engine) -> None:
    [said] = view.screen(ner(planted, "Ωmega sat")).first
    assert "It reads <bdi>Ωmega</bdi> as [UNK]" in str(said)
    assert str(*view.screen(ner(planted, "the cat sat")).first) == ""


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
    assert some == "2 entities of 3. Hidden: 1 with other labels."
    one = words(view.outcome(ner(planted, "cat"), ner(planted, "cat").select(least=1)))
    assert "found 1 entity, but your settings hide it." in one
    every = ner(planted, "cat dog", aggregation="none")
    assert words(view.outcome(every, every.select())) == "2 labelled pieces."


def test_the_table_and_its_words_hold_the_same_entities(planted: Engine) -> None:
    result = ner(planted, "Cat dog, <b>River</b>")
    table = view.entity_table(result, result.select())
    assert list(table.columns) == ["text", "label", "start", "end", "score", "at"]
    assert table[["text", "label", "start", "end"]].to_numpy().tolist() == [
        ["Cat dog", "PER", 0, 7],
        ["River", "LOC", 12, 17],
    ]
    assert table["score"].tolist() == [entity.score for entity in result.reading.entities]
    assert "Cat dog (PER, " in view.describe(result, result.select())
    assert view.describe(result, result.select(least=1)) == "No entity is shown."
    assert "and 4 more" in view.describe(
        ner(planted, "cat " * 12), ner(planted, "cat " * 12).select()
    )


@pytest.mark.parametrize("how", AGGREGATIONS)
def test_every_way_of_reading_says_what_its_score_is(planted: Engine, how: str) -> None:
    result = ner(planted, "cat", aggregation=how)  # type: ignore[arg-type]
    told = words(view.trust(result))
    assert "probability" in told and "not how often it is right" in told


def test_coverage_of_a_long_text_is_told_with_its_numbers(planted: Engine) -> None:
    assert view.coverage(ner(planted, "the cat sat")).markup == ""
    result = ner(planted, "the cat sat " * 40)
    told = words(view.coverage(result))
    assert "120 pieces" in told and "46 pieces at once" in told
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
    assert "2 labels break the rule" in told
    assert "“dog” (piece 0): I-PER begins the text." in told
    assert "“bank” (piece 2): I-LOC follows O." in told
    many = words(pieces_view.fault_note(ner(planted, "dog, " * 9)))
    assert "and 4 more" in many


def test_the_table_of_pieces_adds_up(planted: Engine) -> None:
    result = ner(planted, "the mating dog, dog")
    table = pieces_view.piece_table(result)
    shares = table[[name for name in table.columns if name.startswith("P(")]]
    assert shares.sum(axis=1).tolist() == pytest.approx([1.0] * len(result.pieces))
    assert table["label"].tolist() == ["O", "B-ORG", "I-MISC", "I-PER", "O", "I-PER"]
    assert table["has a say"].tolist() == ["yes", "yes", "no", "yes", "yes", "yes"]
    assert table["breaks the rule"].tolist()[3:] == [
        "I-PER follows B-ORG",
        "",
        "I-PER follows O",
    ]


def test_the_bars_of_a_piece_are_its_labels_best_first(planted: Engine) -> None:
    result = ner(planted, "the cat")
    shown = pieces_view.label_bars(result, 1)
    lengths = [float(w) for w in re.findall(r'<rect[^>]* width="([\d.]+)"', str(shown.wide))]
    shares = pieces_view.label_bars(result, 1).table["probability"].tolist()
    assert shown.table["label"].iloc[0] == "B-PER"
    assert shares == sorted(result.pieces.probabilities[1].tolist(), reverse=True)
    assert lengths[0] / lengths[1] == pytest.approx(shares[0] / shares[1], rel=0.01)
    assert shown.alt.startswith("Labels of piece 1, cat: B-PER ")


def test_a_click_on_a_card_names_its_piece_and_its_tooltip_all_labels(planted: Engine) -> None:
    result = ner(planted, "the cat")
    markup = str(pieces_view.strip(result, range(2), 1))
    assert re.findall(r'data-pick="piece" data-value="(\d+)"', markup) == ["0", "1"]
    assert re.findall(r'aria-pressed="(\w+)"', markup) == ["false", "true"]
    assert markup.count('tabindex="0"') == 1
    title = re.findall(r'title="piece 1: ([^"]*)"', markup)[0]
    assert len(title.split(", ")) == len(result.labels.names)


def test_bars_left_out_for_their_number_are_counted(tmp_path: Path) -> None:
    names = tuple(f"TAG{number}" for number in range(13))
    result = ner(Engine(str(save_tagger(tmp_path, names=names))), "cat")
    shown = pieces_view.label_bars(result, 0)
    assert str(shown.wide).count("<rect") == 12
    assert "The 12 likeliest of 13 labels." in words(pieces_view.bars_note(result))
    assert len(shown.table) == 13


def test_labels_are_explained_by_their_scheme(planted: Engine, tmp_path: Path) -> None:
    assert "I- continues it" in words(pieces_view.label_note(ner(planted, "cat")))
    nameless = ner(Engine(str(save_tagger(tmp_path, names=()))), "cat")
    assert "have no names" in words(pieces_view.label_note(nameless))


def test_label_names_of_a_hostile_model_stay_text(tmp_path: Path) -> None:
    names = ("O", "B-<script>alert(1)</script>", "I-<script>alert(1)</script>", "B-\u202e![x](y)")
    known = {"cat": names[1], "dog": names[3]}
    result = ner(Engine(str(save_tagger(tmp_path, names=names, known=known))), "cat dog")
    chosen = result.select()
    markup = [
        view.running_text(result, chosen),
        view.legend(result, chosen),
        pieces_view.label_note(result),
        pieces_view.strip(result, range(2)),
        pieces_view.fault_note(result),
    ]
    assert len(result.reading.entities) == 2
    assert not any("<script" in each.markup or "\u202e" in each.markup for each in markup)
    bars = str(figure(pieces_view.label_bars(result, 0)))
    assert "&lt;script" in bars and "<script" not in bars


def test_nothing_found_names_the_ways_of_reading_that_do_find_something(tmp_path: Path) -> None:
    engine = Engine(str(save_tagger(tmp_path / "tagger", known={"##ing": "B-PER"})))
    result = ner(engine, "playing the cat")
    told = words(view.outcome(result, result.select()))
    assert told.startswith("Nothing found. Read in this way")
    assert "Other ways of reading do find something:" in told
    assert "Join pieces" in told and "First piece" not in told


def test_a_long_text_scrolls_in_a_frame_that_keys_reach(planted: Engine) -> None:
    short, long = ner(planted, "the cat"), ner(planted, "the cat sat. " * 400)
    one, other = (str(view.running_text(each, each.select())) for each in (short, long))
    assert "tabindex" not in one and "<span data-at" in one
    assert 'tabindex="0"' in other and 'aria-label="The text with its entities marked"' in other
    assert "<span data-at" not in other and '<mark class="bx-ner-mark' in other
    assert typed(long).count("cat") == 400


def test_a_long_list_of_entities_is_not_cut(planted: Engine) -> None:
    result = ner(planted, "cat sat " * 300)
    assert len(drawn(result)) == 300
    assert len(json.loads(view.entities_json(result, result.select(), "m"))["entities"]) == 300
