"""Small random models of every family, and BERT's weights behind the tokenizers of others."""

import json
from pathlib import Path
from typing import Any

import torch

from app.catalog import FEATURES, examples
from bert_core import (
    BertConfig,
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    load_tokenizer,
)
from tests.bert_core.text.family_folders import merges_folder, sentencepiece_folder
from tests.conftest import VOCABULARY
from tests.made_up import VALUES

LENGTH = 96
BEHIND = {"byte-level BPE": "RobertaTokenizer", "Unigram": "XLMRobertaTokenizer"}
"""The tokenizers behind which BERT's weights are put."""

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


def behind_tokenizer(folder: Path, kind: str) -> Path:
    """Write a tiny BERT with every head, whose text is read by another family's tokenizer."""
    size = _tokenizer(folder, "roberta" if "BPE" in kind else "xlm-roberta")
    torch.manual_seed(7)
    BertForPreTraining(BertConfig(size, **_SIZES, max_position_embeddings=LENGTH)).save_pretrained(
        folder
    )
    _add_heads(folder)
    for path in folder.rglob("config.json"):  # without it, the class of the tokenizer counts
        config = json.loads(path.read_text(encoding="utf-8"))
        config.pop("model_type")
        path.write_text(json.dumps(config), encoding="utf-8")
    told = json.dumps({"tokenizer_class": BEHIND[kind]})
    (folder / "tokenizer_config.json").write_text(told, encoding="utf-8")
    return folder


def of_family(folder: Path, family: str) -> Path:
    """Write a tiny model of a family, as `transformers` saves it, with the heads of the pages."""
    import transformers

    size = _tokenizer(folder, family)
    torch.manual_seed(7)
    begins = FAMILIES[family]
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
    word = "ForPreTraining" if family == "albert" else "ForMaskedLM"
    getattr(transformers, begins + word)(config).save_pretrained(folder)
    _add_heads(folder)
    return folder


def _tokenizer(folder: Path, family: str) -> int:
    """Train a tokenizer on the examples of the site; return the size of its vocabulary."""
    if family in ("distilbert", "electra"):
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
