"""Fill-mask: the numbers are the model's own, and the right word is hidden."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from app.features.fill_mask import view as view
from app.features.fill_mask.result import FillMaskResult
from app.features.fill_mask.task import fill_mask, mask_at_end, mask_word
from app.models import Engine
from bert_core import BertForMaskedLM
from bert_core.errors import InputError


def direct(engine: Engine, text: str) -> torch.Tensor:
    """Probabilities (P, V) straight from the full scores, at every mask of a text."""
    encoding = engine.tokenizer.encode(text)
    logits = engine.run(BertForMaskedLM, encoding).logits
    assert logits is not None
    mask = engine.tokenizer.vocab["[MASK]"]
    at = [n for n, id_ in enumerate(encoding.input_ids) if id_ == mask]
    return torch.softmax(logits[0, at], dim=-1)


@pytest.mark.parametrize(
    "text", ["the [MASK] sat", "[MASK]", "[MASK] cat [MASK].", "the [MASK][MASK]!"]
)
def test_probabilities_equal_a_direct_softmax(tiny_engine: Engine, text: str) -> None:
    result = fill_mask(tiny_engine, text, top_k=7)
    expected = direct(tiny_engine, text)
    assert len(result.slots) == len(expected) == text.count("[MASK]")
    for slot, row in zip(result.slots, expected, strict=True):
        best = torch.topk(row, 7)
        assert [c.id for c in slot.candidates] == best.indices.tolist()
        assert [c.probability for c in slot.candidates] == pytest.approx(
            best.values.tolist(), rel=1e-4
        )
        assert [c.rank for c in slot.candidates] == list(range(1, 8))
        assert slot.entropy == pytest.approx(-float((row * row.log2()).sum()), rel=1e-4)
        assert text[slot.start : slot.end] == "[MASK]"


def test_a_named_word_has_its_probability_and_rank(tiny_engine: Engine) -> None:
    result = fill_mask(tiny_engine, "the [MASK] sat", word=" Cat ")
    row = direct(tiny_engine, "the [MASK] sat")[0]
    cat = tiny_engine.tokenizer.vocab["cat"]
    named = result.slots[0].named
    assert named is not None
    assert (named.token, named.id) == ("cat", cat)
    assert named.probability == pytest.approx(float(row[cat]), rel=1e-4)
    assert named.rank == int((row > row[cat]).sum()) + 1
    assert result.note == ""


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("playing", "2 pieces"),
        ("the cat", "2 pieces"),
        ("Ω", "cannot spell"),
        ("b" * 101, "cannot"),
    ],
)
def test_a_word_that_no_single_mask_can_hold_gets_a_sentence(
    tiny_engine: Engine, word: str, told: str
) -> None:
    result = fill_mask(tiny_engine, "the [MASK] sat", word=word)
    assert told in result.note
    assert result.slots[0].named is None


@pytest.mark.parametrize("word", ["", "  ", "\x00"])
def test_no_word_named_is_no_complaint(tiny_engine: Engine, word: str) -> None:
    assert fill_mask(tiny_engine, "the [MASK] sat", word=word).note == ""


def test_a_text_without_a_mask_has_words_but_no_slots(tiny_engine: Engine) -> None:
    result = fill_mask(tiny_engine, "The cat, the dog.")
    assert result.slots == ()
    assert [word.text for word in result.words] == ["The", "cat", ",", "the", "dog", "."]
    assert view.sentence(result).markup == ""


def test_the_word_that_was_picked_is_hidden_and_no_other(tiny_engine: Engine) -> None:
    result = fill_mask(tiny_engine, "the cat saw the cat")
    assert mask_word(result.text, result.words[3]) == "the cat saw [MASK] cat"
    assert mask_word(result.text, result.words[4]) == "the cat saw the [MASK]"
    assert mask_word(result.text, result.words[0]) == "[MASK] cat saw the cat"


def test_every_word_of_a_nasty_text_can_be_hidden(tiny_engine: Engine, nasty: str) -> None:
    result = fill_mask(tiny_engine, nasty)
    for word in result.words:
        hidden = mask_word(nasty, word)
        assert hidden == nasty[: word.start] + "[MASK]" + nasty[word.end :]
        assert word.text == nasty[word.start : word.end]
    already = sum(word.masked for word in result.words)
    assert already == len(result.slots) == nasty.count("[MASK]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("we sat", "we sat [MASK]."),
        ("who?", "who [MASK]?"),
        (".", "[MASK]."),
        (" a ! ", "a [MASK]!"),
    ],
)
def test_a_mask_can_be_put_at_the_end(tiny_engine: Engine, text: str, expected: str) -> None:
    assert mask_at_end(text) == expected
    assert len(fill_mask(tiny_engine, mask_at_end(text)).slots) == 1


def test_the_filled_text_is_the_text_with_the_best_words(tiny_engine: Engine) -> None:
    result = fill_mask(tiny_engine, "A [MASK] and [MASK].", top_k=1)
    assert [number for _, number in result.filled] == [0, 1, 0, 2, 0]
    rest = "".join(text for text, number in result.filled if not number)
    assert rest.replace(" ", "") == "Aand."
    for slot in result.slots:
        token = slot.candidates[0].token
        assert (token.removeprefix("##") or token, slot.number) in result.filled


def test_long_texts_are_read_in_windows_and_lose_no_mask(tiny_engine: Engine) -> None:
    text = "[MASK] " + "cat " * 100 + "[MASK] " + "dog " * 100 + "[MASK]"
    result = fill_mask(tiny_engine, text)
    assert len(result.slots) == 3
    assert result.tokens == 205
    assert result.read == tiny_engine.max_length
    for slot in result.slots:
        assert text[slot.start : slot.end] == "[MASK]"
    assert "205 tokens" in view.window(result).markup


def test_a_mask_is_read_in_the_window_that_shows_most_around_it(tiny_engine: Engine) -> None:
    text = "cat " * 100 + "[MASK] " + "dog " * 100
    best = fill_mask(tiny_engine, text).slots[0].candidates[0]
    mask, width = tiny_engine.tokenizer.vocab["[MASK]"], tiny_engine.max_length
    answers = {}
    for window in tiny_engine.tokenizer.encode_windows(text, max_length=width, stride=width // 2):
        if mask in window.input_ids:
            at = window.input_ids.index(mask)
            row = torch.softmax(tiny_engine.scores_at(window, [at])[0], dim=-1)
            answers[min(at, len(window.input_ids) - 1 - at)] = row
    assert len(answers) > 1
    assert best.probability == pytest.approx(float(answers[max(answers)].max()), rel=1e-4)
    assert max(answers) >= width // 4 - 2


def test_a_text_that_fits_is_read_whole(tiny_engine: Engine) -> None:
    result = fill_mask(tiny_engine, "the [MASK]" + " cat" * 44)
    assert result.tokens == result.read == 48
    assert view.window(result).markup == ""


def test_what_cannot_be_filled_is_refused_with_numbers(tiny_engine: Engine) -> None:
    with pytest.raises(InputError, match="empty"):
        fill_mask(tiny_engine, " \n")
    with pytest.raises(InputError, match=r"21 masks.*at most 20"):
        fill_mask(tiny_engine, "[MASK] " * 21)
    for top_k in (0, 101):
        with pytest.raises(InputError, match=f"top_k={top_k}"):
            fill_mask(tiny_engine, "[MASK]", top_k=top_k)


def test_a_vocabulary_without_masks_is_told(tiny_folder: Path, tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((tiny_folder / name).read_bytes())
    pieces = (tiny_folder / "vocab.txt").read_text(encoding="utf-8").replace("[MASK]", "[LOST]")
    (tmp_path / "vocab.txt").write_text(pieces, encoding="utf-8")
    with pytest.raises(InputError, match=r"no \[MASK\]"):
        fill_mask(Engine(str(tmp_path)), "the [MASK]")


def test_more_candidates_than_the_vocabulary_has_are_all_of_it(tiny_engine: Engine) -> None:
    slot = fill_mask(tiny_engine, "[MASK]", top_k=100).slots[0]
    assert len(slot.candidates) == tiny_engine.provenance.vocabulary
    assert math.fsum(c.probability for c in slot.candidates) == pytest.approx(1, abs=1e-5)


@pytest.fixture
def result(tiny_engine: Engine) -> FillMaskResult:
    return fill_mask(tiny_engine, "the [MASK] sat on <b>[MASK]</b>", top_k=3, word="mat")


def test_bars_show_the_numbers_of_the_table(result: FillMaskResult) -> None:
    for slot in result.slots:
        bar = view.probability_bars(slot).data[0]
        frame = view.candidates_table(slot)
        assert list(bar.x) == list(frame["probability"])
        assert list(bar.text) == list(frame["percent"])
        assert slot.named is not None
        assert slot.named.id in set(frame["id"])
        assert list(bar.marker.pattern.shape).count("/") == 1


def test_the_bar_of_the_named_word_is_orange_and_hatched_and_all_others_are_blue(
    result: FillMaskResult,
) -> None:
    blue, orange = "#0072B2", "#E69F00"
    for slot in result.slots:
        fig = view.probability_bars(slot)
        (bar,) = fig.data
        looks = list(zip(bar.marker.color, bar.marker.pattern.shape, strict=True))
        own = [label.endswith(". mat") for label in fig.layout.yaxis.ticktext]
        assert own.count(True) == 1
        assert looks == [(orange, "/") if each else (blue, "") for each in own]


def test_the_best_candidate_is_on_top_and_the_axis_holds_the_longest_bar(
    result: FillMaskResult,
) -> None:
    for slot in result.slots:
        fig = view.probability_bars(slot)
        assert fig.layout.yaxis.autorange == "reversed"
        assert list(fig.data[0].y) == list(fig.layout.yaxis.tickvals) == [0, 1, 2, 3]
        tokens = [label.partition(". ")[2] for label in fig.layout.yaxis.ticktext]
        assert tokens == view.candidates_table(slot)["piece"].tolist()
        low, high = fig.layout.xaxis.range
        assert low == 0 and max(fig.data[0].x) <= high <= 3 * max(fig.data[0].x)


def test_a_mask_is_named_by_the_words_next_to_it(tiny_engine: Engine) -> None:
    text = "a dog sat on the mat by the river [MASK] the bank and the cat sat on a dog"
    (slot,) = fill_mask(tiny_engine, text).slots
    named = view.slot_title(slot, alone=False).markup
    assert "the river <b>▁▁</b> the bank" in named
    assert "a dog sat" not in named and "a dog<" not in named


def test_the_named_word_is_none_of_the_words_shown(result: FillMaskResult) -> None:
    for slot in result.slots:
        assert slot.named is not None and slot.named not in slot.candidates
        grand = replace(slot, named=replace(slot.named, probability=0.5))
        assert view.certainty(grand) == view.certainty(slot)
        shown = sum(candidate.probability for candidate in slot.candidates)
        assert f"hold {view.percent(shown)} of all" in view.certainty(slot).markup


def test_the_number_behind_a_full_bar_has_room_on_a_phone(result: FillMaskResult) -> None:
    layout = view.probability_bars(result.slots[0]).layout
    assert layout.margin.r >= 60  # "39.4 %" at 16 pixels, with its distance from the bar
    assert layout.xaxis.range[1] >= max(c.probability for c in result.slots[0].candidates)


def test_the_words_for_the_bars_name_the_best_candidate(result: FillMaskResult) -> None:
    said = view.describe(result.slots[0])
    assert result.slots[0].candidates[0].token in said
    assert "mat has rank" in said


def test_markup_in_the_text_stays_text(result: FillMaskResult) -> None:
    drawings = [view.sentence(result), view.slot_title(result.slots[1], alone=False)]
    for drawing in drawings:
        assert "&lt;b&gt;" in drawing.markup
        assert "<b>[" not in drawing.markup


def test_chart_labels_escape_pieces_that_look_like_markup(tiny_engine: Engine) -> None:
    slot = fill_mask(tiny_engine, "[MASK]", top_k=100).slots[0]
    labels = view.probability_bars(slot).layout.yaxis.ticktext
    assert any("&lt;" in label for label in labels)
    assert not any("<" in label for label in labels)


def test_several_masks_are_called_independent(tiny_engine: Engine, result: FillMaskResult) -> None:
    assert "guessed alone" in view.several(result).markup
    assert view.several(fill_mask(tiny_engine, "[MASK]")).markup == ""
