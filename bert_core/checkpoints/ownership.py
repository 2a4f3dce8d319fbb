"""Determine which class a checkpoint's `classifier` belongs to.

Three classes use the same tensor names, so the checkpoint's own declaration counts first, then
features that only one class can have. If neither decides, the head is assigned to no class: a guess
could present one model's numbers as another's.
"""

from collections.abc import Container, Mapping
from typing import Any

from bert_core.config import BertConfig
from bert_core.labels import read_tags

TAGGER = "BertForTokenClassification"
TEXTS = "BertForSequenceClassification"
CHOICE = "BertForMultipleChoice"
_CLASSES = (TEXTS, TAGGER, CHOICE)
_HEAD = "classifier.weight"
PARTS = ("classifier.", "pre_classifier.", "summary.")
"""What the names of a classifier's parameters begin with."""


def classifier_class(config: BertConfig, bare_names: Container[str]) -> str | None:
    """Return the name of the class that the checkpoint's `classifier` belongs to.

    Returns:
        A class name; "" if it cannot be determined; None if there is no classifier.

    >>> names = {"classifier.weight", "pooler.dense.weight"}
    >>> classifier_class(BertConfig(9, architectures=["BertForMultipleChoice"]), names)
    'BertForMultipleChoice'
    >>> classifier_class(BertConfig(9, id2label={0: "O", 1: "B-PER"}), names)
    'BertForTokenClassification'
    >>> classifier_class(BertConfig(9), names)
    ''
    """
    if _HEAD not in bare_names:
        return None
    family = config.family
    named = [name for name in _CLASSES if family.class_name(name) in config.architectures]
    named = named or [name for name in _CLASSES if name in config.architectures]
    if len(named) == 1:
        return named[0]
    steps = ((TEXTS, family.text_step), (CHOICE, family.choice_step))
    stepped = [name for name, step in steps if step and f"{step.name}.weight" in bare_names]
    if stepped:
        return stepped[0] if len(stepped) == 1 else ""
    if config.extra.get("problem_type"):  # only the text classifier has this setting
        return TEXTS
    if "pooler.dense.weight" not in bare_names:  # the others score its output, or have a step
        return TAGGER
    labels = [*config.id2label.values()]
    marks = {tag.role for tag in read_tags(labels)} & {"inside", "begin"}
    return TAGGER if len(marks) == 2 or (marks and "O" in map(str.upper, labels)) else ""


def head_class(cls: type[Any]) -> str | None:
    """Return which of the three classes `cls` is or derives from; None if it is none of them."""
    return next((base.__name__ for base in cls.__mro__ if base.__name__ in _CLASSES), None)


def without_foreign_head(
    cls: type[Any], config: BertConfig, found: Mapping[str, Any], *, keep_untold: bool = False
) -> dict[str, Any]:
    """Leave out a `classifier` that belongs to a different class.

    `keep_untold`: keep one of undetermined class, because the caller chose the class for this
    checkpoint.
    """
    wanted, owner = head_class(cls), classifier_class(config, found)
    if wanted is None or owner in (None, wanted) or (not owner and keep_untold):
        return dict(found)
    return {name: entry for name, entry in found.items() if not name.startswith(PARTS)}
