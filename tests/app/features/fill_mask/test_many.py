"""Many gaps with the words that are wanted, and two sentences beside each other."""

import math

import pytest

from app.engine.models import Engine
from app.features.fill_mask import view_lines, view_sentences
from app.features.fill_mask.task import fill_mask
from app.features.fill_mask.task_lines import fill_mask_lines
from app.features.fill_mask.task_sentences import fill_mask_sentences
from app.features.fill_mask.task_surprise import fill_mask_surprise
from app.words.screen import Rows, Table
from bert_core.errors import InputError

SENTENCES = "the ___ sat.\tcat\n\na [MASK] on the [MASK] | dog | mat, river\nthe cat [MASK]"


def test_every_gap_has_the_numbers_of_the_page(tiny_engine: Engine) -> None:
    told: list[tuple[int, int]] = []
    result = fill_mask_lines(tiny_engine, SENTENCES, lambda *step: told.append(step))
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert [(row.line, row.number) for row in result.rows] == [(1, 1), (3, 1), (3, 2), (4, 1)]
    assert result.rows[0].text == "the [MASK] sat."
    for row, words in zip(result.rows, (["cat"], ["dog", "mat"], ["river"], []), strict=True):
        slots = [fill_mask(tiny_engine, row.text, word=word).slots for word in words or [""]]
        best = slots[0][row.number - 1].candidates[0]
        assert (row.guess, row.probability) == (best.token, pytest.approx(best.probability))
        named = [each[row.number - 1].named for each in slots]
        ranks = {each.rank: each.probability for each in named if each}
        assert row.rank == min(ranks, default=None)
        if row.rank:
            assert row.wanted_probability == pytest.approx(ranks[row.rank])


def test_right_guesses_are_counted_and_others_are_told(tiny_engine: Engine) -> None:
    best = fill_mask(tiny_engine, "the [MASK] sat").slots[0].candidates[0].token
    lines = f"the [MASK] sat | {best}\nthe [MASK] sat | mat | {best}\na [MASK] | playing\na [MASK]"
    wrong = fill_mask(tiny_engine, "a [MASK]", top_k=2).slots[0].candidates[1].token
    result = fill_mask_lines(tiny_engine, f"{lines}\na [MASK] | {wrong}")
    assert [row.right for row in result.rows] == [True, True, None, None, False]
    assert (result.share.right, result.share.cases) == (2, 3)
    assert result.reliability and result.reliability.cases == 3
    said = view_lines.gaps_summary(result)
    assert (
        "66.7 % of the first guesses are right: 2 of 3; others of the kind: 21 % to 94 %." in said
    )
    assert "1 gap whose wanted word is not one piece" in said
    assert "Without a wanted word: 1 gap." in said
    parts = view_lines.screen(result).parts
    table, rows = (next(p for p in parts if isinstance(p, kind)) for kind in (Table, Rows))
    assert list(rows.make()["right"]) == ["yes", "yes", "–", "–", "no"] and table.alt == said
    unasked = fill_mask_lines(tiny_engine, "a [MASK]")
    assert unasked.reliability is None and unasked.share.cases == 0
    assert len(view_lines.screen(unasked).parts) == 2


@pytest.mark.parametrize(
    ("gaps", "told"),
    [
        ("", "Found 0 sentences; expected 1 to 500"),
        ("[MASK]\n" * 501, "Found 501 sentences"),
        (f"{'[MASK] ' * 20}\n" * 26, "more than 500 gaps by line 26"),
        ("a [MASK]\n\nthe cat | cat", "Line 3 has no gap"),
        ("a [MASK] | cat, dog", "Line 1 has 1 gap and 2 wanted words"),
        ("[MASK] [MASK] | cat", "Line 1 has 2 gaps and 1 wanted word;"),
    ],
)
def test_lines_that_cannot_be_filled_are_refused(tiny_engine: Engine, gaps: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        fill_mask_lines(tiny_engine, gaps)


def test_who_cancels_waits_for_no_further_line(tiny_engine: Engine) -> None:
    told: list[int] = []

    def stop(done: int, _: int) -> None:
        told.append(done)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill_mask_lines(tiny_engine, "[MASK] cat\n[MASK] dog", stop)
    assert told == [1]


def test_a_sentence_has_the_score_of_its_pieces(tiny_engine: Engine) -> None:
    texts = "the cat sat on the ___", "a dog is playing"
    result = fill_mask_sentences(tiny_engine, *texts)
    for each, text in zip(result.sentences, texts, strict=True):
        pieces = fill_mask_surprise(tiny_engine, text).pieces
        total = sum(math.log(piece.probability) for piece in pieces)
        assert each.score == pytest.approx(total, rel=1e-5)
        assert each.per_piece == pytest.approx(total / len(pieces), rel=1e-5)
    first, second = result.sentences
    assert first.slots == fill_mask(tiny_engine, texts[0]).slots and second.slots == ()
    rows = view_sentences.rows(result)
    assert [row.place for row in rows[:4]] == [
        "Score, nats",
        "Per piece",
        "Pieces",
        "Gap 1, guess 1",
    ]
    assert [row.first.text for row in rows[3:]] == [c.token for c in first.slots[0].candidates]
    assert {row.second.text for row in rows[3:]} == {""}
    more = "first" if first.score > second.score else "second"
    assert f"expects the {more} sentence more" in view_sentences.summary(result)
    turned = (first.score > second.score) != (first.per_piece > second.per_piece)
    assert turned == ("other way round" in view_sentences.summary(result))


def test_a_sentence_beside_itself_is_expected_alike(tiny_engine: Engine) -> None:
    result = fill_mask_sentences(tiny_engine, "the [MASK] sat", "the [MASK] sat")
    assert "expects both sentences alike" in view_sentences.summary(result)
    assert not any(row.differs for row in view_sentences.rows(result))
    names = [getattr(part, "name", "") for part in view_sentences.screen(result).parts]
    assert {"fill-mask-surprise-1", "fill-mask-surprise-2", "fill-mask-sentences"} < set(names)


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (("", "a cat"), "The first sentence is empty"),
        (("a cat", "cat " * 140), "The second sentence has 142 tokens; this page scores at most"),
        (("a cat", "[MASK]"), "nothing but masks"),
    ],
)
def test_sentences_that_cannot_be_scored_are_refused(
    tiny_engine: Engine, texts: tuple[str, str], told: str
) -> None:
    with pytest.raises(InputError, match=told):
        fill_mask_sentences(tiny_engine, *texts)
