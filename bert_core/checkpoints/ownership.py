"""Whose `classifier` it is: three classes give their head the same tensor names.

A classifier of texts and a tagger of words cannot be told apart by names or shapes, so a
checkpoint's word for it counts first, and what only one of them can have next. Where neither
decides, the head belongs to nobody: to guess would be to show one model's numbers as another's.
"""

import re
from collections.abc import Container, Mapping
from typing import Any

from bert_core.config import BertConfig

TAGGER = "BertForTokenClassification"
TEXTS = "BertForSequenceClassification"
CHOICE = "BertForMultipleChoice"
_CLASSES = (TEXTS, TAGGER, CHOICE)
_HEAD = "classifier.weight"
_POOLER = "pooler.dense.weight"
# The schemes of chunking: inside, outside, begin; with end, single, last, unit.
_CHUNK_TAG = re.compile(r"[BIESLU][-_]\S+")


def classifier_class(config: BertConfig, bare_names: Container[str]) -> str | None:
    """Name the class whose head the checkpoint's `classifier` is.

    Args:
        config: the checkpoint's.
        bare_names: the names of its tensors, see `keys.bare_name`.

    Returns:
        A class name; None where there is no classifier, or nothing tells whose it is.

    >>> names = {"classifier.weight", "pooler.dense.weight"}
    >>> classifier_class(BertConfig(9, architectures=["BertForMultipleChoice"]), names)
    'BertForMultipleChoice'
    >>> classifier_class(BertConfig(9, id2label={0: "O", 1: "B-PER"}), names)
    'BertForTokenClassification'
    >>> classifier_class(BertConfig(9), names) is None
    True
    """
    if _HEAD not in bare_names:
        return None
    named = [name for name in _named_classes(config) if name in _CLASSES]
    if len(named) == 1:
        return named[0]
    if config.extra.get("problem_type"):  # only the classifier of texts has this setting
        return TEXTS
    if any(_CHUNK_TAG.fullmatch(label) for label in config.id2label.values()):
        return TAGGER
    if _POOLER not in bare_names:  # the two others score the pooled output
        return TAGGER
    return None


def head_class(cls: type[Any]) -> str | None:
    """Name which of the three classes a class is or derives from; None where it is none of them."""
    return next((base.__name__ for base in cls.__mro__ if base.__name__ in _CLASSES), None)


def without_foreign_head(
    cls: type[Any], config: BertConfig, found: Mapping[str, Any], *, keep_untold: bool = False
) -> dict[str, Any]:
    """Leave out a `classifier` that belongs to another class than this one.

    Args:
        cls: the class to be filled.
        config: the checkpoint's.
        found: its tensors by bare names.
        keep_untold: whether a `classifier` whose class nothing tells is kept. True where a caller
            chose the class for this very checkpoint, as with the files of the first PyTorch
            releases, which name no class; False where every class is tried in turn.
    """
    wanted, owner = head_class(cls), classifier_class(config, found)
    if wanted is None or owner == wanted or (owner is None and keep_untold):
        return dict(found)
    return {name: entry for name, entry in found.items() if not name.startswith("classifier.")}


def _named_classes(config: BertConfig) -> list[str]:
    """Return the architectures a config names."""
    listed = config.extra.get("architectures")
    names = listed if isinstance(listed, list | tuple) else ()
    return [name for name in names if isinstance(name, str)]
