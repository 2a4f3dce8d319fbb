"""The tokenizer page with byte-level BPE and Unigram."""

from collections.abc import Callable

import pytest

from app.declared import declared
from app.declared.answers import answer
from app.engine.models import Engine
from app.faces.paper.answers import written
from app.features.tokenizer import view, view_compare, view_input, view_vocabulary
from app.features.tokenizer.task import tokenizer
from app.features.tokenizer.task_compare import compare, other_models
from app.features.tokenizer.task_vocabulary import look_up
from app.settings import BUNDLED_MODEL
from bert_core.errors import InputError
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


def test_a_terminal_and_a_saved_page_have_the_steps(family: Engine) -> None:
    found = written(answer(declared("tokenizer"), family, {"text": "the weather"}))
    assert "pieces and ids" in found.text() and "pieces and ids" in found.html().decode()


def test_the_snippet_prints_the_tokens_of_the_page(family: Engine) -> None:
    result = tokenizer(family, "The cat", "a dog")
    _, said = ran(view.snippet(result, str(family._folder)))
    printed = [row.split()[:2] for row in said.splitlines()]
    assert printed == [[piece.token, str(piece.id)] for piece in result.pieces()]
