"""Tensors that a class does not use: which are harmless, and which would change its answers.

A pooler, heads of other tasks and positions are left over, and the report names them. What is
inside the layers, or between the encoder and the head that is asked for, is part of the model:
answers without it would be confident and wrong, so it is refused by name.
"""

import re
from collections.abc import Iterable, Mapping

from bert_core.checkpoints.fillable import Fillable
from bert_core.checkpoints.keys import INSIDE, OF_TRAINING, Found, bare_name, is_core
from bert_core.errors import CheckpointError
from bert_core.families import FAMILIES, PARAMETERS

_LAYER = re.compile(r"(?:^|\.)layer\.(\d+)\.")
# Heads that are asked for one at a time; an unknown module beside them may stand before them.
_ANSWERING = {"classifier", "qa_outputs"}
# What changes the encoder from outside: prompts and prefixes before the text, parts of LoRA.
_PROMPT = re.compile(r"(?<![a-z])(prefix|prompt|soft_prompt)|past_key_values|lora_|ia3_")
_GET_ANOTHER = "Get a checkpoint without them, or compute with the program that made it."
_KINDS = (  # names of tensors -> what they are
    (
        r"lora_|base_layer|hada_|lokr_|oft_[rs]|vera_|ia3_|modules_to_save",
        "They are of a LoRA, or of another method of PEFT. Merge them (merge_and_unload) and save.",
    ),
    (r"adapter|prefix|prompt|past_key_values", f"Adapters are not computed here. {_GET_ANOTHER}"),
    (
        r"SCB|qweight|qzeros|\bscales?\b|(weight|put)_scale|g_idx|absmax|quant|weight_format",
        "They belong to quantised weights. Get the weights as floating-point numbers.",
    ),
    (
        r"weight_[guv]$|weight_orig|weight_mask|parametrizations",
        "The weights are stored as parts (weight norm, pruning). Put them together with "
        "torch.nn.utils.parametrize.remove_parametrizations, or prune.remove, and save again.",
    ),
    (r"crf|transition", f"A CRF chooses the best row of labels as a whole. {_GET_ANOTHER}"),
    (r"lstm|gru\b|rnn", f"A recurrent layer is not computed here. {_GET_ANOTHER}"),
)


def check_inside(
    model: Fillable, left: Mapping[str, Found], source: str, *, layers_chosen: bool
) -> None:
    """Refuse left-over tensors that are part of the embeddings or layers, or change them.

    `left` is as `keys.by_bare_name` returns it; `layers_chosen` allows layers above the config's.
    """
    if not any(is_core(name) for name, _ in model.named_parameters()):
        return
    layers = model.config.num_hidden_layers
    names, above = list[str](), list[str]()
    for bare, each in left.items():
        is_head = _module(bare) in PARAMETERS and not bare.startswith(INSIDE)
        if _PROMPT.search(bare) or (each.is_inside and not is_head):
            number = _LAYER.search(each.file_name)
            is_above = number is not None and int(number[1]) >= layers
            (above if is_above else names).append(each.file_name)
    if above and not layers_chosen:
        raise CheckpointError(
            f"The config of {source} states {layers:,} layers; the weights contain more: "
            f"{some(above)}. They do not belong together. If only the first are meant, give "
            f"num_hidden_layers={layers} when loading, or remove the others from the file."
        )
    if names:
        raise CheckpointError(
            f"The weights of {source} contain tensors inside the model that are not BERT's: "
            f"{some(names)}. {_advice(names)}"
        )


def head_refusal(model: Fillable, left: Mapping[str, Found], filled: Iterable[str]) -> str:
    """Say why the head of a class cannot be used with tensors `left` over, "" if it can."""
    family = model.config.family
    steps = {step.name for step in (family.text_step, family.choice_step) if step is not None}
    own = {_part(name) for name, _ in model.named_parameters()}
    answers = not _ANSWERING.isdisjoint(map(_part, filled))
    foreign = [
        each.file_name
        for bare, each in left.items()
        if not (each.is_inside or _module(bare) in _MODULES | steps or OF_TRAINING.search(bare))
        and (_part(bare) in own or (answers and _part(bare) not in _HEADS))
    ]
    if not foreign:
        return ""
    return (
        f"The weights contain {some(foreign)}, which {type(model).__name__} does not compute; its "
        f"answers without them would not be the model's. {_advice(foreign)}"
    )


def _plain(bare: str) -> str:
    """Return a name without the mark that a name unknown to its family has."""
    return bare_name(bare.rpartition(": ")[2])


def _module(bare: str) -> str:
    module, _, leaf = _plain(bare).rpartition(".")
    return module if leaf in ("weight", "bias") else ""


def _part(bare: str) -> str:
    """Return the part of a model that a parameter belongs to.

    >>> _part("classifier.0.weight"), _part("cls.predictions.bias"), _part("roberta: crf.start")
    ('classifier', 'cls.predictions', 'crf')
    """
    first, second, *_ = (*_plain(bare).split("."), "")
    return f"{first}.{second}" if first == "cls" else first


_MODULES = set(PARAMETERS) - {"pre_classifier", "summary"}  # those are of some families alone
_HEADS = {_part(ours) for ours in _MODULES if not ours.startswith(INSIDE)}.union(
    _part(theirs)
    for family in FAMILIES.values()
    for ours, theirs in family.names.items()
    if not ours.startswith((*INSIDE, "pre_classifier", "summary"))
)


def some(names: Iterable[str], comma: str = ", ") -> str:
    """Return the first five of some names or sentences, and how many more there are.

    >>> some(["a", "b"]), some("abcdefg")
    ('a, b', 'a, b, c, d, e and 2 more')
    """
    found = list(names)
    more = f" and {len(found) - 5:,} more" if len(found) > 5 else ""
    return comma.join(found[:5]) + more


def _advice(names: list[str]) -> str:
    return next(
        (says for pattern, says in _KINDS if any(re.search(pattern, name) for name in names)),
        "They are no part of BERT, nor of a head that is known here. " + _GET_ANOTHER,
    )
