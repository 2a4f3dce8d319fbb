"""Fill-mask: the numbers are the model's own, and the right word is hidden."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from app.engine.models import Engine
from app.features.fill_mask import view as view
from app.features.fill_mask.result import FillMaskResult, mask_word
from app.features.fill_mask.task import fill_mask, mask_at_end
from app.words.html import join
from app.words.notes import gaps_note
from app.words.pictures import linked
from bert_core import BertForMaskedLM
from bert_core.errors import InputError
from tests.drawings import Element, elements
from tests.snippets import ran


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


@pytest.mark.parametrize("word", ["playing", "the cat", "mated"])
def test_a_word_of_several_pieces_gets_as_many_masks(tiny_engine: Engine, word: str) -> None:
    tokenizer = tiny_engine.tokenizer
    result = fill_mask(tiny_engine, "the [MASK] sat [MASK]", word=word)
    assert result.note == ""
    pieces = tokenizer.tokenize(word)
    for slot in result.slots:
        assert slot.named is None and slot.spelled is not None
        assert list(slot.spelled.pieces) == pieces
        expected = 1.0
        for done, piece in enumerate(pieces):
            gap = pieces[:done] + ["[MASK]"] * (len(pieces) - done)
            tokens = ["[CLS]", "the", "[MASK]", "sat", "[MASK]", "[SEP]"]
            tokens[slot.position : slot.position + 1] = gap
            ids = torch.tensor([tokenizer.convert_tokens_to_ids(tokens)])
            at = torch.tensor([[slot.position + done]])
            row = torch.softmax(tiny_engine.score_rows(ids, at)[0, 0], dim=-1)
            share = float(row[tokenizer.vocab[piece]])
            assert slot.spelled.probabilities[done] == pytest.approx(share, rel=1e-4)
            expected *= share
        assert slot.spelled.probability == pytest.approx(expected, rel=1e-4)
        said = view.named_word(slot, result.vocabulary).markup.replace("\xa0", " ")
        assert f"if the gap has {len(pieces)} masks" in said
        assert view.chance(slot.spelled.probability).replace("<", "&lt;") in said


@pytest.mark.parametrize(
    ("word", "told"), [("Ω", "cannot spell"), ("b" * 101, "cannot"), ("x" * 13, "13 pieces")]
)
def test_a_word_that_no_gap_can_hold_gets_a_sentence(
    tiny_engine: Engine, word: str, told: str
) -> None:
    result = fill_mask(tiny_engine, "the [MASK] sat", word=word)
    assert told in result.note
    assert result.slots[0].named is result.slots[0].spelled is None


def test_a_word_that_would_cost_too_much_gets_a_sentence(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "[MASK] [MASK] sat"  # 5 tokens; two pieces in two gaps read them four times
    monkeypatch.setattr("app.features.fill_mask.task._MAX_TOKENS", 20)
    assert fill_mask(tiny_engine, text, word="playing").note == ""
    monkeypatch.setattr("app.features.fill_mask.task._MAX_TOKENS", 19)
    assert "read 20 tokens" in fill_mask(tiny_engine, text, word="playing").note
    assert fill_mask(tiny_engine, text, word="cat").note == ""


@pytest.mark.parametrize(
    ("text", "read", "signs"),
    [
        ("the ___ sat", "the [MASK] sat", ("___",)),
        ("<mask>, [mask], ____", "[MASK], [MASK], [MASK]", ("<mask>", "[mask]", "____")),
        ("[ MASK ] <MASK>", "[MASK] [MASK]", ("[ MASK ]", "<MASK>")),
        ("snake_case __init__ [MASK] mask", "snake_case __init__ [MASK] mask", ()),
    ],
)  # fmt: skip
def test_other_signs_of_a_gap_are_read_as_masks_and_named(
    tiny_engine: Engine, text: str, read: str, signs: tuple[str, ...]
) -> None:
    result = fill_mask(tiny_engine, text)
    assert (result.text, result.read_as) == (read, signs)
    assert len(result.slots) == read.count("[MASK]")
    said = gaps_note(result.read_as)
    assert [each.text for each in elements(said, "code")][1:] == list(signs)
    assert bool(said.markup) == bool(signs)


def test_the_word_that_was_picked_is_hidden_and_no_other(tiny_engine: Engine) -> None:
    result = fill_mask(tiny_engine, "the cat saw the cat")
    assert mask_word(result.text, result.words[3]) == "the cat saw [MASK] cat"
    assert mask_word(result.text, result.words[4]) == "the cat saw the [MASK]"
    assert mask_word(result.text, result.words[0]) == "[MASK] cat saw the cat"


def test_every_word_of_a_nasty_text_can_be_hidden(tiny_engine: Engine, nasty: str) -> None:
    result = fill_mask(tiny_engine, nasty)
    text = result.text
    for word in result.words:
        assert mask_word(text, word) == text[: word.start] + "[MASK]" + text[word.end :]
        assert word.text == text[word.start : word.end]
    already = sum(word.masked for word in result.words)
    assert already == len(result.slots) == text.count("[MASK]")
    drawn = view.sentence(result, range(len(result.words)), attend=True)
    stops = [
        each.attributes.get("tabindex")
        for each in elements(drawn, "span") + elements(drawn, "mark")
    ]
    assert stops.count("0") == min(1, len(result.words))
    assert "<script" not in drawn.markup and "<img" not in drawn.markup


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


def test_long_texts_are_read_in_windows_and_lose_no_mask(tiny_engine: Engine) -> None:
    text = "[MASK] " + "cat " * 100 + "[MASK] " + "dog " * 100 + "[MASK]"
    result = fill_mask(tiny_engine, text)
    assert len(result.slots) == 3
    assert result.tokens == 205
    assert result.read == tiny_engine.max_length
    for slot in result.slots:
        assert text[slot.start : slot.end] == "[MASK]"
    assert "205 tokens" in view.window(result).markup


def test_what_cannot_be_filled_is_refused_with_numbers(tiny_engine: Engine) -> None:
    with pytest.raises(InputError, match="empty"):
        fill_mask(tiny_engine, " \n")
    with pytest.raises(InputError, match=r"21 masks.*at most 20"):
        fill_mask(tiny_engine, "[MASK] " * 21)


def test_a_vocabulary_without_masks_is_told(tiny_folder: Path, tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((tiny_folder / name).read_bytes())
    pieces = (tiny_folder / "vocab.txt").read_text(encoding="utf-8").replace("[MASK]", "[LOST]")
    (tmp_path / "vocab.txt").write_text(pieces, encoding="utf-8")
    with pytest.raises(InputError, match=r"no \[MASK\]"):
        fill_mask(Engine(str(tmp_path)), "the [MASK]")


@pytest.fixture
def result(tiny_engine: Engine) -> FillMaskResult:
    return fill_mask(tiny_engine, "the [MASK] sat on <b>[MASK]</b>", top_k=3, word="mat")


def drawn_bars(result: FillMaskResult, number: int) -> list[Element]:
    slot = result.slots[number]
    return elements(view.candidates(slot, 1.0).wide, "rect")


def test_bars_show_the_numbers_of_the_table_on_one_axis(result: FillMaskResult) -> None:
    ratios = []
    for number, slot in enumerate(result.slots):
        frame = view.candidates(slot, 1.0).table
        lengths = [bar.number("width") for bar in drawn_bars(result, number)]
        shares = frame["probability"].tolist()
        ratios += [w / p for w, p in zip(lengths, shares, strict=True) if w > 2]
        assert slot.named is not None and slot.named.id in set(frame["id"])
        drawn = view.candidates(slot, 1.0).wide
        shown = [each.text.replace("\xa0", " ") for each in elements(drawn, "text")]
        assert shown[1::2] == frame["percent"].tolist()
        assert [name.partition(". ")[2] for name in shown[::2]] == frame["piece"].tolist()
    assert len(ratios) > 3 and ratios == pytest.approx([ratios[0]] * len(ratios), rel=0.01)


def test_the_bar_of_the_named_word_and_no_other_is_marked(result: FillMaskResult) -> None:
    for number, slot in enumerate(result.slots):
        own = [token == "mat" for token in view.candidates(slot, 1.0).table["piece"]]
        assert own.count(True) == 1
        marked = [bar.attributes["class"] == "bx-svg-mark" for bar in drawn_bars(result, number)]
        assert marked == own


def test_a_click_on_a_word_hides_it_and_on_a_filled_gap_opens_its_attention(
    result: FillMaskResult,
) -> None:
    everything = range(len(result.words))
    drawn = view.sentence(result, everything, attend=True)
    hides = elements(drawn, "span", "bx-word")
    plain = [n for n, word in enumerate(result.words) if not word.masked]
    assert [each.number("data-value") for each in hides] == plain
    assert {each.attributes["data-pick"] for each in hides} == {"hide"}
    gaps = elements(drawn, "mark")
    assert [(each.attributes["data-pick"], each.attributes["data-value"]) for each in gaps] == [
        ("attend", "0"),
        ("attend", "1"),
    ]
    for still in (view.sentence(result, everything), view.sentence(result, range(0), attend=True)):
        assert all("data-pick" not in each.attributes for each in elements(still, "mark"))


def test_words_gaps_and_rows_light_up_together(result: FillMaskResult) -> None:
    drawn = view.sentence(result, range(0))
    links = [each.attributes["data-at"] for each in elements(drawn, "span")]
    plain = [word for word in result.words if not word.masked]
    assert links == [linked(word.pieces) for word in plain]
    gaps = [each.attributes["data-at"] for each in elements(drawn, "mark")]
    assert gaps == [linked([slot.position]) for slot in result.slots]
    for slot, gap in zip(result.slots, gaps, strict=True):
        assert set(view.candidates(slot, 1.0).table["at"]) == {gap}


@pytest.mark.parametrize(
    "text", ["the [MASK] sat on {x} 'a' \"b\" [MASK]", "[MASK] " + "cat " * 70 + "[MASK] dog"]
)
def test_the_snippet_computes_what_the_page_shows(
    tiny_engine: Engine, tiny_folder: Path, text: str
) -> None:
    result = replace(fill_mask(tiny_engine, text, top_k=4), model=str(tiny_folder))
    rows = [line.split(" ") for line in ran(view.snippet(result, result.model))[1].splitlines()]
    shown = [c for slot in result.slots for c in slot.candidates]
    assert [token for token, _ in rows] == [c.token for c in shown]
    assert [float(share) for _, share in rows] == pytest.approx(
        [c.probability for c in shown], rel=1e-4
    )


def test_words_in_another_order_are_read_and_named_and_gaps_stay(tiny_engine: Engine) -> None:
    text = "the cat [MASK] on the river ___."
    plain, mixed = (fill_mask(tiny_engine, text, shuffle=order) for order in (0, 3))
    assert plain.text == "the cat [MASK] on the river [MASK]." and plain.shuffle == 0
    assert mixed.text != plain.text and mixed.text.endswith(" [MASK].")
    assert sorted(mixed.text.split()) == sorted(plain.text.split())
    assert mixed.text.split().index("[MASK]") == 2
    assert mixed.slots == fill_mask(tiny_engine, mixed.text).slots != plain.slots
    said = str(join(*view.screen(mixed).first))
    assert f'<q dir="auto">{mixed.text}</q>' in said and "number 3" in said
    assert "another order" not in str(join(*view.screen(plain).first))
    hidden = view.screen(mixed, "name").clicks["hide"](0)
    assert hidden == {"text": mask_word(mixed.text, mixed.words[0]), "mixed": 0}
