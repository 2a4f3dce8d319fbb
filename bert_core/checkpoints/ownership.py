"""Determine which class a checkpoint's `classifier` belongs to.

Some families have a layer before their classifiers (`Step` in `bert_core.families`); its name says
more.

Three classes use the same tensor names for their head. Names and shapes cannot distinguish a text
classifier from a word tagger, so the checkpoint's own declaration counts first, then features that
only one class can have. If neither decides, the head is assigned to no class: a guess could present
one model's numbers as another's.
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
PARTS = ("classifier.", "pre_classifier.", "summary.")
"""What the names of a classifier's parameters begin with."""
_POOLER = "pooler.dense.weight"
# Chunking schemes: inside, outside, begin; with end, single, last, unit.
_CHUNK_TAG = re.compile(r"[BIESLU][-_]\S+")


def classifier_class(config: BertConfig, bare_names: Container[str]) -> str | None:
    """Return the name of the class that the checkpoint's `classifier` belongs to.

    Returns:
        A class name; None if there is no classifier, or its class cannot be determined.

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
    family = config.family
    named = [name for name in _CLASSES if family.class_name(name) in config.architectures]
    named = named or [name for name in _CLASSES if name in config.architectures]
    if len(named) == 1:
        return named[0]
    stepped = [
        name
        for name, step in ((TEXTS, family.text_step), (CHOICE, family.choice_step))
        if step is not None and f"{step.name}.weight" in bare_names
    ]
    if stepped:
        return stepped[0] if len(stepped) == 1 else None
    if config.extra.get("problem_type"):  # only the text classifier has this setting
        return TEXTS
    if any(_CHUNK_TAG.fullmatch(label) for label in config.id2label.values()):
        return TAGGER
    if _POOLER not in bare_names:  # the others score the pooled output, or have a step
        return TAGGER
    return None


def head_class(cls: type[Any]) -> str | None:
    """Return which of the three classes `cls` is or derives from; None if it is none of them."""
    return next((base.__name__ for base in cls.__mro__ if base.__name__ in _CLASSES), None)


def without_foreign_head(
    cls: type[Any], config: BertConfig, found: Mapping[str, Any], *, keep_untold: bool = False
) -> dict[str, Any]:
    """Leave out a `classifier` that belongs to a different class.

    `keep_untold` says whether to keep a `classifier` of undetermined class: True if the caller
    chose the class for this checkpoint, as with the files of the first PyTorch releases, which name
    no class; False if every class is tried in turn.
    """
    wanted, owner = head_class(cls), classifier_class(config, found)
    if wanted is None or owner == wanted or (owner is None and keep_untold) or _HEAD not in found:
        return dict(found)
    return {name: entry for name, entry in found.items() if not name.startswith(PARTS)}
