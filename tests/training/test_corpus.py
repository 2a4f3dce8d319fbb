"""Text as token ids: nothing lost, nothing of the evaluation files let in."""

import lzma
from pathlib import Path

import pytest

from bert_core.errors import MissingFileError
from bert_core.text.tokenizer import BertTokenizer
from training.corpus import (
    encode_text,
    held_out_files,
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
