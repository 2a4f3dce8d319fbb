"""A vocabulary in which most words fall into pieces, tiny models, sentences, nasty words."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from bert_core.config import BertConfig
from bert_core.text.tokenizer import BertTokenizer
from tests.bert_core.conftest import SIZES

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_WORDS = """the a cat dog river bank old small mill stands by green boat red kite flies over town
who what where is sat saw on hill and near bridge play un happy"""
WORDS = _WORDS.split()
ENDINGS = ["##ing", "##ed", "##s", "##er", "##ly", "##ness", "##happy"]
LETTERS = [
    piece for letter in "abcdefghijklmnopqrstuvwxyz0123456789" for piece in (letter, f"##{letter}")
]
MARKS = [*".,!?'-()[]<>/海中", "é", "##é", "ß", "##ß", "ა", "##ა", "ن", "##ن", "क", "##क"]


@pytest.fixture(scope="session")
def vocab_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some words, all letters, a few marks: most words fall into pieces, few are unknown."""
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    pieces = dict.fromkeys([*SPECIALS, *WORDS, *ENDINGS, *LETTERS, *MARKS])
    path.write_text("".join(f"{piece}\n" for piece in pieces), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def tokenizer(vocab_file: Path) -> BertTokenizer:
    return BertTokenizer(vocab_file)


@pytest.fixture
def tiny(tokenizer: BertTokenizer) -> Callable[..., BertConfig]:
    """The config of a tiny model that learns sixteen rows by heart; keywords override."""

    def make(**changes: Any) -> BertConfig:
        torch.manual_seed(0)
        rates = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
        sizes = {**SIZES, "max_position_embeddings": 40, "initializer_range": 0.2}
        return BertConfig(len(tokenizer), **{**sizes, **rates, **changes})

    return make


@pytest.fixture
def sentence() -> Callable[..., str]:
    """A new random sentence of known words at every call."""
    chooser = random.Random(5)

    def make(words: int = 6) -> str:
        return " ".join(chooser.choices(WORDS, k=words))

    return make


NASTY_WORDS = [
    *("", " ", "\x07", "\x00\u200b", "\u00ad", "unhappiness", "New York", " padded\t", "U.N."),
    *("don't", "[MASK]", "[mask]", "x[SEP]y", "<script>alert(1)</script>", "海中", "a海b"),
    *("Ünïcödé", "e\u0301", "\u0301", "İstanbul", "STRASSE", "straße", "👩\u200d🚀", "a" * 99),
    *("b" * 101, "نن", "क्क", "ააა", "3.14159", "--", "line\nbreak", "\u2028", "\ufeff", "\ufffd"),
]


@pytest.fixture
def strange_word() -> Callable[[], str]:
    """A nasty word at every call: from the table, or characters thrown together."""
    chooser = random.Random(8)
    characters = [*"abzÉé.,'-[]海ß", "\u0301", "\u200d", "\x07", "\u00ad", " ", "\u3000", "ن", "☕"]

    def make() -> str:
        if chooser.random() < 0.5:
            return chooser.choice([*NASTY_WORDS, *WORDS])
        return "".join(chooser.choices(characters, k=chooser.randrange(1, 7)))

    return make
