"""Names on the Hugging Face Hub: what one may look like, and the short ones of old."""

import re
from enum import Enum

from bert_core.errors import InputError

# The Hub's own rules; `owner/name`, each at most 96 characters.
_PART = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?")
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,127}")
_FIRST_OWNER = "google-bert"
# The models that could once be named without an owner.
SHORT_NAMES = (
    "bert-base-uncased",
    "bert-large-uncased",
    "bert-base-cased",
    "bert-large-cased",
    "bert-base-multilingual-uncased",
    "bert-base-multilingual-cased",
    "bert-base-chinese",
    "bert-base-german-cased",
    "bert-base-german-dbmdz-cased",
    "bert-base-german-dbmdz-uncased",
    "bert-large-uncased-whole-word-masking",
    "bert-large-cased-whole-word-masking",
    "bert-large-uncased-whole-word-masking-finetuned-squad",
    "bert-large-cased-whole-word-masking-finetuned-squad",
    "bert-base-cased-finetuned-mrpc",
)
MAIN = "main"


class Part(Enum):
    """What of a checkpoint somebody wants."""

    MODEL = "model"
    TENSORFLOW = "TensorFlow checkpoint"
    CONFIG = "configuration"
    TOKENIZER = "tokenizer"


def hub_id(text: str) -> str:
    """Return the canonical id that a text names; safe for what strangers typed.

    Args:
        text: `owner/name`, or one of `SHORT_NAMES`. Nothing else: no path, no address.

    Raises:
        InputError: it is neither.

    >>> hub_id("bert-base-uncased")
    'google-bert/bert-base-uncased'
    >>> hub_id("dslim/bert-base-NER")
    'dslim/bert-base-NER'
    """
    if text in SHORT_NAMES:
        return f"{_FIRST_OWNER}/{text}"
    if is_hub_id(text):
        return text
    raise InputError(
        f"{_short(text)} is no id on the Hugging Face Hub. Expected owner/name in letters, digits, "
        "dots, hyphens and underscores, such as google-bert/bert-base-uncased, or a short name "
        "such as bert-base-uncased."
    )


def is_hub_id(text: str) -> bool:
    """Tell whether a text has the form `owner/name`.

    >>> [is_hub_id(text) for text in ("a/b", "a", "a/b/c", "../b", "a--b/c", "a/b.git", "./a")]
    [True, False, False, False, False, False, False]
    """
    parts = text.split("/")
    return (
        len(parts) == 2
        and all(_PART.fullmatch(part) for part in parts)
        and "--" not in text
        and ".." not in text
        and not text.endswith(".git")
    )


def checked_revision(revision: str | None) -> str:
    """Return a branch, tag or commit; `main` for None.

    Raises:
        InputError: it cannot be one.
    """
    if revision is None:
        return MAIN
    parts = revision.split("/") if isinstance(revision, str) else [""]
    if (
        not isinstance(revision, str)
        or not _REVISION.fullmatch(revision)
        or ".." in revision
        or "" in parts
    ):
        raise InputError(
            f"{_short(str(revision))} is no revision. Expected a branch, a tag or a commit, such "
            "as main."
        )
    return revision


def _short(text: str) -> str:
    return repr(text[:60]) + ("..." if len(text) > 60 else "")
