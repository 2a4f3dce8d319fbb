"""The tabs of fill-mask: numbers beside other ways of computing them, drawings beside numbers."""

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from app.engine.models import Engine
from app.features.fill_mask import view as view
from app.features.fill_mask import view_pair, view_surprise
from app.features.fill_mask.result import Contrast, PairResult, SurpriseResult, TogetherResult
from app.features.fill_mask.task import fill_mask
from app.features.fill_mask.task_pair import compare, read_pair
from app.features.fill_mask.task_surprise import surprise
from app.features.fill_mask.task_together import cost, fill_together
from app.features.fill_mask.view_pair import differences
from app.features.fill_mask.view_together import together_line, together_picture
from app.words.pictures import NARROW, WIDE
from bert_core import BertForMaskedLM
from bert_core.errors import InputError
from tests.drawings import elements
from tests.snippets import ran


@pytest.fixture
def together(tiny_engine: Engine) -> TogetherResult:
    return fill_together(tiny_engine, fill_mask(tiny_engine, "the [MASK] sat on [MASK]."))


def test_masks_of_a_long_text_are_read_with_the_text_around_them(tiny_engine: Engine) -> None:
    near = "cat " * 90 + "[MASK] sat on [MASK] " + "dog " * 90
    found = fill_together(tiny_engine, fill_mask(tiny_engine, near), most=2)
    assert found.positions == (91, 94) and found.read == tiny_engine.max_length - 2
    far = "[MASK] " + "cat " * 90 + "[MASK]"
    with pytest.raises(InputError, match="92 tokens apart"):
        fill_together(tiny_engine, fill_mask(tiny_engine, far))


def test_too_many_searches_are_refused_with_numbers(tiny_engine: Engine) -> None:
    page = fill_mask(tiny_engine, "[MASK] " * 3)
    with pytest.raises(InputError, match="27 searches; this page makes at most 16"):
        fill_together(tiny_engine, page, most=3)
    with pytest.raises(InputError):
        fill_together(tiny_engine, page, most=0)


@pytest.mark.parametrize(("text", "most", "steps"), [
    ("[MASK]", 1, 1), ("[MASK]", 3, 6), ("a [MASK] [MASK]", 1, 2), ("a [MASK] [MASK]", 2, 12),
])  # fmt: skip
def test_the_cost_counts_the_tokens_read(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch, text: str, most: int, steps: int
) -> None:
    page = fill_mask(tiny_engine, text)
    assert cost(page, most) == 10 * page.tokens * steps
    calls = []
    score = Engine.score_rows
    monkeypatch.setattr(
        Engine, "score_rows", lambda self, ids, at: calls.append(1) or score(self, ids, at)
    )
    fill_together(tiny_engine, page, most=most)
    assert len(calls) == steps


def test_bars_of_joint_fillings_show_their_probabilities(together: TogetherResult) -> None:
    drawn = together_picture(together)
    lengths = [bar.number("width") for bar in elements(drawn.wide, "rect")]
    values = [each.probability for each in together.fillings]
    assert lengths[0] / lengths[-1] == pytest.approx(values[0] / values[-1], rel=0.01)
    assert drawn.table["probability"].tolist() == values
    longer = replace(together, most=2)
    assert "per piece" in together_line(longer).markup
    lengths = [bar.number("width") for bar in elements(together_picture(longer).wide, "rect")]
    means = [each.per_piece for each in together.fillings]
    assert lengths[0] / lengths[-1] == pytest.approx(means[0] / means[-1], rel=0.01)


@pytest.fixture
def surprised(tiny_engine: Engine) -> SurpriseResult:
    return surprise(tiny_engine, fill_mask(tiny_engine, "the cat is playing [MASK] <b>."))


def test_the_odd_word_has_letters_if_any_word_has(tiny_engine: Engine) -> None:
    for text in ("the cat , . ! ? - / '", "cat . . . . ."):
        odd = surprise(tiny_engine, fill_mask(tiny_engine, text)).odd
        assert odd[0].token.isalnum()
    assert surprise(tiny_engine, fill_mask(tiny_engine, ". !")).odd[0].token in ".!"


def test_texts_without_pieces_or_too_long_are_refused(tiny_engine: Engine) -> None:
    with pytest.raises(InputError, match="nothing but masks"):
        surprise(tiny_engine, fill_mask(tiny_engine, "[MASK] [MASK]"))
    with pytest.raises(InputError, match="no piece that the model reads"):
        surprise(tiny_engine, fill_mask(tiny_engine, "\u200b"))
    with pytest.raises(InputError, match="62 tokens"):
        surprise(tiny_engine, fill_mask(tiny_engine, "cat " * 60))


def test_each_piece_has_a_bar_as_tall_as_its_surprise(surprised: SurpriseResult) -> None:
    drawn = view_surprise.columns(surprised)
    heights = [float(each) for each in re.findall(r'style="height:([\d.]+)%"', drawn.markup)]
    wanted = [-math.log2(piece.probability) for piece in surprised.pieces]
    assert heights == pytest.approx([100 * each / max(wanted) for each in wanted], abs=0.06)
    items = elements(drawn, "li")
    names = [f"{piece.token} {view.chance(piece.probability)}" for piece in surprised.pieces]
    assert [each.text.replace("\xa0", " ") for each in items] == names
    odd = [each.attributes["data-at"] for each in items if "class" in each.attributes]
    assert odd == [f"0.{piece.position}" for piece in surprised.odd]
    (mark,) = elements(view_surprise.odd_line(surprised), "mark")
    assert mark.attributes["data-at"].split() == odd
    assert "Pseudo-log-likelihood −" in view_surprise.surprise_note(surprised).markup


def test_the_snippet_of_a_text_without_masks_scores_its_pieces(
    tiny_engine: Engine, tiny_folder: Path
) -> None:
    page = fill_mask(tiny_engine, "the cat is playing .")
    found = surprise(tiny_engine, page)
    rows = [line.split(" ") for line in ran(view.snippet(page, str(tiny_folder)))[1].splitlines()]
    assert [token for token, _ in rows] == [each.token for each in found.pieces]
    assert [float(share) for _, share in rows] == pytest.approx(
        [each.probability for each in found.pieces], rel=1e-4
    )


def test_two_words_are_read_from_one_field() -> None:
    assert read_pair(" he / she ") == ("he", "she")
    assert read_pair("old man,old woman") == ("old man", "old woman")
    for typed in ("he", "he / she / it", "/ she", "He / he"):
        with pytest.raises(InputError, match="he / she"):
            read_pair(typed)


def test_both_sentences_get_their_own_probabilities(tiny_engine: Engine) -> None:
    page = fill_mask(tiny_engine, "The Cat sat on [MASK], [MASK] cats.")
    found = compare(tiny_engine, page, ("cat", "dog"))
    assert found.texts == (
        "The Cat sat on [MASK], [MASK] cats.",
        "The Dog sat on [MASK], [MASK] cats.",
    )
    for number, slot in enumerate(found.slots):
        rows = []
        for text in found.texts:
            encoding = tiny_engine.tokenizer.encode(text)
            logits = tiny_engine.run(BertForMaskedLM, encoding).logits
            assert logits is not None
            at = [n for n, token in enumerate(encoding.tokens) if token == "[MASK]"][number]
            rows.append(torch.softmax(logits[0, at], dim=-1))
        best = {id_ for row in rows for id_ in row.topk(5).indices.tolist()}
        names = tiny_engine.tokenizer.vocab
        assert {names[each.token] for each in slot} == best
        for each in slot:
            id_ = names[each.token]
            assert each.first == pytest.approx(float(rows[0][id_]), rel=1e-4)
            assert each.second == pytest.approx(float(rows[1][id_]), rel=1e-4)
        differences = [each.difference for each in slot]
        assert differences == sorted(differences, reverse=True)


def test_both_texts_have_the_scores_of_their_pieces(tiny_engine: Engine) -> None:
    found = compare(tiny_engine, fill_mask(tiny_engine, "the cat sat"), ("cat", "dog"))
    for text, score in zip(found.texts, found.scores, strict=True):
        pieces = surprise(tiny_engine, fill_mask(tiny_engine, text)).pieces
        assert score == pytest.approx(sum(math.log(each.probability) for each in pieces), rel=1e-5)
    more = "cat" if found.scores[0] > found.scores[1] else "dog"
    shown = view_pair.screen(found)
    assert shown.headline.startswith(f"The model expects the text with “{more}” more: −")
    assert shown.headline in view_pair.pair_line(found).markup and len(shown.parts) == 1
    same = replace(found, scores=(-3.0, -3.0))
    assert "expects both texts equally: −3.0 nats" in view_pair.screen(same).headline
    long = "the cat sat " * 27
    assert not compare(tiny_engine, fill_mask(tiny_engine, f"{long}[MASK]"), ("cat", "a")).scores
    with pytest.raises(InputError, match="83 tokens; texts of at most 48 are scored"):
        compare(tiny_engine, fill_mask(tiny_engine, long), ("cat", "a"))


@pytest.mark.parametrize(("text", "words"), [
    ("the [MASK] sat", ("mask", "cat")), ("the cats [MASK]", ("cat", "dog")),
    ("a [MASK]", ("(", "x")),
])  # fmt: skip
def test_a_word_that_is_not_in_the_text_is_told(
    tiny_engine: Engine, text: str, words: tuple[str, str]
) -> None:
    with pytest.raises(InputError, match="neither"):
        compare(tiny_engine, fill_mask(tiny_engine, text), words)


@pytest.fixture
def pair() -> PairResult:
    rows = (Contrast("man", 0.5, 0.1), Contrast("<b>", 0.2, 0.2), Contrast("x" * 30, 0.1, 0.2))
    return PairResult(
        ("he", "she"), ("He [MASK].", "She [MASK]."), (rows, (Contrast("it", 0.2, 0.4),))
    )


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_differences_lie_left_and_right_of_the_line_on_one_scale(
    pair: PairResult, width: int
) -> None:
    drawn = [differences(rows, pair.words, width, scale=pair.slots) for rows in pair.slots]
    (axis,) = {each.number("x1") for drawing in drawn for each in elements(drawing, "line")}
    first, none, second, other = (bar for drawing in drawn for bar in elements(drawing, "rect"))
    assert first.number("x") + first.number("width") == pytest.approx(axis, abs=0.02)
    assert second.number("x") == other.number("x") == pytest.approx(axis, abs=0.02)
    assert none.number("width") == 0
    assert first.number("width") == pytest.approx(4 * second.number("width"), abs=0.05)
    assert other.number("width") == pytest.approx(2 * second.number("width"), abs=0.05)
    assert first.attributes["class"] != second.attributes["class"]
    texts = [each.text for each in elements(drawn[0], "text")]
    assert texts[2:] == ["man", "+40.0", "<b>", "+0.0", "x" * 13 + "…", "+10.0"]
    assert first.number("x") - 70 > 0 and "&lt;b&gt;" in drawn[0].markup
