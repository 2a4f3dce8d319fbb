"""Shared by the tests of causes: tiny models with every head, and texts for them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from bert_core.analysis.targets import Target
from bert_core.config import BertConfig
from bert_core.model.heads import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForNextSentencePrediction,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.text.encoding import Encoding
from bert_core.text.tokenizer import BertTokenizer
from tests.bert_core.conftest import lift_weights
from tests.conftest import VOCABULARY

TARGETS = (
    (BertForMaskedLM, Target.token(3, 7)),
    (BertForMaskedLM, Target.token_difference(3, 7, 9)),
    (BertForPreTraining, Target.token(3, 7)),
    (BertForPreTraining, Target.next_sentence()),
    (BertForNextSentencePrediction, Target.next_sentence()),
    (BertForQuestionAnswering, Target.start(2)),
    (BertForQuestionAnswering, Target.end(4)),
    (BertForTokenClassification, Target.label(2, 1)),
    (BertForSequenceClassification, Target.classification(1)),
    (BertForMultipleChoice, Target.score()),
)
"""Every kind of target, with a model that can be asked."""


@pytest.fixture(scope="session")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vocabulary file."""
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    path.write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def tokenizer(vocabulary: Path) -> BertTokenizer:
    """A tokenizer with the tiny vocabulary."""
    return BertTokenizer(vocabulary)


@pytest.fixture(scope="session")
def build() -> Callable[..., Any]:
    """Build a tiny model whose weights all matter: D32 H4 K8 F37 L3."""

    def make(cls: type[BertPreTrainedModel] = BertForMaskedLM, **changes: Any) -> Any:
        torch.manual_seed(3)
        sizes = {
            "hidden_size": 32,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "intermediate_size": 37,
            "max_position_embeddings": 40,
        }
        config = BertConfig(len(VOCABULARY), **{**sizes, **changes})
        model = cls(config).eval()
        lift_weights(model)
        return model

    return make


@pytest.fixture
def words(build: Callable[..., Any]) -> BertForMaskedLM:
    """A tiny model with a masked-word head."""
    model: BertForMaskedLM = build()
    return model


@pytest.fixture(scope="session")
def pair(tokenizer: BertTokenizer) -> Encoding:
    """[CLS] the cat [MASK] on a mat [SEP] the dog [SEP]: eleven tokens."""
    return tokenizer.encode("the cat [MASK] on a mat", "the dog")


@pytest.fixture(scope="session")
def other(tokenizer: BertTokenizer) -> Encoding:
    """The same with one other word."""
    return tokenizer.encode("the dog [MASK] on a mat", "the dog")
