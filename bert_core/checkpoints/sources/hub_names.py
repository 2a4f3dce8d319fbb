"""Names on the Hugging Face Hub: model ids, and the files of a model that are needed.

A repository often contains the same weights five times, in formats for five libraries; only the
files that are needed are fetched.
"""

import re
from collections.abc import Collection
from enum import Enum
from pathlib import Path

from bert_core.checkpoints.formats.mistaken import instead
from bert_core.checkpoints.formats.weights import INDEX, PICKLE, SAFETENSORS
from bert_core.checkpoints.settings import CONFIG_NAMES
from bert_core.errors import BertError, CheckpointError, InputError, MissingFileError
from bert_core.small_files import listed, shown

# The Hub's rules for `owner/name`: each part has at most 96 characters.
_PART = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?")
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,127}")
_FIRST_OWNER = "google-bert"
# Models that could originally be named without an owner.
SHORT_NAMES = (
    *("bert-base-uncased", "bert-large-uncased", "bert-base-cased", "bert-large-cased"),
    *("bert-base-multilingual-uncased", "bert-base-multilingual-cased", "bert-base-chinese"),
    *("bert-base-german-cased", "bert-base-german-dbmdz-cased", "bert-base-german-dbmdz-uncased"),
    *("bert-large-uncased-whole-word-masking", "bert-large-cased-whole-word-masking"),
    "bert-large-uncased-whole-word-masking-finetuned-squad",
    "bert-large-cased-whole-word-masking-finetuned-squad",
    "bert-base-cased-finetuned-mrpc",
)
MAIN = "main"


class Part(Enum):
    """Which part of a checkpoint is requested."""

    MODEL = "model"
    TENSORFLOW = "TensorFlow checkpoint"
    CONFIG = "configuration"
    TOKENIZER = "tokenizer"


def hub_id(text: str) -> str:
    """Return the canonical id for `owner/name` or one of `SHORT_NAMES`; untrusted input is safe.

    Raises:
        InputError: it is neither.

    >>> hub_id("bert-base-uncased"), hub_id("dslim/bert-base-NER")
    ('google-bert/bert-base-uncased', 'dslim/bert-base-NER')
    """
    if text in SHORT_NAMES:
        return f"{_FIRST_OWNER}/{text}"
    if is_hub_id(text):
        return text
    raise InputError(
        f"{shown(text)} is not an id on the Hugging Face Hub. Expected owner/name, such as "
        "google-bert/bert-base-uncased, or a short name such as bert-base-uncased."
    )


def is_hub_id(text: str) -> bool:
    """Return whether a text has the form `owner/name`.

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
    """Return a validated branch, tag or commit; `main` for None.

    Raises:
        InputError: `revision` is not a valid name of one.
    """
    if revision is None:
        return MAIN
    text = revision if isinstance(revision, str) else ""
    if not _REVISION.fullmatch(text) or ".." in text or "" in text.split("/"):
        raise InputError(
            f"{shown(revision)} is not a revision; expected a branch, a tag or a commit."
        )
    return text


VOCABULARIES = ("tokenizer.json", "vocab.txt")  # the first of them counts
MERGES = ("vocab.json", "merges.txt")  # both are needed
SENTENCEPIECE = ("sentencepiece.bpe.model", "spiece.model")
_FAMILIES = (*VOCABULARIES, MERGES[0], *SENTENCEPIECE)  # any of these is a vocabulary
_SETTINGS = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
_TOKENIZER = (*VOCABULARIES, *MERGES, *SENTENCEPIECE, *_SETTINGS)
_CARD = "README.md"
_SHARD = re.compile(r"model-\d{5}-of-(\d{5})\.safetensors")
_TENSORFLOW = re.compile(r"[\w.-]+\.ckpt(-\d+)?\.(index|data-\d{5}-of-\d{5})")
_CKPT = "a TensorFlow checkpoint (.ckpt.index with its data files)"
_HEAD = re.compile(r"heads/[A-Za-z]+/(config\.json|model\.safetensors)")


def needed(names: Collection[str], part: Part, repository: str) -> list[str]:
    """Choose the files to fetch, small ones first."""
    tokenizer = [name for name in _TOKENIZER if name in names]
    config = [name for name in CONFIG_NAMES if name in names][:1]
    if part is Part.TOKENIZER:
        if not any(name in tokenizer for name in _FAMILIES):
            raise MissingFileError(
                f"{repository} has no vocab.txt, no tokenizer.json and no other vocabulary that is "
                f"read ({', '.join(_FAMILIES[2:])}). Found: {listed(names)}."
            )
        return [*config, *tokenizer]  # the configuration says whose tokenizer it is
    if not config:
        raise MissingFileError(
            f"{repository} has no {' or '.join(CONFIG_NAMES)}, so it is not a BERT model. Found: "
            f"{listed(names)}.{instead(names)}"
        )
    if part is Part.CONFIG:
        return config
    first = [] if part is Part.TENSORFLOW else [SAFETENSORS, INDEX, PICKLE]
    weights = [name for name in first if name in names][:1]
    if weights == [INDEX]:
        weights += sorted(name for name in names if _SHARD.fullmatch(name))
    if not weights:
        weights = sorted(name for name in names if _TENSORFLOW.fullmatch(name))
        complete = len({name.endswith(".index") for name in weights}) == 2
        weights = weights if complete else []
    heads = sorted(name for name in names if _HEAD.fullmatch(name))
    if not weights:
        expected = f"{SAFETENSORS}, {INDEX} with its shards, {PICKLE}, or {_CKPT}"
        expected = _CKPT if part is Part.TENSORFLOW else expected
        raise CheckpointError(
            f"{repository} has no weights in a supported format. Expected {expected}. Found: "
            f"{listed(set(names).difference(heads))}.{instead(names)}"
        )
    card = [_CARD] if _CARD in names else []
    return [*config, *tokenizer, *card, *weights, *heads]


def is_complete(folder: Path, part: Part) -> bool:
    """Return whether a folder has everything requested, so that the Hub is not needed."""
    try:
        files = needed({path.name for path in folder.iterdir()}, part, folder.name)
    except (OSError, BertError):
        return False
    shards = [found for name in files if (found := _SHARD.fullmatch(name))]
    return INDEX not in files or (bool(shards) and len(shards) == int(shards[0][1]))
