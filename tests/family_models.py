"""Small random models of every family, and some with the tokenizer of another."""

import json
from pathlib import Path
from typing import Any

import torch

from app.catalog import FEATURES, examples
from bert_core import (
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    load_tokenizer,
)
from bert_core.text.tokenizer_class import OF_FAMILY
from tests.bert_core.text.family_folders import merges_folder, sentencepiece_folder
from tests.conftest import VOCABULARY
from tests.made_up import VALUES

LENGTH = 96
BEHIND = {
    "BERT with byte-level BPE": ("bert", "roberta"),
    "BERT with Unigram": ("bert", "xlm-roberta"),
    "RoBERTa with WordPiece": ("roberta", "bert"),
    "ALBERT with WordPiece": ("albert", "bert"),
    "DistilBERT with byte-level BPE": ("distilbert", "roberta"),
    "ELECTRA with Unigram": ("electra", "albert"),
}
"""Models of one family with the tokenizer of another."""

FAMILIES = {
    "roberta": "Roberta",
    "xlm-roberta": "XLMRoberta",
    "camembert": "Camembert",
    "distilbert": "DistilBert",
    "electra": "Electra",
    "albert": "Albert",
}
"""`model_type` -> how the names of its classes in `transformers` begin."""

_SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 37,
    "initializer_range": 0.3,
}


def of_family(folder: Path, family: str) -> Path:
    """Write a tiny model of a family, as `transformers` saves it, with the heads of the pages.

    Args:
        folder: where to.
        family: a key of `FAMILIES`, or one of `BEHIND`.
    """
    import transformers

    family, reader = BEHIND.get(family, (family, family))
    size = _tokenizer(folder, reader)
    torch.manual_seed(7)
    begins = {"bert": "Bert", **FAMILIES}[family]
    own: dict[str, Any] = {"vocab_size": size, **_SIZES}
    if family == "distilbert":
        names = {"hidden_size": "dim", "num_hidden_layers": "n_layers"}
        names |= {"num_attention_heads": "n_heads", "intermediate_size": "hidden_dim"}
        own = {names.get(key, key): value for key, value in own.items()}
    if family in ("electra", "albert"):
        own["embedding_size"] = 16
    rows = LENGTH + 2 if family in ("roberta", "xlm-roberta", "camembert") else LENGTH
    pad = load_tokenizer(str(folder)).pad_token_id
    config = getattr(transformers, f"{begins}Config")(
        **own, max_position_embeddings=rows, pad_token_id=pad
    )
    word = "ForPreTraining" if family in ("albert", "bert") else "ForMaskedLM"
    getattr(transformers, begins + word)(config).save_pretrained(folder)
    told = json.dumps({"tokenizer_class": OF_FAMILY[reader].tokenizer_class})
    (folder / "tokenizer_config.json").write_text(told, encoding="utf-8")
    _add_heads(folder)
    return folder


def _tokenizer(folder: Path, family: str) -> int:
    """Train a tokenizer on the examples of the site; return the size of its vocabulary."""
    if OF_FAMILY[family].kind == "WordPiece":
        (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
        told = json.dumps({"model_type": family, "vocab_size": len(VOCABULARY)})
        (folder / "config.json").write_text(told, encoding="utf-8")
        return len(VOCABULARY)
    rows = [each for row in FEATURES if row.takes_text for each in examples(row.slug)]
    texts = [text for each in rows for text in each.values.values() if isinstance(text, str)]
    texts += [text for text in VALUES.values() if isinstance(text, str)] * 20
    if family == "roberta":
        merges_folder(folder, texts, 700)
    else:
        sentencepiece_folder(folder, family, texts, 500)
    return len(load_tokenizer(str(folder)))


def _add_heads(folder: Path) -> None:
    """Save the heads that pages need, each with an encoder of its own."""
    base = BertForPreTraining.from_pretrained(folder)
    for cls, labels in (
        (BertForQuestionAnswering, ()),
        (BertForTokenClassification, ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")),
        (BertForSequenceClassification, ("bad", "good", "odd")),
        (BertForMultipleChoice, ()),
    ):
        base.config.id2label = dict(enumerate(labels))
        cls.from_model(base).save_pretrained(folder / "heads" / cls.__name__)
