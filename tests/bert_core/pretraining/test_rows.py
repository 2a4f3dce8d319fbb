"""Rows of token ids: packing loses nothing, pairs have segments, padding and truncation fit."""

import pytest

from bert_core.errors import InputError
from bert_core.pretraining import RowTokens, pack_blocks, pair_rows, sentence_rows, truncate_pair

TOKENS = RowTokens(pad_id=0, cls_id=1, sep_id=2)


@pytest.mark.parametrize("length", [3, 4, 5, 8, 100])
def test_packing_loses_nothing_and_adds_nothing(length: int) -> None:
    documents = [list(range(10, 17)), [], [20], list(range(30, 43)), [50, 51]]
    blocks = pack_blocks(documents, length, TOKENS)
    inner = [index for block in blocks for index in block[1:-1] if index != TOKENS.sep_id]
    assert inner == [index for document in documents for index in document]
    assert all(block[0] == TOKENS.cls_id and block[-1] == TOKENS.sep_id for block in blocks)
    assert all(len(block) == length for block in blocks[:-1])
    assert 3 <= len(blocks[-1]) <= length


def test_documents_are_separated_inside_a_block() -> None:
    assert pack_blocks([[5, 6], [7]], 10, TOKENS) == [[1, 5, 6, 2, 7, 2]]


def test_pair_rows_have_segments_and_padding() -> None:
    rows = pair_rows([([5, 6], [7]), ([8], [9, 10, 11])], 16, TOKENS)
    assert rows.input_ids.tolist() == [[1, 5, 6, 2, 7, 2, 0], [1, 8, 2, 9, 10, 11, 2]]
    assert rows.token_type_ids.tolist() == [[0, 0, 0, 0, 1, 1, 0], [0, 0, 0, 1, 1, 1, 1]]
    assert rows.attention_mask.tolist() == [[1, 1, 1, 1, 1, 1, 0], [1] * 7]


def test_long_pairs_are_cut_at_the_end_of_the_longer_sentence() -> None:
    rows = pair_rows([([5, 6, 7, 8, 9], [10, 11])], 8, TOKENS)
    assert rows.input_ids.tolist() == [[1, 5, 6, 7, 2, 10, 11, 2]]
    assert truncate_pair([5, 6], [7, 8, 9, 10], 4) == ([5, 6], [7, 8])
    assert truncate_pair([5], [6], 2) == ([5], [6])


def test_sentence_rows_are_cut_and_padded() -> None:
    rows = sentence_rows([[5], [6, 7, 8, 9]], 5, TOKENS)
    assert rows.input_ids.tolist() == [[1, 5, 2, 0, 0], [1, 6, 7, 8, 2]]
    assert rows.token_type_ids.sum() == 0
    assert rows.attention_mask.tolist() == [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]


def test_rows_without_room_or_content_are_refused() -> None:
    with pytest.raises(InputError, match="3 special tokens"):
        pair_rows([([5], [6])], 3, TOKENS)
    with pytest.raises(InputError, match="block of 2 tokens"):
        pack_blocks([[5]], 2, TOKENS)
    with pytest.raises(InputError, match="no rows"):
        sentence_rows([], 8, TOKENS)


def test_ids_of_special_tokens_come_from_the_vocabulary() -> None:
    assert RowTokens.from_vocab({"[PAD]": 4, "[SEP]": 6, "[CLS]": 5}) == RowTokens(4, 5, 6)
    with pytest.raises(InputError, match=r"\[PAD\], \[SEP\]"):
        RowTokens.from_vocab({"[CLS]": 0})
