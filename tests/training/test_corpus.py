"""Text as token ids: nothing lost, nothing of the evaluation files let in."""

import lzma
from pathlib import Path

import numpy as np
import pytest

from bert_core.errors import MissingFileError
from bert_core.text.tokenizer import BertTokenizer
from tests.training.conftest import write_text
from training.corpus import (
    encode_text,
    held_out_files,
    load_corpus,
    plain_ids,
    read_documents,
    text_files,
)


def test_documents_are_separated_by_blank_lines_in_plain_and_xz_files(tmp_path: Path) -> None:
    text = "\n\nOne.\nTwo.\n\n\nThree.\n"
    (tmp_path / "a.txt").write_text(text)
    with lzma.open(tmp_path / "a.txt.xz", "wt") as stream:
        stream.write(text)
    expected = [["One.", "Two."], ["Three."]]
    assert list(read_documents(tmp_path / "a.txt")) == expected
    assert list(read_documents(tmp_path / "a.txt.xz")) == expected
    with pytest.raises(MissingFileError, match="--data"):
        list(read_documents(tmp_path / "b.txt"))


def test_encoding_keeps_every_token_sentence_and_document(
    data: Path, tokenizer: BertTokenizer
) -> None:
    path = data / "text" / "factbook.txt"
    text = encode_text(path, tokenizer)
    paragraphs = [" ".join(document) for document in read_documents(path)]
    assert list(text.document_ids()) == plain_ids(tokenizer, paragraphs)
    assert len(text.documents) == 7
    assert len(text.sentences) == 241
    assert tokenizer.decode(text.sentence(0)).endswith(".")


def test_evaluation_texts_are_no_training_texts(data: Path) -> None:
    assert set(text_files(data)) == {
        "factbook",
        "novels-public-domain",
        "simple-wikipedia",
        "tatoeba-sentences",
        "wordnet-examples",
    }
    assert [path.name for path in held_out_files(data)] == [
        "wikitext2-valid-test.txt",
        "eval-documents.txt",
    ]


def test_sentences_that_stand_in_an_evaluation_text_are_dropped(
    data: Path, tokenizer: BertTokenizer, tmp_path: Path
) -> None:
    leaked = "The old king hears the moon and the moon hears the old king and the red river."
    write_text(tmp_path / "nsp" / "eval-documents.txt", [[leaked]])
    write_text(
        tmp_path / "text" / "train.txt", [["A dog sees a door.", leaked, "My aunt likes bread."]]
    )
    [text] = load_corpus(tmp_path, tmp_path / "work", tokenizer)
    kept = [tokenizer.decode(text.sentence(i)) for i in range(len(text.sentences) - 1)]
    assert kept == ["a dog sees a door.", "my aunt likes bread."]
    assert text.documents.tolist() == [0, 2]


def test_the_corpus_is_encoded_once(data: Path, tokenizer: BertTokenizer, tmp_path: Path) -> None:
    first = load_corpus(data, tmp_path / "work", tokenizer)
    for path in text_files(data).values():
        path.write_text("changed\n")
    second = load_corpus(data, tmp_path / "work", tokenizer)
    assert [text.name for text in first] == [text.name for text in second]
    for one, two in zip(first, second, strict=True):
        assert np.array_equal(one.ids, two.ids)
        assert np.array_equal(one.documents, two.documents)


def test_a_data_folder_without_texts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="no training texts"):
        text_files(tmp_path)
