"""Entry points for `torch.hub`: the tokenizer and BERT's eight models.

They open checkpoints of RoBERTa, XLM-RoBERTa, CamemBERT, DistilBERT, ELECTRA and ALBERT as well.

Every entry point takes the arguments of its class's `from_pretrained`: a folder, an archive, a
bundled name or a Hub id; positional arguments of the class; `output_attentions`,
`keep_multihead_output`, `cache_dir`, `revision`, `from_tf`, `state_dict`, `dtype`, and fields
of the configuration. Where a checkpoint lacks a head, it is newly
initialised, and `model.load_report.missing` names the parameters to train.

Imports happen inside the entry points, so that listing is fast and `dependencies` is checked before
anything is imported. Other names start with an underscore, because `torch.hub` lists the rest.
"""

from typing import Any as _Any

dependencies = [
    *("torch", "numpy", "safetensors", "tokenizers", "regex"),
    *("filelock", "huggingface_hub", "requests", "tqdm"),
]


def bertTokenizer(*inputs: _Any, **options: _Any) -> _Any:
    """Load the tokenizer of a checkpoint: `BertTokenizer` for WordPiece, else `FamilyTokenizer`.

    A `BertTokenizer` has options: `do_lower_case`, `max_len`, `never_split`, `do_basic_tokenize`.
    If the last is False, text is split only at whitespace before WordPiece.

    >>> import torch
    >>> place = ".", "bertTokenizer", "explorer-mini-uncased"
    >>> torch.hub.load(*place, source="local").tokenize("The puppeteer waved.")
    ['the', 'puppet', '##eer', 'waved', '.']
    >>> plain = torch.hub.load(*place, do_basic_tokenize=False, source="local")
    >>> plain.tokenize("[CLS] who waved ? [SEP] the puppeteer waved . [SEP]")[:5]
    ['[CLS]', 'who', 'waved', '?', '[SEP]']
    """
    from bert_core.text.family import from_pretrained

    return from_pretrained(*inputs, **options)


def bertModel(*inputs: _Any, **options: _Any) -> _Any:
    """Load only the encoder: a vector for every token, and one for the whole input.

    >>> import torch
    >>> model = torch.hub.load(".", "bertModel", "explorer-mini-uncased", source="local")
    >>> layers, pooled = model(torch.tensor([[101, 2040, 7147, 1029, 102]]))
    >>> len(layers), layers[-1].shape, pooled.shape
    (6, torch.Size([1, 5, 384]), torch.Size([1, 384]))
    """
    return _load("BertModel", *inputs, **options)


def bertForPreTraining(*inputs: _Any, **options: _Any) -> _Any:
    """Load BERT with both pretraining heads: masked words and next sentence.

    ALBERT's second head asks for the order of the sentences; other families have none, and None in
    its place.

    >>> import torch
    >>> model = torch.hub.load(".", "bertForPreTraining", "explorer-mini-uncased", source="local")
    >>> words, relation = model(torch.tensor([[101, 2040, 102, 2002, 102]]))
    >>> words.shape, relation.shape
    (torch.Size([1, 5, 30522]), torch.Size([1, 2]))
    """
    return _load("BertForPreTraining", *inputs, **options)


def bertForMaskedLM(*inputs: _Any, **options: _Any) -> _Any:
    """Load BERT with the masked-word head: a score for every word at every position.

    >>> import torch
    >>> model = torch.hub.load(".", "bertForMaskedLM", "explorer-mini-uncased", source="local")
    >>> model(torch.tensor([[101, 2040, 103, 1029, 102]])).shape
    torch.Size([1, 5, 30522])
    """
    return _load("BertForMaskedLM", *inputs, **options)


def bertForNextSentencePrediction(*inputs: _Any, **options: _Any) -> _Any:
    """Load BERT with the next-sentence head: index 0 is "follows", index 1 is "random".

    Other families are not trained for that; a ConfigError says so.

    >>> import torch
    >>> name = "explorer-mini-uncased"
    >>> model = torch.hub.load(".", "bertForNextSentencePrediction", name, source="local")
    >>> model(torch.tensor([[101, 2040, 102, 2002, 102]])).shape
    torch.Size([1, 2])
    """
    return _load("BertForNextSentencePrediction", *inputs, **options)


def bertForSequenceClassification(*inputs: _Any, **options: _Any) -> _Any:
    """Load BERT for classifying texts or pairs of texts; `num_labels` is the number of classes.

    >>> import torch
    >>> name = "explorer-mini-uncased"
    >>> model = torch.hub.load(".", "bertForSequenceClassification", name, source="local")
    >>> model(torch.tensor([[101, 2040, 7147, 1029, 102]])).shape
    torch.Size([1, 2])
    """
    return _load("BertForSequenceClassification", *inputs, **options)


def bertForMultipleChoice(*inputs: _Any, **options: _Any) -> _Any:
    """Load BERT for choosing one of several texts; inputs are (questions, choices, tokens).

    >>> import torch
    >>> name = "explorer-mini-uncased"
    >>> model = torch.hub.load(".", "bertForMultipleChoice", name, source="local")
    >>> model(torch.tensor([[[101, 2040, 102], [101, 2054, 102], [101, 2073, 102]]])).shape
    torch.Size([1, 3])
    """
    return _load("BertForMultipleChoice", *inputs, **options)


def bertForTokenClassification(*inputs: _Any, **options: _Any) -> _Any:
    """Load BERT for classifying every token: named entities, parts of speech.

    >>> import torch
    >>> name = "explorer-mini-uncased"
    >>> model = torch.hub.load(".", "bertForTokenClassification", name, 9, source="local")
    >>> model(torch.tensor([[101, 2040, 7147, 1029, 102]])).shape  # a score for each of 9 labels
    torch.Size([1, 5, 9])
    """
    return _load("BertForTokenClassification", *inputs, **options)


def bertForQuestionAnswering(*inputs: _Any, **options: _Any) -> _Any:
    """Load BERT for finding where the answer to a question starts and ends in a text.

    >>> import torch
    >>> name = "explorer-mini-uncased"
    >>> model = torch.hub.load(".", "bertForQuestionAnswering", name, source="local")
    >>> start, end = model(torch.tensor([[101, 2040, 7147, 1029, 102]]))
    >>> start.shape == end.shape
    True
    """
    return _load("BertForQuestionAnswering", *inputs, **options)


def _load(name: str, *inputs: _Any, **options: _Any) -> _Any:
    import bert_core

    return getattr(bert_core, name).from_pretrained(*inputs, **options)
