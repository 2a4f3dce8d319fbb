"""Parameter names: map the different names used by published checkpoints to one.

Tensors are compared by *bare* name, without the prefix `bert.`. Names of other families are
translated one by one: a name that is not exactly one of them stays unknown. What training puts
around a model or a module (`module.`, `_orig_mod.`) is taken off first.
"""

import functools
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from torch import Tensor

from bert_core.config import BertConfig
from bert_core.errors import CheckpointError
from bert_core.families import BERT, FAMILIES, PARAMETERS, Family

# Buffers that older versions of transformers saved; their contents are known (0, 1, 2, ...).
_BUFFERS = ("embeddings.position_ids", "embeddings.token_type_ids")
# TensorFlow's names, kept by the first conversions. Only inside LayerNorm: another module may have
# a parameter called gamma.
_OLD_ENDINGS = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
_TIED = {
    "cls.predictions.decoder.weight": "embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}
_WRAPPERS = re.compile(
    r"(?<![^.])(module|_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module)\."
)
_WORDS = "embeddings.word_embeddings.weight"
OF_TRAINING = re.compile(r"loss|criterion|class_weight|pos_weight|n_averaged")
"""What programs that train save beside a model, outside of it."""
_LAYER = re.compile(r"encoder\.layer\.(\d{1,6})\.(.+)")
INSIDE = ("embeddings.", "encoder.")
"""What the bare names of embeddings and layers begin with."""
_CORE = re.compile(
    r"(?P<before>|.*\.)(embeddings\.(\w+_embeddings|LayerNorm|projection)|encoder\.layer\.\d+\."
    r"(attention\.self\.(query|key|value)|attention\.output\.(dense|LayerNorm)|intermediate\.dense"
    r"|output\.(dense|LayerNorm)))\.(weight|bias)"
)


@dataclass(frozen=True, slots=True)
class Found:
    """A tensor of a checkpoint."""

    file_name: str  # its name in the file
    tensor: Tensor
    is_inside: bool = False  # of embeddings or layers, as any family calls them


@dataclass(frozen=True, slots=True)
class Repeat:
    """A tensor stored once in a tied model but twice in the file; by bare names."""

    name: str
    original: str
    copy: Found


def bare_name(name: str, prefix: str = BERT.prefix) -> str:
    """Return the current name of a parameter, without the encoder's prefix.

    >>> bare_name("bert.encoder.layer.0.output.LayerNorm.gamma"), bare_name("classifier.gamma")
    ('encoder.layer.0.output.LayerNorm.weight', 'classifier.gamma')
    """
    name = name.removeprefix(prefix)
    for old, new in _OLD_ENDINGS.items():
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name


@functools.lru_cache(maxsize=16)
def _names(family: Family, layers: tuple[int, ...]) -> dict[str, str]:
    """Return bare name -> name in the family's files; `layers` are `BertConfig.weights_of`."""
    numbers = {own: index for index, own in enumerate(dict.fromkeys(layers))}
    found = {}
    for module in PARAMETERS:
        for leaf in (".weight", ".bias"):
            theirs = family.names.get(module + leaf, family.names.get(module, module) + leaf)
            for layer, number in numbers.items() if "{}" in module else ((0, 0),):
                found[module.format(layer) + leaf] = theirs.format(number)
    return found


def name_in_file(name: str, config: BertConfig, names: Container[str]) -> str:
    """Return what the family's files call a parameter of a model with these names."""
    family = config.family
    if family is BERT:
        return name
    bare = bare_name(name)
    if bare.startswith("classifier.") and "pre_classifier.weight" in names:
        return bare.replace("classifier", family.text_classifier, 1)
    theirs = _names(family, config.weights_of).get(bare, bare)
    return theirs if bare == name else family.prefix + theirs


@functools.lru_cache(maxsize=16)
def _inverse(family: Family, layers: tuple[int, ...]) -> dict[str, str]:
    ours = {theirs: ours for ours, theirs in _names(family, layers).items()}
    texts = {family.text_classifier + leaf: "classifier" + leaf for leaf in (".weight", ".bias")}
    return ours | texts


def _translated(name: str, config: BertConfig, given: bool) -> str:
    """Return the bare name of a tensor in a family's file; any other name is kept, marked."""
    family = config.family
    bare = bare_name(name, family.prefix)
    if family is BERT or bare in _BUFFERS:
        return bare
    found = _inverse(family, config.weights_of).get(bare, "")
    if found.startswith((*INSIDE, "pooler.")) or (found and not name.startswith(family.prefix)):
        return found
    return bare_name(name) if given else f"{family.model_type}: {name}"


def by_bare_name(
    tensors: Mapping[str, Tensor], config: BertConfig, *, given: bool = False
) -> tuple[dict[str, Found], tuple[Repeat, ...]]:
    """Return a checkpoint's tensors by bare name without buffers, and its tied copies.

    Args:
        given: the caller passed the tensors, whose names may also be those of this package.
    """
    family, found = config.family, dict[str, Found]()
    names = family.names.items()
    theirs = {name.partition(".")[0] + "." for ours, name in names if ours.startswith(INSIDE)}
    for (name, tensor), plain in zip(tensors.items(), _unwrapped(tensors, family), strict=True):
        bare = _translated(plain, config, given)
        if bare in _BUFFERS:
            continue
        if bare in found:
            raise CheckpointError(f"It has {bare} twice, as {found[bare].file_name} and as {name}.")
        inside = plain.removeprefix(BERT.prefix).startswith((*INSIDE, *theirs))
        inside = inside or plain.startswith(family.prefix)
        found[bare] = Found(name, tensor, inside and not bare_name(bare).startswith("pooler."))
    repeats = []
    for copy, original in (_TIED | _repeated(found, config)).items():
        if copy in found and original in found:
            repeats.append(Repeat(copy, original, found.pop(copy)))
        elif copy in found:
            found[original] = found.pop(copy)
    return found, tuple(repeats)


def _unwrapped(names: Iterable[str], family: Family) -> list[str]:
    """Return the names without wrappers of modules, and without one around the whole model.

    >>> _unwrapped(["module.net.bert.embeddings.word_embeddings.weight", "module.net.c.b"], BERT)
    ['bert.embeddings.word_embeddings.weight', 'c.b']
    >>> _unwrapped(["net.embeddings.word_embeddings.weight", "classifier.bias"], BERT)
    ['net.embeddings.word_embeddings.weight', 'classifier.bias']
    """
    plain = [_WRAPPERS.sub("", name) for name in names]
    around = next(iter(encoders_in(plain)), "").removesuffix(family.prefix)
    of_others = {each.prefix for each in FAMILIES.values()} - {family.prefix}
    if of_others.intersection(f"{part}." for part in around.split(".")):
        return plain  # the names of another family: its encoder is not this one
    whole = all(name.startswith(around) or OF_TRAINING.search(name) for name in plain)
    return [name.removeprefix(around) for name in plain] if whole else plain


def _repeated(names: Iterable[str], config: BertConfig) -> dict[str, str]:
    own = {str(layer): of for layer, of in enumerate(config.weights_of) if of != layer}
    layers = ((name, _LAYER.match(name)) for name in names) if own else ()
    return {
        name: f"encoder.layer.{own[found[1]]}.{found[2]}"
        for name, found in layers
        if found and found[1] in own
    }


def layers_held(bare_names: Iterable[str]) -> set[int]:
    """Return the numbers of the layers that have at least one tensor."""
    return {int(found[1]) for name in bare_names if (found := _LAYER.match(name))}


def encoders_in(names: Iterable[str]) -> list[str]:
    """Return what comes before the embeddings of words, in every model that names belong to.

    >>> encoders_in(["model.embeddings.word_embeddings.weight", "classifier.bias"])
    ['model.']
    """
    return [name.removesuffix(_WORDS) for name in names if f".{name}".endswith(f".{_WORDS}")]


def is_core(name: str) -> bool:
    """Return whether a parameter is part of the embeddings or layers of a BERT, wherever it is.

    Unlike a pooler or a head, no checkpoint is published without them. What a class of one's own
    adds to a layer is not part of it.

    >>> is_core("embeddings.LayerNorm.bias"), is_core("my.encoder.layer.3.output.dense.bias")
    (True, True)
    >>> is_core("pooler.dense.weight"), is_core("encoder.layer.3.output.adapter.weight")
    (False, False)
    """
    return _CORE.fullmatch(name) is not None


def before_core(name: str) -> str:
    """Return what comes before the name of a core parameter, such as "my."; see `is_core`."""
    match = _CORE.fullmatch(name)
    return match["before"] if match else ""
