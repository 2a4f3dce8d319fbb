"""The entity page's drawings and tables: exact text, every sign, and no markup of a visitor."""

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
from app.settings import BUNDLED_MODEL
from app.words.html import visible
from app.words.pictures import figure, listed
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


def drawn(result: NerResult) -> list[Marked]:
    """The marks of the text, in order."""
    markup = str(view.running_text(result))
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
    markup = str(view.running_text(result))
    return shown(re.sub(r"<small.*?</small>", "", markup))


@pytest.mark.parametrize("how", AGGREGATIONS)
def test_the_drawn_text_is_the_text_as_typed(planted: Engine, how: str, nasty: str) -> None:
    result = ner(planted, f"{nasty} cat <b>dog</b>", aggregation=how)  # type: ignore[arg-type]
    assert typed(result) == visible(result.text)
    assert "<b>dog" not in str(view.running_text(result))
    wanted = "".join(visible(result.text[e.start : e.end]) for e in result.reading.entities)
    assert "".join(mark.text for mark in drawn(result)) in wanted  # a character is drawn once


def test_pieces_text_and_table_are_linked_by_the_same_keys(planted: Engine) -> None:
    result = ner(planted, "the mating cat")
    text = str(view.running_text(result))
    spots = re.findall(r'<span data-at="([^"]*)">', text)
    cards = re.findall(r'<button[^>]*data-at="([^"]*)"', str(pieces_view.strip(result, 0)))
    assert cards == spots == ["0.0", "0.1", "0.2", "0.3"]
    table, _ = view.screen(result).tabs["Table"]()
    at = re.findall(r'<tr data-at="([^"]*)"', str(table))
    assert at and set(" ".join(at).split()) <= set(spots)
    whole = re.findall(r'bx-ner-whole" data-at="([^"]*)"', str(pieces_view.strip(result, 0)))
    assert whole == ["0.1 0.2"]


def test_every_kind_of_thirty_has_a_look_of_its_own(tmp_path: Path) -> None:
    names = ["O", *(f"B-K{number:02}" for number in range(30))]
    result = ner(Engine(str(save_tagger(tmp_path, names=names, known={}))), "the cat")
    looks = {(view.colour_of(result, k), view.stroke_of(result, k)) for k in result.labels.kinds}
    assert len(looks) == 30


def test_the_legend_counts_what_is_found(planted: Engine) -> None:
    told = words(view.legend(ner(planted, "cat, dog, river")))
    assert "PER person 2" in told and "LOC place 1" in told
    assert "ORG" not in told
    assert view.legend(ner(planted, "the sat")).markup == ""


def test_the_kept_blocks_hold_it_all_and_ask_for_nothing(planted: Engine, nasty: str) -> None:
    result = ner(planted, f"{nasty} Cat")
    page = "".join(str(block) for block in view.screen(result).report().drawn())
    assert page.count("<script") == page.count("<img") == 0
    assert not re.search(r"<[^>]* (src|srcset|href)=|url\(|@import", page)
    assert str(view.running_text(result)) in page


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
    told = words(view.closest(result))
    assert told.startswith("Nothing found.")
    assert re.search(r"Closest to an entity: [BI]-\w+, score \d\.\d\d, at “\w+”", told)


def test_the_strip_shows_each_piece_its_label_and_whether_it_counts(planted: Engine) -> None:
    result = ner(planted, "the mating cat")
    told = words(pieces_view.strip(result, 0))
    assert "matB-ORG" in told
    assert "##ing(I-MISC)" in told
    simple = ner(planted, "the mating cat", aggregation="simple")
    assert "##ingI-MISC ⚠" in words(pieces_view.strip(simple, 0))
    assert "brackets" in words(pieces_view.strip(result, 0))
    assert "brackets" not in words(pieces_view.strip(simple, 0))
    on_paper = pieces_view.strip(result, None)
    assert "<button" not in str(on_paper) and words(on_paper) == told


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
    table = listed(pieces_view.piece_table(result))
    shares = table[[name for name in table.columns if name.startswith("P(")]]
    assert shares.sum(axis=1).tolist() == pytest.approx([1.0] * len(result.pieces))
    assert table["label"].tolist() == ["O", "B-ORG", "I-MISC", "I-PER", "O", "I-PER"]
    assert table["has a say"].tolist() == ["yes", "yes", "no", "yes", "yes", "yes"]
    assert table["breaks the rule"].tolist()[3:] == [
        "I-PER follows B-ORG",
        "",
        "I-PER follows O",
    ]


def test_label_names_of_a_hostile_model_stay_text(tmp_path: Path) -> None:
    names = ("O", "B-<script>alert(1)</script>", "I-<script>alert(1)</script>", "B-\u202e![x](y)")
    known = {"cat": names[1], "dog": names[3]}
    result = ner(Engine(str(save_tagger(tmp_path, names=names, known=known))), "cat dog")
    markup = [
        view.running_text(result),
        view.legend(result),
        pieces_view.label_note(result),
        pieces_view.strip(result, 0),
        pieces_view.fault_note(result),
    ]
    assert len(result.reading.entities) == 2
    assert not any("<script" in each.markup or "\u202e" in each.markup for each in markup)
    bars = str(figure(pieces_view.label_bars(result, 0)))
    assert "&lt;script" in bars and "<script" not in bars


def test_a_long_text_scrolls_in_a_frame_that_keys_reach(planted: Engine) -> None:
    short, long = ner(planted, "the cat"), ner(planted, "the cat sat. " * 400)
    one, other = (str(view.running_text(each)) for each in (short, long))
    assert "tabindex" not in one and "<span data-at" in one
    assert 'tabindex="0"' in other and 'aria-label="The text with its entities marked"' in other
    assert "<span data-at" not in other and '<mark class="bx-ner-mark' in other
    assert typed(long).count("cat") == 400
