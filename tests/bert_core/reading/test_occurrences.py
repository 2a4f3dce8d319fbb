"""A word is found as a whole, whatever its number of pieces."""

import pytest

from bert_core import BertTokenizer
from bert_core.reading.occurrences import occurrences

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "bank", "##s", "river", "the", "play",
              "##ing", "don", "'", "t", "new", "york", "."]  # fmt: skip


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> BertTokenizer:
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    path.write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return BertTokenizer(path)


def found(tokenizer: BertTokenizer, word: str, *texts: str) -> list[list[int]]:
    ids = tokenizer.encode(word).input_ids[1:-1]
    return [list(place) for place in occurrences(tokenizer.encode(*texts), ids)]


@pytest.mark.parametrize(
    ("word", "text", "places"),
    [
        ("bank", "the Bank. bank banks", [[2], [4]]),  # "banks" is another word
        ("banks", "bank banks", [[2, 3]]),
        ("playing", "play playing", [[2, 3]]),
        ("don't", "don't the don", [[1, 2, 3]]),
        ("new york", "the new york new", [[2, 3]]),
        ("new new", "new new new new new", [[1, 2], [3, 4]]),  # places do not overlap
        ("the", "", []),
        ("", "the bank", []),
        ("river", "the bank", []),
    ],
)
def test_whole_words_are_found(
    tokenizer: BertTokenizer, word: str, text: str, places: list[list[int]]
) -> None:
    assert found(tokenizer, word, text) == places


def test_both_texts_of_a_pair_are_searched_but_not_across_them(tokenizer: BertTokenizer) -> None:
    assert found(tokenizer, "bank", "the bank", "bank") == [[2], [4]]
    assert found(tokenizer, "[SEP]", "the bank", "bank") == []  # those that were added do not count
    assert found(tokenizer, "[SEP]", "the [SEP] bank") == [[2]]
