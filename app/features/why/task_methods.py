"""The methods: their arguments for `bert_core.analysis.attribute`, and what they cost."""

from typing import Any

from app.features.why.result import Method

_LONG = 64  # tokens from which fewer orders are drawn: the work grows with the cube of the length
_ORDERS, _FEW = 10, 4
AT_ONCE = 2048
"""Tokens that the library reads in one step on a processor."""


def options(method: Method, baseline: str = "[MASK]", tokens: int = 0) -> dict[str, Any]:
    """Return the arguments of `attribute` for a method and a number of tokens.

    >>> options("shapley", tokens=20)
    {'method': 'shapley', 'orders': 10}
    """
    if method == "integrated_gradients":
        return {"method": method, "baseline": baseline}
    if method == "shapley":
        return {"method": method, "orders": _FEW if tokens > _LONG else _ORDERS}
    return {"method": method}
