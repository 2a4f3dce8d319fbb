"""Entry points for `torch.hub`: the tokenizer and BERT's eight models.

They open checkpoints of RoBERTa, XLM-RoBERTa, CamemBERT, DistilBERT, ELECTRA and ALBERT as well.

Usage, from GitHub or from a local checkout::

    import torch

    torch.hub.list("owner/name")                                  # a repository on GitHub
    torch.hub.load("owner/name", "bertModel", "explorer-mini-uncased")
    torch.hub.load(".", "bertModel", "explorer-mini-uncased", source="local")

Every entry point takes the arguments of its class's `from_pretrained`. Imports happen inside the
entry points, so that listing them is fast and `dependencies` is checked before anything is
imported. Other imported names start with an underscore, because `torch.hub` lists every other
name as an entry point.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from pathlib import Path

    from bert_core import (
        BertForMaskedLM,
        BertForMultipleChoice,
        BertForNextSentencePrediction,
        BertForPreTraining,
        BertForQuestionAnswering,
        BertForSequenceClassification,
        BertForTokenClassification,
        BertModel,
        BertTokenizer,
        FamilyTokenizer,
    )

    _Name = str | Path

dependencies = [
    "torch",
    "numpy",
    "safetensors",
    "tokenizers",
    "regex",
    "filelock",
    "huggingface_hub",
    "requests",
    "tqdm",
]


def bertTokenizer(
    name_or_path: "_Name | None" = None, *inputs: _Any, **options: _Any
) -> "BertTokenizer | FamilyTokenizer":
    """Load the tokenizer of a checkpoint: text to tokens and ids.

    Checkpoints with a WordPiece tokenizer give a `BertTokenizer`, which has options of its own, all
    others a `FamilyTokenizer`.

    With `do_basic_tokenize=False`, text is split only at whitespace before WordPiece, so special
    tokens and punctuation must be separated by spaces.

    Args:
        name_or_path: a folder, an archive, a bundled name, a Hub id or a vocabulary file.
        *inputs: `cache_dir`, as a positional argument.
        **options: `cache_dir`, `revision`; for a `BertTokenizer` also `do_lower_case`,
            `do_basic_tokenize`, `max_len`, `never_split`.

    Example:
        >>> import torch
        >>> tokenizer = torch.hub.load(
        ...     ".", "bertTokenizer", "explorer-mini-uncased", source="local"
        ... )
        >>> tokenizer.tokenize("The puppeteer waved.")
        ['the', 'puppet', '##eer', 'waved', '.']
        >>> plain = torch.hub.load(
        ...     ".",
        ...     "bertTokenizer",
        ...     "explorer-mini-uncased",
        ...     do_basic_tokenize=False,
        ...     source="local",
        ... )
        >>> plain.tokenize("[CLS] who waved ? [SEP] the puppeteer waved . [SEP]")[:5]
        ['[CLS]', 'who', 'waved', '?', '[SEP]']
    """
    from bert_core.text.family import from_pretrained

    return from_pretrained(name_or_path, *inputs, **options)


def bertModel(name_or_path: "_Name | None" = None, *inputs: _Any, **options: _Any) -> "BertModel":
    """Load only the encoder: a vector for every token, and one for the whole input.

    Args:
        name_or_path: a folder, an archive, a bundled name or a Hub id.
        *inputs: further positional arguments of the class.
        **options: `output_attentions`, `keep_multihead_output`, `cache_dir`, `revision`,
            `from_tf`, `state_dict`, `dtype`, `allow_nonfinite`; also fields of the configuration.

    Example:
        >>> import torch
        >>> model = torch.hub.load(".", "bertModel", "explorer-mini-uncased", source="local")
        >>> ids = torch.tensor([[101, 2040, 7147, 1029, 102]])  # [CLS] who waved ? [SEP]
        >>> with torch.no_grad():
        ...     layers, pooled = model(ids)
        >>> len(layers), layers[-1].shape, pooled.shape
        (6, torch.Size([1, 5, 384]), torch.Size([1, 384]))
    """
    from bert_core import BertModel

    return BertModel.from_pretrained(name_or_path, *inputs, **options)


def bertForPreTraining(
    name_or_path: "_Name | None" = None, *inputs: _Any, **options: _Any
) -> "BertForPreTraining":
    """Load BERT with both pretraining heads: masked words and next sentence.

    ALBERT's second head asks for the order of the sentences; other families have none, and None in
    its place. Takes the arguments of `bertModel`.

    Example:
        >>> import torch
        >>> model = torch.hub.load(
        ...     ".", "bertForPreTraining", "explorer-mini-uncased", source="local"
        ... )
        >>> ids = torch.tensor([[101, 2040, 7147, 1029, 102, 2002, 2106, 1012, 102]])
        >>> types = torch.tensor([[0, 0, 0, 0, 0, 1, 1, 1, 1]])  # two sentences
        >>> with torch.no_grad():
        ...     words, relation = model(ids, types)
        >>> words.shape, relation.shape
        (torch.Size([1, 9, 30522]), torch.Size([1, 2]))
    """
    from bert_core import BertForPreTraining

    return BertForPreTraining.from_pretrained(name_or_path, *inputs, **options)


def bertForMaskedLM(
    name_or_path: "_Name | None" = None, *inputs: _Any, **options: _Any
) -> "BertForMaskedLM":
    """Load BERT with the masked-word head: a score for every word at every position.

    Takes the arguments of `bertModel`.

    Example:
        >>> import torch
        >>> name = "explorer-mini-uncased"
        >>> tokenizer = torch.hub.load(".", "bertTokenizer", name, source="local")
        >>> model = torch.hub.load(".", "bertForMaskedLM", name, source="local")
        >>> text = tokenizer.encode("He wrote a [MASK] to his mother every week.")
        >>> with torch.no_grad():
        ...     scores = model(torch.tensor([text.input_ids]))
        >>> best = scores[0, text.tokens.index("[MASK]")].topk(10).indices.tolist()
        >>> "letter" in tokenizer.convert_ids_to_tokens(best)
        True
    """
    from bert_core import BertForMaskedLM

    return BertForMaskedLM.from_pretrained(name_or_path, *inputs, **options)


def bertForNextSentencePrediction(
    name_or_path: "_Name | None" = None, *inputs: _Any, **options: _Any
) -> "BertForNextSentencePrediction":
    """Load BERT with the next-sentence head: index 0 is "follows", index 1 is "random".

    Other families are not trained for that; a ConfigError says so. Takes the arguments of
    `bertModel`.

    Example:
        >>> import torch
        >>> name = "explorer-mini-uncased"
        >>> tokenizer = torch.hub.load(".", "bertTokenizer", name, source="local")
        >>> model = torch.hub.load(".", "bertForNextSentencePrediction", name, source="local")
        >>> pair = tokenizer("The bus was late.", "She took a taxi.", return_tensors="pt")
        >>> with torch.no_grad():
        ...     model(**pair).softmax(-1).shape
        torch.Size([1, 2])
    """
    from bert_core import BertForNextSentencePrediction

    return BertForNextSentencePrediction.from_pretrained(name_or_path, *inputs, **options)


def bertForSequenceClassification(
    name_or_path: "_Name | None" = None, *inputs: _Any, **options: _Any
) -> "BertForSequenceClassification":
    """Load BERT for classifying texts or pairs of texts.

    Takes the arguments of `bertModel`, and `num_labels`. If the checkpoint has no such head, the
    head is newly initialised: `model.load_report.missing` names the parameters to train.

    Example:
        >>> import torch
        >>> model = torch.hub.load(
        ...     ".", "bertForSequenceClassification", "explorer-mini-uncased", source="local"
        ... )
        >>> ids = torch.tensor([[101, 2040, 7147, 1029, 102]])
        >>> with torch.no_grad():
        ...     model(ids).shape
        torch.Size([1, 2])
    """
    from bert_core import BertForSequenceClassification

    return BertForSequenceClassification.from_pretrained(name_or_path, *inputs, **options)


def bertForMultipleChoice(
    name_or_path: "_Name | None" = None, *inputs: _Any, **options: _Any
) -> "BertForMultipleChoice":
    """Load BERT for choosing one of several texts; inputs are (questions, choices, tokens).

    Takes the arguments of `bertModel`, and `num_choices`.

    Example:
        >>> import torch
        >>> model = torch.hub.load(
        ...     ".", "bertForMultipleChoice", "explorer-mini-uncased", 3, source="local"
        ... )
        >>> ids = torch.tensor([[[101, 2040, 102], [101, 2054, 102], [101, 2073, 102]]])
        >>> with torch.no_grad():
        ...     model(ids).shape  # one question, a score for each of three choices
        torch.Size([1, 3])
    """
    from bert_core import BertForMultipleChoice

    return BertForMultipleChoice.from_pretrained(name_or_path, *inputs, **options)


def bertForTokenClassification(
    name_or_path: "_Name | None" = None, *inputs: _Any, **options: _Any
) -> "BertForTokenClassification":
    """Load BERT for classifying every token: named entities, parts of speech.

    Takes the arguments of `bertModel`, and `num_labels`. If the checkpoint has no such head, the
    head is newly initialised: `model.load_report.missing` names the parameters to train.

    Example:
        >>> import torch
        >>> model = torch.hub.load(
        ...     ".", "bertForTokenClassification", "explorer-mini-uncased", 9, source="local"
        ... )
        >>> ids = torch.tensor([[101, 2040, 7147, 1029, 102]])
        >>> with torch.no_grad():
        ...     model(ids).shape  # a score for each of nine labels at each of five tokens
        torch.Size([1, 5, 9])
    """
    from bert_core import BertForTokenClassification

    return BertForTokenClassification.from_pretrained(name_or_path, *inputs, **options)


def bertForQuestionAnswering(
    name_or_path: "_Name | None" = None, *inputs: _Any, **options: _Any
) -> "BertForQuestionAnswering":
    """Load BERT for finding where the answer to a question starts and ends in a text.

    Takes the arguments of `bertModel`. If the checkpoint has no such head, the head is newly
    initialised: `model.load_report.missing` names the parameters to train.

    Example:
        >>> import torch
        >>> name = "explorer-mini-uncased"
        >>> tokenizer = torch.hub.load(".", "bertTokenizer", name, source="local")
        >>> model = torch.hub.load(".", "bertForQuestionAnswering", name, source="local")
        >>> pair = tokenizer("Who waved?", "The puppeteer waved.", return_tensors="pt")
        >>> with torch.no_grad():
        ...     start, end = model(**pair)
        >>> start.shape == end.shape == pair["input_ids"].shape
        True
    """
    from bert_core import BertForQuestionAnswering

    return BertForQuestionAnswering.from_pretrained(name_or_path, *inputs, **options)
