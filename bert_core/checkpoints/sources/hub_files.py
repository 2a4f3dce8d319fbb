"""Which files of a repository on the Hub are needed; the rest is never fetched.

A repository often holds the same weights five times, in formats for five libraries.
"""

import re
from collections.abc import Collection
from pathlib import Path

from bert_core.checkpoints.formats.weights import INDEX, PICKLE, SAFETENSORS
from bert_core.checkpoints.settings import CONFIG_NAMES
from bert_core.checkpoints.sources.hub_names import Part
from bert_core.errors import CheckpointError, MissingFileError

VOCABULARY = "vocab.txt"
_TOKENIZER = (VOCABULARY, "tokenizer_config.json")
_CARD = "README.md"
_SHARD = re.compile(r"model-\d{5}-of-(\d{5})\.safetensors")
_TENSORFLOW = re.compile(r"[\w.-]+\.ckpt(-\d+)?\.(index|data-\d{5}-of-\d{5})")
_CKPT = "a TensorFlow checkpoint (.ckpt.index with its data files)"
_HEAD = re.compile(r"heads/[A-Za-z]+/(config\.json|model\.safetensors)")


def needed(names: Collection[str], part: Part, repository: str) -> list[str]:
    """Choose the files to fetch, small ones first.

    Args:
        names: the files that the repository has.
        part: what is wanted.
        repository: what to call it in messages.

    Raises:
        MissingFileError: what is wanted is not there.
        CheckpointError: it is there in a form that this package does not read.
    """
    tokenizer = [name for name in _TOKENIZER if name in names]
    if part is Part.TOKENIZER:
        if VOCABULARY not in tokenizer:
            raise MissingFileError(
                f"{repository} has no {VOCABULARY}; its tokenizer is of another kind than BERT's. "
                f"Found: {_listed(names)}."
            )
        return tokenizer
    config = [name for name in CONFIG_NAMES if name in names][:1]
    if not config:
        raise MissingFileError(
            f"{repository} has no {' or '.join(CONFIG_NAMES)}, so it is no BERT. Found: "
            f"{_listed(names)}."
        )
    if part is Part.CONFIG:
        return config
    weights = weights_among(names, tensorflow=part is Part.TENSORFLOW)
    if not weights:
        expected = f"{SAFETENSORS}, {INDEX} with its shards, {PICKLE}, or {_CKPT}"
        expected = _CKPT if part is Part.TENSORFLOW else expected
        raise CheckpointError(
            f"{repository} has no weights that can be read here. Expected {expected}. Found: "
            f"{_listed(names)}."
        )
    heads = sorted(name for name in names if _HEAD.fullmatch(name))
    card = [_CARD] if _CARD in names else []
    return [*config, *tokenizer, *card, *weights, *heads]


def weights_among(names: Collection[str], *, tensorflow: bool = False) -> list[str]:
    """Return the files of one set of weights, in the order in which `weights` looks for them."""
    checkpoint = sorted(name for name in names if _TENSORFLOW.fullmatch(name))
    if tensorflow:
        return checkpoint
    if SAFETENSORS in names:
        return [SAFETENSORS]
    if INDEX in names:
        return [INDEX, *sorted(name for name in names if _SHARD.fullmatch(name))]
    return [PICKLE] if PICKLE in names else checkpoint


def is_complete(folder: Path, part: Part) -> bool:
    """Tell whether a folder has what is wanted, so that nothing needs to be asked of the Hub."""
    try:
        names = {path.name for path in folder.iterdir()}
    except OSError:
        return False
    if part is Part.TOKENIZER:
        return VOCABULARY in names
    configured = any(name in names for name in CONFIG_NAMES)
    if part is Part.CONFIG:
        return configured
    weights = weights_among(names, tensorflow=part is Part.TENSORFLOW)
    return configured and _is_whole(weights)


def _is_whole(weights: list[str]) -> bool:
    """Tell whether a set of weights lacks none of its files, as far as their names say."""
    shards = [match for name in weights if (match := _SHARD.fullmatch(name))]
    if shards:
        return len(shards) == int(shards[0][1])
    if weights and _TENSORFLOW.fullmatch(weights[0]):
        return any(name.endswith(".index") for name in weights) and len(weights) > 1
    return bool(weights) and weights != [INDEX]


def _listed(names: Collection[str]) -> str:
    shown = sorted(names)[:12]
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return (", ".join(shown) or "nothing") + more
