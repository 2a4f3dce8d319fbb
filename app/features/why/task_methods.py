"""The methods that are compared: their arguments for `bert_core.analysis.attribute`, and cost."""

from typing import Any

from app.features.why.result import METHODS, Method
from bert_core import Encoding
from bert_core.analysis import Attribution, Target, attribute
from bert_core.analysis.forward import Progress
from bert_core.model.pretrained import BertPreTrainedModel

_LONG = 64  # tokens from which fewer orders are drawn: the work grows with the cube of the length
_ORDERS, _FEW = 10, 4
AT_ONCE = 2048
"""Tokens that the library reads in one step on a processor."""


def options(method: Method, baseline: str = "[MASK]", tokens: int = 0) -> dict[str, Any]:
    """Return the arguments of `attribute` for a method and a number of tokens.

    >>> options("attention_last")
    {'method': 'attention', 'layers': 'last'}
    """
    if method == "attention_last":
        return {"method": "attention", "layers": "last"}
    if method == "integrated_gradients":
        return {"method": method, "baseline": baseline}
    if method == "shapley":
        return {"method": method, "orders": _orders(tokens)}
    return {"method": method}


def attribute_all(
    model: BertPreTrainedModel,
    encoding: Encoding,
    target: Target,
    baseline: str,
    progress: Progress,
) -> list[Attribution]:
    """Score the tokens with each of `METHODS`, in their order; progress is counted in passes."""
    passes = [passes_of(method, len(encoding)) for method in METHODS]
    found = []
    for number, method in enumerate(METHODS):

        def told(done: int, of: int, number: int = number) -> None:
            progress(sum(passes[:number]) + passes[number] * done // of, sum(passes))

        given = options(method, baseline, len(encoding))
        found.append(attribute(model, encoding, target, **given, progress=told))
    return found


def _orders(tokens: int) -> int:
    return _FEW if tokens > _LONG else _ORDERS


def passes_of(method: Method, tokens: int) -> int:
    """Estimate the passes of a method through the model."""
    dear = {"integrated_gradients": 50, "occlusion": tokens, "shapley": _orders(tokens) * tokens}
    return dear.get(method, 2)
