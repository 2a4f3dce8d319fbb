"""The tokenizer page with byte-level BPE and Unigram."""

import json
import re
from collections.abc import Callable

import pytest

from app.declared import declared
from app.declared.answers import answer
from app.engine.models import Engine
from app.faces.paper.answers import written
from app.faces.paper.json import as_json, keys
from app.features.tokenizer import view, view_compare, view_input, view_steps, view_vocabulary
from app.features.tokenizer.result import FamilyResult, TokenizerResult
from app.features.tokenizer.task import tokenizer
from app.features.tokenizer.task_compare import compare, other_models
from app.features.tokenizer.task_vocabulary import look_up
from app.features.tokenizer.view_cuts import cuts_table
from app.settings import BUNDLED_MODEL
from app.words.pictures import listed
from bert_core.errors import InputError
from bert_core.text.replay import LONGEST, BpeWord, UnigramWord
from tests.drawings import elements, words
from tests.snippets import ran

CLOVER = "a \N{FOUR LEAF CLOVER} cat"


def test_a_sign_of_several_bytes_is_one_place_of_the_text(engines: Callable[[str], Engine]) -> None:
    result = tokenizer(engines("roberta"), CLOVER)
    clover = [piece for piece in result.pieces() if piece.source == CLOVER[2]]
    assert len(clover) > 1 and {(piece.start, piece.end) for piece in clover} == {(2, 3)}
    drawn = elements(view.coloured(result, limit=99), "span", "bx-piece")
    (shown,) = [each for each in drawn if each.text == CLOVER[2]]
    lit = shown.attributes["data-at"].split()  # and the space before it, if that is a piece
    assert lit[-len(clover) :] == [f"0.{piece.position}" for piece in clover]
    for piece in clover:
        assert f"in the file {piece.token} · id {piece.id}" in shown.attributes["title"]


def test_the_mark_of_a_space_alone_is_drawn_with_its_word(
    engines: Callable[[str], Engine],
) -> None:
    result = tokenizer(engines("xlm-roberta"), f"x {CLOVER[2]} y")
    space = next(piece for piece in result.pieces() if piece.token == "\u2581")
    after = result.piece(space.position + 1)
    assert space.start == after.start
    drawn = elements(view.coloured(result, limit=99), "span", "bx-piece")
    (shown,) = [each for each in drawn if each.text == after.source]
    assert shown.attributes["data-at"] == f"0.{space.position} 0.{after.position}"
    assert not after.continues and f"bx-c{after.position % 6}" in shown.attributes["class"].split()
    spaces = tokenizer(engines("roberta"), "a   cat")
    assert {piece.source for piece in spaces.pieces() if not piece.token.strip("Ġ")} == {""}
    assert spaces.words == 2


@pytest.mark.parametrize(("text", "shared"), [(CLOVER, True), ("a cat", False)])
def test_pieces_that_share_a_character_are_announced(
    engines: Callable[[str], Engine], text: str, shared: bool
) -> None:
    for pair in ("", "the dog"):
        drawn = map(str, view.screen(tokenizer(engines("roberta"), text, pair)).parts)
        assert ("read in several parts" in "".join(drawn)) is shared


def test_each_row_of_merges_frames_the_pair_that_is_merged_next(
    engines: Callable[[str], Engine],
) -> None:
    engine = engines("roberta")
    result = tokenizer(engine, "the weather and the children")
    for word in result.replays[0].trace.words:
        assert isinstance(word, BpeWord) and word.merges
        drawn = view_steps.story(word)
        framed = [each.text.strip() for each in elements(drawn, "span", "bx-hit")]
        name = engine.tokenizer.readable
        assert framed == [name(symbol) for merge in word.merges for symbol in merge.pair]
        ranks = [int(n.replace(",", "")) for n in re.findall(r"rank ([\d,]+)", words(drawn))]
        assert ranks == [engine.tokenizer.ranks[merge.pair] for merge in word.merges]
        table = listed(cuts_table(word))
        assert list(table["rank"]) == ranks
        assert table["symbols before"][0] == " ".join(word.symbols)
        last = table.iloc[-1]
        merged = last["symbols before"].replace(f"{last['left']} {last['right']}",
                                                last["left"] + last["right"], 1)  # fmt: skip
        assert merged.split() == list(word.pieces)


def test_the_ways_to_cut_a_word_are_listed_with_their_scores(
    engines: Callable[[str], Engine],
) -> None:
    engine = engines("albert")
    word = tokenizer(engine, "weather").replays[0].trace.words[0]
    assert isinstance(word, UnigramWord)
    table = listed(cuts_table(word))
    assert table["pieces"][0].split() == list(word.pieces)
    for pieces, total, behind in zip(
        table["pieces"], table["sum"], table["to the best"], strict=True
    ):
        assert total == pytest.approx(sum(engine.tokenizer.scores[each] for each in pieces.split()))
        assert behind == pytest.approx(total - table["sum"][0])
    drawn = words(view_steps.story(word))
    assert f"−{-table['sum'][1]:.2f}" in drawn and f"−{-table['to the best'][1]:.2f}" in drawn


def test_a_word_without_steps_says_why(family: Engine) -> None:
    mask = family.tokenizer.mask_token
    result = tokenizer(family, f"{mask} {'ab' * LONGEST} a")
    special, long, short = (view_steps.story(word) for word in result.replays[0].trace.words)
    assert "special token" in words(special)
    assert f"at most {LONGEST}" in words(long) and f"{2 * LONGEST + 1} symbols" in words(long)
    assert "at most" not in words(short)


def test_the_tokens_around_two_texts_are_named_in_their_order(family: Engine) -> None:
    result = tokenizer(family, "a cat", "the dog")
    encoding = family.tokenizer.encode("a cat", "the dog")
    a, b = (encoding.sequence_ids.index(side) for side in (0, 1))
    assert result.firsts == (a, b)
    around = {"[CLS]": "[CLS] A [SEP] B [SEP]", "<s>": "<s> A </s> </s> B </s>"}
    assert result.frame == around[family.tokenizer.cls_token]
    padded = tokenizer(family, "a cat", "the dog", length=40)
    assert f"{result.frame}: 40 positions" in words(view_input.received(padded))
    assert family.tokenizer.pad_token in {padded.received.tokens[0], padded.received.tokens[-1]}


def test_without_another_casing_the_bundled_wordpiece_is_compared(family: Engine) -> None:
    result = tokenizer(family, "the weather, unbelievably")
    found = compare(family, result)
    assert found.theirs.name == BUNDLED_MODEL == other_models(family)[0]
    assert "no other casing" in words(view_compare.verdict(found))
    places: list[dict[int, list[object]]] = [{}, {}]
    for reading, at in zip((found.ours, found.theirs), places, strict=True):
        for part in reading.parts[0]:
            if part.token.strip("\u2581Ġ"):
                at.setdefault(part.stretch, []).append((part.start, part.end))
    for part in (*found.ours.parts[0], *found.theirs.parts[0]):
        assert part.differs == (places[0][part.stretch] != places[1][part.stretch])
    assert {part.differs for part in found.ours.parts[0]} == {True, False}
    with pytest.raises(InputError, match="no switch"):
        tokenizer(family, "cat", cased=family.provenance.lower_case)


def test_entries_are_found_by_either_name(engines: Callable[[str], Engine]) -> None:
    engine = engines("roberta")
    exact = engine.tokenizer.tokenize("a the")[1]
    assert exact == "Ġthe"
    found, same = look_up(engine, exact), look_up(engine, "\u2581the")
    assert (found.found, found.near) == (same.found, same.near)
    assert "(in the file: Ġthe)" in words(view_vocabulary.entry(found))
    names = {engine.tokenizer.readable(each.piece) for each in found.containing}
    assert names and all("the" in name for name in names)
    unigram = look_up(engines("albert"), "\u2581the")
    assert unigram.found is not None
    for each in unigram.one_letter:
        assert each.piece.startswith("\u2581") and abs(len(each.piece) - 4) <= 1


def test_the_json_has_the_steps_of_these_kinds_and_is_the_same_for_bert(
    family: Engine, tiny_engine: Engine
) -> None:
    assert set(keys(FamilyResult)) - set(keys(TokenizerResult)) == {"kind", "cut_words"}
    plain = as_json(tokenizer(tiny_engine, "the cat"))
    assert set(plain) == set(TokenizerResult.ANSWER) and "kind" not in plain
    found = json.loads(json.dumps(as_json(tokenizer(family, "weather")), allow_nan=False))
    (word,) = found["cut_words"]
    assert word["text"] == "weather"
    if found["kind"] == "BPE":
        assert word["merges"] and word["best"] == []
    else:
        assert word["best"][0]["pieces"] == word["pieces"]


def test_a_terminal_and_a_saved_page_have_the_steps(family: Engine) -> None:
    found = written(answer(declared("tokenizer"), family, {"text": "the weather"}))
    word = "rank" if family.tokenizer.kind == "BPE" else "to the best"
    assert word in found.text() and word in found.html().decode()


def test_the_snippet_prints_the_tokens_of_the_page(family: Engine) -> None:
    result = tokenizer(family, "The cat", "a dog")
    _, said = ran(view.snippet(result, str(family._folder)))
    printed = [row.split()[:2] for row in said.splitlines()]
    assert printed == [[piece.token, str(piece.id)] for piece in result.pieces()]
