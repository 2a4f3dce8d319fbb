"""`FAMILIES`: the models made from BERT that this package computes, one row each.

Read as a table, it says what a variant is: the same layers with other inputs, another head, other
names (what is not listed has BERT's). Sources: Liu et al. 2019 (RoBERTa), Conneau et al. 2020
(XLM-RoBERTa), Martin et al. 2020 (CamemBERT), Sanh et al. 2019 (DistilBERT), Clark et al. 2020
(ELECTRA), Lan et al. 2020 (ALBERT), and the files published with them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from bert_core.errors import ConfigError
from bert_core.small_files import shown

NEXT, ORDER = "next", "order"
PARAMETERS = (
    "embeddings.word_embeddings",
    "embeddings.position_embeddings",
    "embeddings.token_type_embeddings",
    "embeddings.LayerNorm",
    "embeddings.projection",
    "encoder.layer.{}.attention.self.query",
    "encoder.layer.{}.attention.self.key",
    "encoder.layer.{}.attention.self.value",
    "encoder.layer.{}.attention.output.dense",
    "encoder.layer.{}.attention.output.LayerNorm",
    "encoder.layer.{}.intermediate.dense",
    "encoder.layer.{}.output.dense",
    "encoder.layer.{}.output.LayerNorm",
    "pooler.dense",
    "cls.predictions.transform.dense",
    "cls.predictions.transform.LayerNorm",
    "cls.predictions",
    "cls.predictions.decoder",
    "cls.seq_relationship",
    "discriminator_predictions.dense",
    "discriminator_predictions.dense_prediction",
    "pre_classifier",
    "summary",
    "classifier",
    "qa_outputs",
)
"""The names of this package for everything that has a weight or a bias; {} is a layer."""


@dataclass(frozen=True, slots=True)
class Step:
    """A layer (D, D) with an activation, between the first token's vector and the classifier."""

    name: str  # in the models of this package
    activation: str  # a key of `bert_core.model.activations.ACTIVATIONS`
    drops_first: bool = False  # whether dropout comes before it, too


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """What is different about one family; the defaults are BERT's."""

    model_type: str  # its name in a `config.json`
    title: str  # its name in running text
    classes: str  # what the names of its classes begin with in `transformers`
    prefix: str  # what the encoder's parameters begin with inside a model with a head
    # First, last, padding, unknown and mask:
    special_tokens: tuple[str, str, str, str, str] = ("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]")
    # Positions begin at `pad_token_id` + 1 and padding does not count; else at 0, and all counts.
    counts_after_padding: bool = False
    token_types: bool = True  # whether there is a table of them
    pooler: bool = True  # whether the encoder ends with one
    sentence_head: str = ""  # what pre-training asks of two texts: `NEXT`, `ORDER` or nothing
    finds_replaced: bool = False  # whether it is trained to find replaced tokens
    projects: bool = False  # whether word vectors have a width of their own, `embedding_size`
    always_projects: bool = False  # whether they pass through a matrix even if both are equal
    shares_layers: bool = False  # whether layers repeat the weights of other layers
    word_activation: str = ""  # in the masked-word head; "" for that of the layers
    text_step: Step | None = None  # before the classifier of texts, in place of the pooler
    choice_step: Step | None = None  # the same for multiple choice
    text_classifier: str = "classifier"  # what the one after `text_step` is called in the files
    # Key of the classifiers' dropout rate; without a default, that of the hidden states counts.
    dropout: str = "classifier_dropout"
    # Field of `BertConfig` -> its key in `config.json`; "" for a value that is fixed.
    keys: Mapping[str, str] = field(default_factory=dict)
    # Values of what a `config.json` leaves out, where they are not BERT's.
    defaults: Mapping[str, Any] = field(default_factory=dict)
    # Parameter of this package -> parameter or module in the files.
    names: Mapping[str, str] = field(default_factory=dict)

    def class_name(self, name: str) -> str:
        """Return the class of `transformers` that opens what a class of this package saves.

        >>> FAMILIES["roberta"].class_name("BertForPreTraining")
        'RobertaForMaskedLM'
        """
        if name in ("BertForReplacedTokenDetection", "BertForSentenceOrderPrediction"):
            return f"{self.classes}ForPreTraining"
        if name == "BertForPreTraining" and not self.sentence_head:
            return f"{self.classes}ForMaskedLM"
        return self.classes + name.removeprefix("Bert")

    def has(self, class_name: str) -> bool:
        """Return whether a class of this package has a head that this family is trained with.

        >>> [each.title for each in FAMILIES.values() if each.has("BertForNextSentencePrediction")]
        ['BERT']
        """
        return {
            "BertForNextSentencePrediction": self.sentence_head == NEXT,
            "BertForSentenceOrderPrediction": self.sentence_head == ORDER,
            "BertForReplacedTokenDetection": self.finds_replaced,
        }.get(class_name, True)


# RoBERTa was trained without pairs of sentences; its masked-word head always uses gelu.
_ROBERTA: dict[str, Any] = {
    "prefix": "roberta.",
    "special_tokens": ("<s>", "</s>", "<pad>", "<unk>", "<mask>"),
    "counts_after_padding": True,
    "word_activation": "gelu",
    "text_step": Step("pre_classifier", "tanh", drops_first=True),
    "text_classifier": "classifier.out_proj",
    "names": {
        "cls.predictions.transform.dense": "lm_head.dense",
        "cls.predictions.transform.LayerNorm": "lm_head.layer_norm",
        "cls.predictions": "lm_head",
        "cls.predictions.decoder": "lm_head.decoder",
        "pre_classifier": "classifier.dense",
    },
}
_LAYER, _ALBERT_LAYER = "encoder.layer.{}.", "encoder.albert_layer_groups.{}.albert_layers.0."
_ROWS = (
    Family("bert", "BERT", "Bert", "bert.", sentence_head=NEXT),
    Family("roberta", "RoBERTa", "Roberta", defaults={"vocab_size": 50265, "pad_token_id": 1},
           **_ROBERTA),
    Family("xlm-roberta", "XLM-RoBERTa", "XLMRoberta",
           defaults={"vocab_size": 30522, "pad_token_id": 1}, **_ROBERTA),
    Family("camembert", "CamemBERT", "Camembert",
           defaults={"vocab_size": 30522, "pad_token_id": 1}, **_ROBERTA),
    Family(
        "distilbert", "DistilBERT", "DistilBert", "distilbert.",
        token_types=False,
        pooler=False,
        text_step=Step("pre_classifier", "relu"),
        choice_step=Step("pre_classifier", "relu"),
        dropout="seq_classif_dropout",
        keys={
            "hidden_size": "dim", "num_hidden_layers": "n_layers",
            "num_attention_heads": "n_heads", "intermediate_size": "hidden_dim",
            "hidden_act": "activation", "hidden_dropout_prob": "dropout",
            "attention_probs_dropout_prob": "attention_dropout",
            "type_vocab_size": "", "layer_norm_eps": "",
        },
        defaults={
            "vocab_size": 30522, "num_hidden_layers": 6, "seq_classif_dropout": 0.2,
            "type_vocab_size": 1, "layer_norm_eps": 1e-12,
        },
        names={
            _LAYER + "attention.self.query": "transformer.layer.{}.attention.q_lin",
            _LAYER + "attention.self.key": "transformer.layer.{}.attention.k_lin",
            _LAYER + "attention.self.value": "transformer.layer.{}.attention.v_lin",
            _LAYER + "attention.output.dense": "transformer.layer.{}.attention.out_lin",
            _LAYER + "attention.output.LayerNorm": "transformer.layer.{}.sa_layer_norm",
            _LAYER + "intermediate.dense": "transformer.layer.{}.ffn.lin1",
            _LAYER + "output.dense": "transformer.layer.{}.ffn.lin2",
            _LAYER + "output.LayerNorm": "transformer.layer.{}.output_layer_norm",
            "cls.predictions.transform.dense": "vocab_transform",
            "cls.predictions.transform.LayerNorm": "vocab_layer_norm",
            "cls.predictions.decoder.weight": "vocab_projector.weight",
            "cls.predictions.bias": "vocab_projector.bias",
        },
    ),
    Family(
        "electra", "ELECTRA", "Electra", "electra.",
        pooler=False,
        finds_replaced=True,
        projects=True,
        word_activation="gelu",
        text_step=Step("pre_classifier", "gelu", drops_first=True),
        choice_step=Step("summary", "gelu"),
        text_classifier="classifier.out_proj",
        defaults={
            "vocab_size": 30522, "embedding_size": 128, "hidden_size": 256,
            "num_attention_heads": 4, "intermediate_size": 1024,
        },
        names={
            "embeddings.projection": "embeddings_project",
            "cls.predictions.transform.dense": "generator_predictions.dense",
            "cls.predictions.transform.LayerNorm": "generator_predictions.LayerNorm",
            "cls.predictions.decoder.weight": "generator_lm_head.weight",
            "cls.predictions.bias": "generator_lm_head.bias",
            "pre_classifier": "classifier.dense",
            "summary": "sequence_summary.summary",
        },
    ),
    Family(
        "albert", "ALBERT", "Albert", "albert.",
        special_tokens=("[CLS]", "[SEP]", "<pad>", "<unk>", "[MASK]"),
        sentence_head=ORDER,
        projects=True,
        always_projects=True,
        shares_layers=True,
        dropout="classifier_dropout_prob",
        defaults={
            "vocab_size": 30000, "embedding_size": 128, "hidden_size": 4096,
            "num_attention_heads": 64, "intermediate_size": 16384, "hidden_act": "gelu_new",
            "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0,
            "classifier_dropout_prob": 0.1, "num_hidden_groups": 1, "inner_group_num": 1,
        },
        names={
            "embeddings.projection": "encoder.embedding_hidden_mapping_in",
            _LAYER + "attention.self.query": _ALBERT_LAYER + "attention.query",
            _LAYER + "attention.self.key": _ALBERT_LAYER + "attention.key",
            _LAYER + "attention.self.value": _ALBERT_LAYER + "attention.value",
            _LAYER + "attention.output.dense": _ALBERT_LAYER + "attention.dense",
            _LAYER + "attention.output.LayerNorm": _ALBERT_LAYER + "attention.LayerNorm",
            _LAYER + "intermediate.dense": _ALBERT_LAYER + "ffn",
            _LAYER + "output.dense": _ALBERT_LAYER + "ffn_output",
            _LAYER + "output.LayerNorm": _ALBERT_LAYER + "full_layer_layer_norm",
            "pooler.dense": "pooler",
            "cls.predictions.transform.dense": "predictions.dense",
            "cls.predictions.transform.LayerNorm": "predictions.LayerNorm",
            "cls.predictions": "predictions",
            "cls.predictions.decoder": "predictions.decoder",
            "cls.seq_relationship": "sop_classifier.classifier",
        },
    ),
)  # fmt: skip

FAMILIES: Mapping[str, Family] = MappingProxyType({each.model_type: each for each in _ROWS})
"""`model_type` -> its row. All code that lists the families reads this table."""
BERT = FAMILIES["bert"]


def family_called(model_type: object) -> Family:
    """Return the row of a `model_type` (ConfigError: it is not implemented)."""
    if isinstance(model_type, str) and model_type in FAMILIES:
        return FAMILIES[model_type]
    raise ConfigError(
        f"This is a model of type {shown(model_type)}; implemented are {', '.join(FAMILIES)}. "
        "Models with other layers or other names for them cannot be loaded."
    )
