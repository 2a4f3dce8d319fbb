"""BERT in plain PyTorch: tokenizer, encoder, all heads, checkpoints, training.

The public names are listed in `__all__`; exceptions are defined in `bert_core.errors`. This package
contains no user interface and never imports the application.
"""

from bert_core.checkpoints.formats.weights import PICKLE as WEIGHTS_NAME
from bert_core.checkpoints.loading import load_tf_weights_in_bert
from bert_core.checkpoints.settings import CONFIG_NAME
from bert_core.config import BertConfig
from bert_core.errors import BertError, CheckpointError, ConfigError, DownloadError, InputError
from bert_core.model.bert import BertModel
from bert_core.model.heads import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForNextSentencePrediction,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.model.outputs import ModelOutputs
from bert_core.text.encoding import Encoding
from bert_core.text.tokenizer import BasicTokenizer, BertTokenizer, WordpieceTokenizer

__version__ = "0.2.0"

__all__ = [
    "CONFIG_NAME",
    "WEIGHTS_NAME",
    "BasicTokenizer",
    "BertConfig",
    "BertError",
    "BertForMaskedLM",
    "BertForMultipleChoice",
    "BertForNextSentencePrediction",
    "BertForPreTraining",
    "BertForQuestionAnswering",
    "BertForSequenceClassification",
    "BertForTokenClassification",
    "BertModel",
    "BertTokenizer",
    "CheckpointError",
    "ConfigError",
    "DownloadError",
    "Encoding",
    "InputError",
    "ModelOutputs",
    "WordpieceTokenizer",
    "__version__",
    "load_tf_weights_in_bert",
]
