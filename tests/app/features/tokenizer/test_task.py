"""The tokenizer inspector: its task and its drawings."""

import itertools
import re
from html import unescape
from html.parser import HTMLParser

import pytest

from app.features.tokenizer import view as view
from app.features.tokenizer.result import TokenizerResult
from app.features.tokenizer.task import replay, tokenizer
from app.models import Engine
from app.words.html import Html, visible
from bert_core.errors import InputError


def words_of(markup: Html) -> str:
    """The text of some markup, as a browser shows it."""
    parts: list[str] = []
    parser = HTMLParser()
    parser.handle_data = parts.append  # type: ignore[method-assign]
    parser.feed(markup.markup)
    parser.close()
    return "".join(parts)


def test_every_piece_knows_its_characters(tiny_engine: Engine, nasty: str) -> None:
    result = tokenizer(tiny_engine, nasty)
    encoding = tiny_engine.tokenizer.encode(nasty)
    assert [piece.id for piece in result.pieces()] == encoding.input_ids
    assert [piece.token for piece in result.pieces()] == encoding.tokens
    for piece in result.pieces():
        assert piece.source == ("" if piece.added else nasty[piece.start : piece.end])


def test_the_coloured_text_is_the_text_as_typed(tiny_engine: Engine, nasty: str) -> None:
    assert words_of(view.coloured(tokenizer(tiny_engine, nasty), limit=10_000)) == visible(nasty)


def test_no_drawing_lets_markup_through(tiny_engine: Engine, nasty: str) -> None:
    result = tokenizer(tiny_engine, nasty, nasty)
    replays = [replay(tiny_engine, text) for text in result.texts]
    stories = [view.story(word) for word in view.word_choices(replays).values()]
    drawings = [
        view.coloured(result, limit=50),
        view.as_read(result, limit=50),
        view.decoded(result),
        view.stages(replays),
        view.unknown_words(replays),
        *stories,
    ]
    for drawing in drawings:
        assert "<script" not in drawing.markup
        assert "<img" not in drawing.markup


def test_the_replay_ends_in_the_tokenizers_own_pieces(tiny_engine: Engine, nasty: str) -> None:
    steps = replay(tiny_engine, nasty)
    told = [piece for word in steps.trace.words for piece in word.pieces]
    assert told == tiny_engine.tokenizer.tokenize(nasty)
    assert steps.whole


def test_a_pair_has_two_segments_and_the_second_counts_its_own_characters(
    tiny_engine: Engine,
) -> None:
    result = tokenizer(tiny_engine, "the cat", "a dog")
    assert [piece.segment for piece in result.pieces()] == [0, 0, 0, 0, 1, 1, 1]
    assert [piece.source for piece in result.pieces()] == ["", "the", "cat", "", "a", "dog", ""]
    assert result.cut.lengths == (2, 2)
    assert result.words == 4


def test_an_empty_pair_is_read_and_two_empty_texts_are_refused(tiny_engine: Engine) -> None:
    assert tokenizer(tiny_engine, "cat", "").cut.lengths == (1, 0)
    with pytest.raises(InputError, match="empty"):
        tokenizer(tiny_engine, " \n\t")
    with pytest.raises(InputError, match="empty"):
        tokenizer(tiny_engine, "", " ")


def test_what_a_cut_would_lose_is_marked_and_told(tiny_engine: Engine) -> None:
    text = "cat " * 60
    result = tokenizer(tiny_engine, text)
    lost = [piece for piece in result.pieces() if piece.cut]
    assert len(lost) == 62 - 48
    assert lost[0].start == (48 - 2) * 4
    told = words_of(view.length_meter(result))
    assert "62 of 48 tokens" in told
    assert "14 tokens" in told
    assert f"character {lost[0].start} on" in told
    assert 'aria-valuenow="48"' in view.length_meter(result).markup


def test_a_text_that_fits_loses_nothing(tiny_engine: Engine) -> None:
    result = tokenizer(tiny_engine, "the cat")
    assert not any(piece.cut for piece in result.pieces())
    assert "lose" not in words_of(view.length_meter(result))


def test_the_other_casing_is_used_and_warned_of(tiny_engine: Engine) -> None:
    result = tokenizer(tiny_engine, "Cat cat", lower_case=False)
    assert [piece.token for piece in result.pieces()] == ["[CLS]", "[UNK]", "cat", "[SEP]"]
    assert result.unknown == 1
    assert "Not this model's casing" in words_of(view.casing(result))
    assert view.casing(tokenizer(tiny_engine, "Cat cat")).markup == ""


def test_what_the_ids_lose_is_named(tiny_engine: Engine) -> None:
    def lost(text: str) -> str:
        return ", ".join(tokenizer(tiny_engine, text).losses)

    assert lost("the cat") == ""
    assert "capital letters" in lost("The cat")
    assert "accents" in lost("café")
    assert "1 word that became [UNK]" in lost("the Ω cat")
    assert "invisible" in lost("the\u200b cat")
    assert "spacing" in lost("the   cat")
    assert "spacing" in lost("the cat's mat")


def test_unknown_words_are_listed_once_with_their_reason(tiny_engine: Engine) -> None:
    replays = [replay(tiny_engine, "Ω cat Ω " + "b" * 101)]
    told = words_of(view.unknown_words(replays))
    assert told.count("Ω") >= 1
    assert told.count("[UNK]") == 2
    assert "101 characters" in told
    assert view.unknown_words([replay(tiny_engine, "the cat")]).markup == ""


def test_the_story_of_a_word_shows_every_failed_look(tiny_engine: Engine) -> None:
    steps = replay(tiny_engine, "played")
    told = words_of(view.story(steps.trace.words[0]))
    for tried in ("played ✗", "playe ✗", "play ✓", "##ed ✓"):
        assert tried in told


def test_neighbours_differ_in_colour_and_texts_in_look(tiny_engine: Engine) -> None:
    result = tokenizer(tiny_engine, "the cat sat on the mat", "a dog played")
    drawn = view.as_read(result, limit=99).markup
    looks = [each.split() for each in re.findall(r'<li class="(.*?)"', drawn)]
    added = ["bx-added" in look for look in looks]
    assert added == [piece.added for piece in result.pieces()]
    colours = [next((n for n in look if re.fullmatch(r"bx-c\d", n)), "") for look in looks]
    assert all(one != other for one, other in itertools.pairwise(colours))
    assert ["bx-second" in look for look in looks] == [p.segment == 1 for p in result.pieces()]
    assert ["bx-continues" in look for look in looks].count(True) == 1


@pytest.mark.parametrize(("words", "full"), [(10, 25.0), (22, 50.0), (46, 100.0), (90, 100.0)])
def test_the_meter_is_as_full_as_the_model_is(tiny_engine: Engine, words: int, full: float) -> None:
    drawn = view.length_meter(tokenizer(tiny_engine, "cat " * words)).markup
    assert re.findall(r"width:([\d.]+)%", drawn) == [f"{full}"]
    assert ("bx-meter-over" in drawn) == (words > 46)


def test_a_hit_and_a_miss_look_as_they_are_called(tiny_engine: Engine) -> None:
    drawn = view.story(replay(tiny_engine, "played").trace.words[0]).markup
    looks = re.findall(r'bx-try bx-(hit|miss)"><bdi>(.*?)</bdi> ([✓✗])', drawn)
    assert {(look, sign) for look, _, sign in looks} == {("hit", "✓"), ("miss", "✗")}
    assert [piece for look, piece, _ in looks if look == "hit"] == ["play", "##ed"]


def test_a_long_text_is_replayed_from_its_beginning_and_that_is_said(tiny_engine: Engine) -> None:
    steps = replay(tiny_engine, "the cat sat " * 200)
    assert not steps.whole
    assert len(steps.trace.text) <= 1_000
    assert not steps.trace.text.endswith(" ca")
    assert "first 99" in words_of(view.stages([steps]))


def test_the_same_word_twice_has_two_names(tiny_engine: Engine) -> None:
    replays = [replay(tiny_engine, "cat cat"), replay(tiny_engine, "cat")]
    assert list(view.word_choices(replays)) == ["A 0: cat", "A 1: cat", "B 0: cat"]


def test_the_word_with_most_to_tell_is_shown_first(tiny_engine: Engine) -> None:
    choices = view.word_choices([replay(tiny_engine, "the cat played")])
    assert view.most_telling(choices) == 2
    choices = view.word_choices([replay(tiny_engine, "the Ω played")])
    assert view.most_telling(choices) == 1


def test_the_table_lists_every_token(tiny_engine: Engine) -> None:
    result = tokenizer(tiny_engine, "played cat", "dog")
    frame = view.table(result)
    assert list(frame["token"]) == [piece.token for piece in result.pieces()]
    assert frame["word"].isna().sum() == 3
    assert list(frame["segment"]) == [0] * 5 + [1] * 2


def test_a_long_text_is_drawn_in_part_and_the_rest_is_counted(tiny_engine: Engine) -> None:
    result = tokenizer(tiny_engine, "cat " * 40)
    assert "and 30 more pieces" in words_of(view.coloured(result, limit=10))
    assert "and 32 more tokens" in words_of(view.as_read(result, limit=10))


def test_the_beginning_of_a_long_text_is_decoded_and_that_is_said(tiny_engine: Engine) -> None:
    result = tokenizer(tiny_engine, "Cat " * 1_500)
    assert result.decoded == ("cat " * 999 + "cat",)
    assert "beginning" in words_of(view.decoded(result))
    assert "beginning" not in words_of(view.decoded(tokenizer(tiny_engine, "Cat")))


def test_numbers_of_one_are_singular(tiny_engine: Engine) -> None:
    told = words_of(view.summary(tokenizer(tiny_engine, "a")))
    assert told.startswith("1 piece from 1 word and 1 character ·")


def test_pieces_that_share_characters_are_drawn_once(tiny_engine: Engine) -> None:
    result: TokenizerResult = tokenizer(tiny_engine, "½ ﬁ cat")
    assert unescape(words_of(view.coloured(result, limit=99))) == "½ ﬁ cat"
