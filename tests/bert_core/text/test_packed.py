"""Tokens as bytes: what is packed comes out again, joined, cut and with fillers."""

import pytest

from bert_core.text.packed import (
    ADJACENT,
    SPACED,
    Token,
    beginning,
    count_of,
    cut,
    ids_of,
    pack,
    pack_added,
    pack_word,
    spans_of,
    tokens_of,
    words_of,
)

# (tokens, length): at the edges, in the middle, overlapping by one and by two, and none at all.
STRETCHES: list[tuple[list[Token], int]] = [
    ([(1, 7, (0, 3)), (0, 8, (3, 5))], 5),
    ([(1, 254, (1, 2))], 4),
    ([(1, 5, (0, 2)), (1, 6, (4, 5))], 9),
    ([(1, 3, (0, 1)), (0, 4, (0, 1)), (0, 5, (0, 1))], 1),
    ([(1, 3, (0, 3)), (0, 4, (1, 3))], 3),
    ([], 0),
    ([], 3),
    ([(1, 30_000, (0, 70_000))], 70_000),
]


@pytest.mark.parametrize(("glue", "gap"), [(SPACED, 1), (ADJACENT, 0)])
def test_joined_stretches_keep_ids_places_and_words(glue: bytes, gap: int) -> None:
    packed = glue.join(pack(tokens, length) for tokens, length in STRETCHES)
    ids, spans, words = [], [], []
    at, word = 0, -1
    for tokens, length in STRETCHES:
        for first, number, (start, end) in tokens:
            word += first
            ids.append(number)
            spans.append((at + start, at + end))
            words.append(word)
        at += length + gap
    assert (ids_of(packed), spans_of(packed), words_of(packed)) == (ids, spans, words)
    assert count_of(packed) == len(ids)


@pytest.mark.parametrize(("tokens", "length"), STRETCHES)
def test_added_tokens_do_not_move_a_text(tokens: list[Token], length: int) -> None:
    packed = pack(tokens, length)
    opening, closing = pack_added(101, 102)
    framed = opening + packed + closing
    assert ids_of(framed) == [101, *ids_of(packed), 102]
    assert spans_of(framed)[1:-1] == [span for _, _, span in tokens]
    assert words_of(framed)[1:-1] == words_of(packed)


def test_a_word_is_packed_like_its_tokens() -> None:
    word = pack_word([(7, 3), (8, 2)])
    assert word == pack([(1, 7, (0, 3)), (0, 8, (3, 5))], 5)
    assert list(tokens_of(word, 10)) == [(1, 7, (10, 13)), (0, 8, (13, 15))]


def test_parts_keep_their_places_and_the_indices_of_their_words() -> None:
    packed = SPACED.join(pack(tokens, length) for tokens, length in STRETCHES)
    ids, spans, words = ids_of(packed), spans_of(packed), words_of(packed)
    bounds = [(start, stop) for start in range(len(ids)) for stop in range(start, len(ids) + 1)]
    for (start, stop), part in zip(bounds, cut(packed, bounds), strict=True):
        assert ids_of(part) == ids[start:stop]
        assert spans_of(part) == spans[start:stop]
        assert words_of(part) == words[start:stop]


@pytest.mark.parametrize("stretches", [STRETCHES, STRETCHES[:1] * 3])
def test_the_beginning_is_the_first_tokens(stretches: list[tuple[list[Token], int]]) -> None:
    packed = SPACED.join(pack(tokens, length) for tokens, length in stretches)
    for tokens in range(count_of(packed) + 1):
        part = beginning(packed, tokens)
        assert ids_of(part) == ids_of(packed)[:tokens]
        assert spans_of(part) == spans_of(packed)[:tokens]
        assert words_of(part) == words_of(packed)[:tokens]
