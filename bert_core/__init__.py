"""BERT in plain PyTorch: tokenizer, encoder, all heads, checkpoints, training; no user interface.

A name is imported when it is asked for: most need PyTorch, whose import takes seconds.
"""

import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from bert_core.model.relative_heads import (
        BertForReplacedTokenDetection,
        BertForSentenceOrderPrediction,
    )
    from bert_core.text.encoding import Encoding
    from bert_core.text.family import FamilyTokenizer, load_tokenizer
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
    "BertForReplacedTokenDetection",
    "BertForSentenceOrderPrediction",
    "BertForSequenceClassification",
    "BertForTokenClassification",
    "BertModel",
    "BertTokenizer",
    "CheckpointError",
    "ConfigError",
    "DownloadError",
    "Encoding",
    "FamilyTokenizer",
    "InputError",
    "ModelOutputs",
    "WordpieceTokenizer",
    "__version__",
    "load_tf_weights_in_bert",
    "load_tokenizer",
]

_HOMES = {  # as the imports above say it to type checkers
    "checkpoints.formats.weights": "PICKLE",
    "checkpoints.loading": "load_tf_weights_in_bert",
    "checkpoints.settings": "CONFIG_NAME",
    "config": "BertConfig",
    "errors": "BertError CheckpointError ConfigError DownloadError InputError",
    "model.bert": "BertModel",
    "model.heads": "BertForMaskedLM BertForMultipleChoice BertForNextSentencePrediction "
    "BertForPreTraining BertForQuestionAnswering BertForSequenceClassification "
    "BertForTokenClassification",
    "model.outputs": "ModelOutputs",
    "model.relative_heads": "BertForReplacedTokenDetection BertForSentenceOrderPrediction",
    "text.encoding": "Encoding",
    "text.family": "FamilyTokenizer load_tokenizer",
    "text.tokenizer": "BasicTokenizer BertTokenizer WordpieceTokenizer",
}


def _found(name: str) -> Any:
    """Import a public name, or a module of this package (AttributeError: there is none)."""
    own = "PICKLE" if name == "WEIGHTS_NAME" else name
    for home, names in _HOMES.items():
        if own in names.split():
            return getattr(importlib.import_module(f"{__name__}.{home}"), own)
    place = f"{__name__}.{name}"
    if name.isidentifier() and not name.startswith("_") and importlib.util.find_spec(place):
        return importlib.import_module(place)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if not TYPE_CHECKING:  # type checkers would believe that it has every name

    def __getattr__(name: str) -> Any:
        """Import what is asked for, once."""
        found = globals()[name] = _found(name)
        return found

    def __dir__() -> list[str]:
        """Return all names, also those that were not asked for yet."""
        return sorted({*globals(), *__all__})
