"""Tiny models that read: random, so that everything in an input depends on everything."""

from pathlib import Path

import pytest

from bert_core import BertForQuestionAnswering, BertForTokenClassification, BertTokenizer
from tests.conftest import save_tiny
from tests.taggers import save_tagger


@pytest.fixture(scope="session")
def reader_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("reader"), BertForQuestionAnswering)


@pytest.fixture(scope="session")
def reader(reader_folder: Path) -> BertForQuestionAnswering:
    """Answers questions; 48 tokens at most."""
    return BertForQuestionAnswering.from_pretrained(reader_folder).eval()


@pytest.fixture(scope="session")
def tagger_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tagger(tmp_path_factory.mktemp("tagger"))


@pytest.fixture(scope="session")
def tagger(tagger_folder: Path) -> BertForTokenClassification:
    """Labels words; 48 tokens at most."""
    return BertForTokenClassification.from_pretrained(tagger_folder).eval()


@pytest.fixture(scope="session")
def tokenizer(reader_folder: Path) -> BertTokenizer:
    return BertTokenizer.from_pretrained(reader_folder)
