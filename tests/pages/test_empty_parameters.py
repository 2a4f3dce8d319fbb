"""Test empty parameters in addresses (`?layer=`): no choice, but a valid, empty text."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from app.catalog import pages
from app.declared.carried import TEXT_KEYS
from tests.visits import Visit

# Addresses that make a page draw all its widgets; several where some widgets exclude others.
# A page that is not listed always draws all of them.
ADDRESSES: dict[str, list[dict[str, str]]] = {
    "attention": [
        {"text_pair": "The dog barked."},
        {"view": "Lines", "special": "false"},
    ],
    "qa": [{"text": "The cat sat on the mat.", "question": "Who sat?\nWhere?"}],
}
CASES = [
    pytest.param(row.page, address, id=f"{row.slug}-{number}")
    for row in pages()
    for number, address in enumerate(ADDRESSES.get(row.slug, [{}]))
]


@pytest.fixture(autouse=True)
def bundled_model(tiny_model: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the bundled model, which has everything a page can draw."""
    monkeypatch.delenv("BERT_EXPLORER_MODEL")


@cache
def usual(script: str, **address: str) -> Any:
    """A page as it is at an address of which nothing is left out; opened once."""
    return Visit(script, **address)


def bound(page: Any) -> dict[str, str]:
    """Return the kind of each widget whose value is in the address, by its parameter."""
    widgets = [node for node in page.at.main if getattr(node, "proto", None) is not None]
    keys = [getattr(node.proto, "query_param_key", "") for node in widgets]
    named = dict.fromkeys(page.at.session_state["_choices"], "choice")  # written by the site
    return {key: node.type for key, node in zip(keys, widgets, strict=True) if key} | named


def is_text(kind: str) -> bool:
    return kind in ("text_area", "text_input")


@pytest.mark.parametrize(("script", "address"), CASES)
def test_an_empty_choice_gives_the_default(
    visit: Callable[..., Any], script: str, address: dict[str, str]
) -> None:
    before = usual(script, **address)
    widgets = bound(before)
    assert {"model", *address} <= set(widgets)
    # An empty model name in an address is reported to the visitor, see test_picker.py.
    choices = [
        key
        for key, kind in widgets.items()
        if not is_text(kind) and key != "model" and key not in address
    ]
    empty = visit(script, **address, **dict.fromkeys(choices, ""))
    assert (empty.errors, empty.warnings) == ("", "")
    assert empty.markup == before.markup
    for key in choices:
        assert empty.at.session_state[key] == before.at.session_state[key], key


@pytest.mark.slow  # one by one: the test above has them together
@pytest.mark.parametrize(("script", "address"), CASES)
def test_no_empty_parameter_breaks_a_page(
    visit: Callable[..., Any], script: str, address: dict[str, str]
) -> None:
    for key in bound(usual(script, **address)):
        assert visit(script, **{**address, key: ""}).errors == "", key


TEXTS = {*TEXT_KEYS, "lines"}  # kept for each page, or the same text box on every page


def test_pages_that_share_a_key_mean_the_same_by_it() -> None:
    """A value stays when the visitor changes pages, and so it must suit the next page."""
    kinds: dict[str, set[str]] = {}
    for row in pages():
        for address in ADDRESSES.get(row.slug, [{}]):
            for key, kind in bound(usual(row.page, **address)).items():
                kinds.setdefault(key, set()).add(f"{kind} of {row.slug}")
    shared = {key: found for key, found in kinds.items() if len(found) > 1}
    assert {"model", "text", "present"} <= set(shared)
    unlike = {
        key: found
        for key, found in shared.items()
        if len({each.partition(" of ")[0] for each in found}) > 1
        or (key not in TEXTS and any(is_text(each.partition(" of ")[0]) for each in found))
    }
    assert unlike == {}
