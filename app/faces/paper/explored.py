"""A model that is in memory already, through any task: `explore(model, tokenizer, text)`."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from torch import nn

from app.declared import declared
from app.engine.models.shelf import IN_MEMORY, Kind, Offer
from app.engine.models.store import open_engine
from app.faces.paper.answers import Written, ask_engine
from bert_core.checkpoints.formats.weights import HELD
from bert_core.errors import InputError

_KNOWN = ("transformers.", "bert_core.")
_WRAPPERS = ("module", "_orig_mod")  # of DataParallel and its relatives, and of `torch.compile`


def explore(
    model: nn.Module,
    tokenizer: Any,
    *values: object,
    task: str = "attention",
    other: tuple[nn.Module, Any] | None = None,
    **given: object,
) -> Written:
    """Ask a task about a model in memory; in a notebook, the answer shows its page.

    The model's parameters are shared, not copied, unless they are of another type than float32,
    and nothing is changed: neither mode, nor gradients, nor device. Dropout is off. What has been
    trained since is seen by the next call.

    Args:
        model: a model of `transformers` or `bert_core`, with any head of the families that
            `bert_core` computes; also inside DataParallel or `torch.compile`.
        tokenizer: the tokenizer that it was trained with, of either library.
        values: the parameters that the task needs, in their order: most often a text.
        task: its name, as in `ask`.
        other: a second model and its tokenizer, for a task that compares two.
        given: parameters by name.

    Raises:
        InputError: the model or the tokenizer is none, or computes something of its own.
        BertError: the model is of a family that is not computed here, or cannot answer.
    """
    found = declared(task)
    names = [each.name for each in found.parameters if each.field.model]
    if other is not None and not names:
        raise InputError(f"{task} compares no models. Leave `other` out.")
    with ExitStack() as held:
        offer = held.enter_context(_held(model, tokenizer, "your model"))
        if other is not None:
            given = {**given, names[0]: held.enter_context(_held(*other, "your other model")).name}
        return ask_engine(found, open_engine(offer), values, given)


@contextmanager
def _held(model: nn.Module, tokenizer: Any, name: str) -> Iterator[Offer]:
    """Offer a model in memory for a while; only its configuration and vocabulary are written."""
    model, known = _unwrapped(model)
    if not hasattr(tokenizer, "save_pretrained"):
        raise InputError(
            f"Found a {type(tokenizer).__name__} as the tokenizer; expected one of `transformers` "
            "or `bert_core`."
        )
    config: Any = model.config
    with tempfile.TemporaryDirectory(prefix="bert-explorer-") as place:
        folder = Path(place).resolve()
        tokenizer.save_pretrained(str(folder))
        values = {**json.loads(config.to_json_string()), "architectures": [known]}
        (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")
        HELD[folder] = {
            key: nn.Parameter(each.detach(), requires_grad=False)
            for key, each in model.named_parameters()
        }
        IN_MEMORY[name] = Offer(name, str(folder), Kind.IN_MEMORY)
        try:
            yield IN_MEMORY[name]
        finally:
            del HELD[folder], IN_MEMORY[name]


def _unwrapped(model: nn.Module) -> tuple[nn.Module, str]:
    """Return the model inside its wrappers, and the class that says what it computes.

    Raises:
        InputError: it is no model of the two libraries, computes otherwise, or has no values.
    """
    while inner := next((m for n in _WRAPPERS if (m := getattr(model, n, None)) is not None), None):
        model = inner
    known = next((c for c in type(model).__mro__ if c.__module__.startswith(_KNOWN)), None)
    if not isinstance(model, nn.Module) or known is None or not hasattr(model, "config"):
        raise InputError(
            f"Found a {type(model).__name__} as the model; expected one of `transformers` or "
            "`bert_core`, such as AutoModel.from_pretrained(...)."
        )
    if type(model).forward is not known.forward or "forward" in vars(model):  # type: ignore[attr-defined]
        raise InputError(
            f"{type(model).__name__} has a `forward` of its own; what it computes is not known "
            f"here. Give its {known.__name__}."
        )
    if any(each.is_meta for each in model.parameters()):
        raise InputError("The model has no values yet: it is on the device “meta”. Load it first.")
    return model, known.__name__
