"""A tiny model with random weights for each kind of tokenizer that is no WordPiece."""

from functools import cache
from pathlib import Path

import pytest

from app.engine.models import Engine
from benchmarks.texts import SENTENCES, english_lines, mixed_lines
from tests.bert_core.text.family_folders import merges_folder, sentencepiece_folder, with_weights

_WORDS = "the a cat sat on weather children playing running unhappy river day"
ENGLISH = _WORDS.split() * 20
FAMILIES = ("roberta", "xlm-roberta", "camembert", "albert")


@pytest.fixture(scope="session")
def engines(tmp_path_factory: pytest.TempPathFactory) -> "cache[Engine]":  # type: ignore[type-arg]
    """Make the engine of a family, once."""
    sentences = [line for lines in SENTENCES.values() for line in lines]
    texts = [*sentences, *mixed_lines(280), *english_lines(ENGLISH, 80)] * 3

    @cache
    def make(family: str) -> Engine:
        folder: Path = tmp_path_factory.mktemp("families") / family
        if family == "roberta":
            merges_folder(folder, texts)
        else:
            sentencepiece_folder(folder, family, texts)
        return Engine(str(with_weights(folder)))

    return make


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest, engines: "cache[Engine]") -> Engine:  # type: ignore[type-arg]
    """The engine of each family in turn."""
    return engines(request.param)


@pytest.fixture(params=("bert", *FAMILIES))
def any_engine(
    request: pytest.FixtureRequest,
    engines: "cache[Engine]",
    tiny_engine: Engine,  # type: ignore[type-arg]
) -> Engine:
    """The engine of each family in turn, BERT's included."""
    return tiny_engine if request.param == "bert" else engines(request.param)
