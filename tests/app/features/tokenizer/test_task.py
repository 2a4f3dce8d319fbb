"""The tokenizer inspector: its task and its drawings."""

import dataclasses
import re
from pathlib import Path

import pytest

from app.engine.models import Engine
from app.features.tokenizer import view as view
from app.features.tokenizer import view_compare, view_input, view_steps, view_vocabulary
from app.features.tokenizer.task import replay, tokenizer
from app.features.tokenizer.task_compare import compare
from app.features.tokenizer.task_vocabulary import look_up
from app.words.html import visible
from app.words.pictures import listed
from bert_core import BertModel
from bert_core.errors import InputError
from tests.conftest import NASTY
from tests.drawings import elements, words
from tests.snippets import ran


def test_every_piece_knows_its_characters(any_engine: Engine, nasty: str) -> None:
    result = tokenizer(any_engine, nasty)
    encoding = any_engine.tokenizer.encode(nasty)
    assert [piece.id for piece in result.pieces()] == encoding.input_ids
    assert [piece.token for piece in result.pieces()] == encoding.tokens
    for piece in result.pieces():
        assert piece.source == ("" if piece.added else nasty[piece.start : piece.end])


def test_the_coloured_text_is_the_text_as_typed(any_engine: Engine, nasty: str) -> None:
    assert words(view.coloured(tokenizer(any_engine, nasty), limit=10_000)) == visible(nasty)


def test_no_drawing_lets_markup_through(any_engine: Engine) -> None:
    nasty = NASTY["script"]
    result = tokenizer(any_engine, nasty, nasty)
    words = view_steps.word_choices(result.replays)
    stories = [view_steps.story(word) for word in words.values()]
    drawings = [
        *view.screen(result).report().drawn(),
        *view_compare.screen(compare(any_engine, result)).report().drawn(),
        view_vocabulary.entry(look_up(any_engine, nasty[:20])),
        *stories,
    ]
    for drawing in drawings:
        assert "<script" not in drawing.markup
        assert "<img" not in drawing.markup


def test_the_replay_ends_in_the_tokenizers_own_pieces(any_engine: Engine, nasty: str) -> None:
    steps = replay(any_engine, nasty)
    told = [piece for word in steps.words for piece in word.pieces]
    assert told == any_engine.tokenizer.tokenize(nasty)
    assert steps.text == nasty or len(nasty) > 1_000


def test_what_a_cut_would_lose_is_marked_and_told(tiny_engine: Engine) -> None:
    text = "cat " * 60
    result = tokenizer(tiny_engine, text)
    lost = [piece for piece in result.pieces() if piece.cut]
    assert len(lost) == 62 - 48
    assert lost[0].start == (48 - 2) * 4
    told = words(view_input.too_long(result))
    assert "Too long by 14 tokens" in told
    assert f"character {lost[0].start} on" in told
    assert 'aria-valuenow="48"' in view_input.length_meter(result).markup


def test_the_other_casing_is_used_and_warned_of(tiny_engine: Engine) -> None:
    result = tokenizer(tiny_engine, "Cat cat", cased=True)
    assert [piece.token for piece in result.pieces()] == ["[CLS]", "[UNK]", "cat", "[SEP]"]
    assert result.unknown == 1
    assert "Not this model's casing" in words(view.casing(result))
    assert view.casing(tokenizer(tiny_engine, "Cat cat")).markup == ""


def test_unknown_words_are_listed_once_with_their_reason(tiny_engine: Engine) -> None:
    replays = [replay(tiny_engine, "Ω cat Ω " + "b" * 101)]
    told = words(view_steps.unknown_words(replays, "[UNK]"))
    assert told.count("Ω") >= 1
    assert told.count("[UNK]") == 2
    assert "101 characters" in told
    assert view_steps.unknown_words([replay(tiny_engine, "the cat")], "[UNK]").markup == ""


def test_the_story_of_a_word_shows_every_failed_look(tiny_engine: Engine) -> None:
    steps = replay(tiny_engine, "played")
    told = words(view_steps.story(steps.words[0]))
    for tried in ("played ✗", "playe ✗", "play ✓", "##ed ✓"):
        assert tried in told


def test_a_long_text_is_replayed_from_its_beginning_and_that_is_said(tiny_engine: Engine) -> None:
    steps = replay(tiny_engine, "the cat sat " * 200)
    assert len(steps.text) <= 1_000
    assert not steps.text.endswith(" ca")
    assert "first 99" in words(
        view_steps.stages(tokenizer(tiny_engine, "the cat sat " * 200), [steps])
    )


def links(markup: str) -> list[str]:
    return re.findall(r'data-at="(.*?)"', markup)


def test_text_words_characters_and_rows_share_the_keys_of_their_pieces(tiny_engine: Engine) -> None:
    result = tokenizer(tiny_engine, "½ played", "a cat")
    own = [f"0.{piece.position}" for piece in result.pieces() if not piece.added]
    text = links(view.coloured(result, limit=99).markup)
    assert sorted(key for keys in text for key in keys.split()) == sorted(own)
    replays = [replay(tiny_engine, each) for each in result.texts]
    steps = view_steps.stages(result, replays).markup
    chips = [links(chip)[0] for chip in re.findall(r"<span [^>]*bx-tok-word[^>]*>", steps)]
    assert [key for keys in chips for key in keys.split()] == own
    assert sorted(len(keys.split()) for keys in chips)[-1] == 2  # play ##ed
    table = listed(view_input.input_table(result))
    assert list(table["at"]) == [f"0.{n}" for n in range(len(result.columns))]
    assert set(links(view_input.received(result).markup)) == set(table["at"])


def test_a_character_is_linked_to_every_piece_made_from_it(tiny_engine: Engine) -> None:
    result = tokenizer(tiny_engine, "the played")
    steps = view_steps.stages(result, [replay(tiny_engine, "the played")]).markup
    typed = steps.partition("<code")[2].partition("</code>")[0]
    found = re.findall(r'<span(?: data-at="(.*?)")?>(.)</span>', typed)
    assert "".join(character for _, character in found) == "the played"
    assert [keys for keys, _ in found] == ["0.1"] * 3 + [""] + ["0.2"] * 4 + ["0.3"] * 2


def test_the_input_is_padded_to_the_chosen_length_and_the_mask_says_so(tiny_engine: Engine) -> None:
    given = tokenizer(tiny_engine, "the cat", "a dog", length=10).received
    assert given.tokens[-3:] == ("[PAD]",) * 3
    assert given.mask == (1,) * 7 + (0,) * 3
    assert given.segments == (0,) * 4 + (1,) * 3 + (0,) * 3
    assert given.places == (*range(7), None, None, None)
    assert tokenizer(tiny_engine, "the cat", "a dog", length=3).received.mask == (1,) * 7
    longest = tokenizer(tiny_engine, "the cat", length=999)
    assert len(longest.received.ids) == tiny_engine.max_length
    drawn = elements(view_input.received(tokenizer(tiny_engine, "cat", length=4)), "li")[1:]
    cat = tiny_engine.tokenizer.vocab["cat"]
    assert [each.text for each in drawn] == ["[CLS] 2 0 1", f"cat {cat} 0 1", "[SEP] 3 0 1",
                                             "[PAD] 0 0 0"]  # fmt: skip


def test_a_long_pair_is_cut_as_the_model_gets_it(any_engine: Engine) -> None:
    result = tokenizer(any_engine, "cat " * 60, "dog mat")
    given = result.received
    whole = any_engine.tokenizer.encode("cat " * 60, "dog mat", max_length=48)
    assert list(given.ids) == whole.input_ids
    assert [result.piece(place or 0).token for place in given.places] == whole.tokens
    lost = result.first_lost(0)
    assert lost is not None and lost.position - result.firsts[0] == result.cut.kept[0]


def test_the_same_tokenizer_differs_nowhere(
    tiny_engine: Engine, tiny_model: Path, nasty: str
) -> None:
    result = tokenizer(tiny_engine, nasty)
    name = tiny_model.name
    found = compare(tiny_engine, result, name)
    assert not any(found.stretches.values())
    assert [part.id for part in found.ours.parts[0]] == [part.id for part in found.theirs.parts[0]]
    assert "into the same pieces" in words(view_compare.verdict(found))


def test_differences_between_casings_are_marked_on_both_sides(tiny_engine: Engine) -> None:
    result = tokenizer(tiny_engine, "The cat Played")
    found = compare(tiny_engine, result)
    assert [(p.token, p.differs) for p in found.ours.parts[0]] == [
        ("the", True), ("cat", False), ("play", True), ("##ed", True),
    ]  # fmt: skip
    assert [(p.token, p.differs) for p in found.theirs.parts[0]] == [
        ("[UNK]", True), ("cat", False), ("[UNK]", True),
    ]  # fmt: skip
    drawn = str(view_compare.screen(found).parts[0])
    assert drawn.count("<sup>≠</sup>") == 4
    assert drawn.count("bx-tok-same") == 2
    rows = [re.findall("<td>(.*?)</td>", row) for row in re.findall("<tr.*?</tr>", drawn)]
    assert [row[0] for row in rows if row] == ["The", "Played"]
    assert rows[-1][1].startswith("play (") and "##ed (" in rows[-1][1]
    assert "2 of 3 stretches" in words(view_compare.verdict(found))


def test_neighbours_by_spelling_are_entries_one_letter_away_or_longer(tiny_engine: Engine) -> None:
    found = look_up(tiny_engine, "cat")
    assert found.found is not None and found.found.piece == "cat"
    assert {each.piece for each in found.one_letter} == {"mat", "sat"}
    assert found.containing == ()
    at = look_up(tiny_engine, "a")
    assert {"cat", "mat", "sat", "bank", "play"} <= {each.piece for each in at.containing}
    assert at.containing_all == len([p for p in tiny_engine.tokenizer.vocab if "a" in p]) - 1


def test_neighbours_by_embedding_have_the_largest_cosines(tiny_engine: Engine) -> None:
    found = look_up(tiny_engine, "Cat")
    assert found.found is not None
    table = tiny_engine.model(BertModel).embeddings.word_embeddings.weight.detach().double()
    table = table / table.norm(dim=1, keepdim=True)
    cosines = (table @ table[found.found.id])[: len(tiny_engine.tokenizer)]
    cosines[found.found.id] = -2
    values, ids = cosines.topk(len(found.near))
    assert [each.id for each in found.near] == ids.tolist()
    assert [each.cosine for each in found.near] == pytest.approx(values.tolist(), abs=1e-5)
    shown = view_vocabulary.by_embedding(found)
    widths = [float(w) for w in re.findall(r'<rect [^>]*width="([\d.]+)"', shown.wide.markup)]
    assert widths == sorted(widths, reverse=True) and len(widths) == len(found.near)


def test_a_word_that_is_no_entry_is_cut_and_its_pieces_can_be_looked_up(
    tiny_engine: Engine,
) -> None:
    found = look_up(tiny_engine, "played")
    assert found.found is None and found.near == ()
    assert [each.piece for each in found.pieces] == ["play", "##ed"]
    drawn = view_vocabulary.entry(found).markup
    assert re.findall(r'data-value="(\d+)"', drawn) == [str(each.id) for each in found.pieces]
    assert look_up(tiny_engine, "##ed").found is not None
    with pytest.raises(InputError, match="expected 1 to 100"):
        look_up(tiny_engine, "  ")


def test_the_snippet_prints_the_tokens_of_the_page(tiny_engine: Engine, tiny_folder: Path) -> None:
    result = tokenizer(tiny_engine, 'The "cat"', "a dog\n", cased=True)
    code = view.snippet(result, str(tiny_folder))
    printed = [row.split()[:2] for row in ran(code)[1].splitlines()]
    assert printed == [[piece.token, str(piece.id)] for piece in result.pieces()]


def test_pieces_of_the_same_characters_light_up_together(tiny_engine: Engine) -> None:
    result = tokenizer(tiny_engine, "played")
    spans = [(0, 0), (0, 6), (0, 6), (0, 0)]
    shared = dataclasses.replace(result, columns=dataclasses.replace(result.columns, spans=spans))
    assert links(view.coloured(shared, limit=9).markup) == ["0.1 0.2"]
    assert links(view.coloured(result, limit=9).markup) == ["0.1", "0.2"]
