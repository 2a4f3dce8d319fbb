"""Addresses that ask for what is not possible: the usual values are used, and one line says so.

An empty parameter (`?layer=`) is no choice, but a valid, empty text; nothing is said of it.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from app.catalog import feature, pages
from app.declared.carried import TEXT_KEYS
from tests.visits import Visit

pytestmark = pytest.mark.usefixtures("few_rows")

LINE = "Left out of the address, because it is not possible here: "
VALUES = ["<b>no such</b>"]
MORE = ["", "1e400", "-1e400", "nan", "inf", "9" * 400, "-99999", "0x10", "😀 *x*", "a\nb"]
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


@pytest.fixture(autouse=True)
def bundled_model(tiny_model: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the bundled model, which has everything a page can draw."""
    monkeypatch.delenv("BERT_EXPLORER_MODEL")


def said(page: Any) -> str:
    """What the page says of its address, or ""."""
    lines = [each.value for each in page.at.caption if LINE in each.value]
    assert len(lines) <= 1
    return lines[0].partition(LINE)[2] if lines else ""


@pytest.mark.parametrize(
    "value", [*VALUES, *(pytest.param(each, marks=pytest.mark.slow) for each in MORE)], ids=ascii
)
@pytest.mark.parametrize(("script", "address"), CASES)
def test_what_no_widget_can_show_falls_back_and_is_said(
    visit: Callable[..., Any], script: str, address: dict[str, str], value: str
) -> None:
    before = usual(script, **address)
    widgets = bound(before)
    assert {"model", *address} <= set(widgets)
    kinds = {
        key: kind
        for key, kind in widgets.items()
        if not is_text(kind) and key != "model" and key not in address
    }
    page = visit(script, **address, **dict.fromkeys(kinds, value))
    assert (page.errors, page.warnings) == (before.errors, before.warnings)
    assert page.markup == before.markup
    for key in kinds:
        assert page.at.session_state[key] == before.at.session_state[key], key
        assert not value or f"{key}=" in said(page).replace("\\", ""), key
    assert "<b>" not in said(page) and " *x*" not in said(page)


def other_values(page: Any) -> dict[str, str]:
    """A value that each widget may have, as an address has it: the second option, if any.

    The model stays: the atlas would measure another one for a minute.
    """
    found = {}
    for node in page.at.main:
        key = getattr(getattr(node, "proto", None), "query_param_key", "")
        options = (
            [getattr(each, "content", each) for each in getattr(node.proto, "options", ())]
            if key
            else []
        )
        if options and key != "model":
            found[key] = options[:2][-1]
        elif key and key != "model" and not is_text(node.type):
            found[key] = str(page.at.session_state[key])
    return found


@pytest.mark.parametrize(("script", "address"), CASES)
def test_an_address_that_is_possible_says_nothing(
    visit: Callable[..., Any], script: str, address: dict[str, str]
) -> None:
    before = usual(script, **address)
    assert said(before) == ""
    assert said(visit(script, **{**other_values(before), **address})) == ""


@pytest.mark.parametrize(
    ("slug", "address", "says"),
    [
        ("attention", {"layer": "99"}, "layer=99"),
        ("attention", {"head": "40", "layer": "1"}, "head=40"),
        ("attention", {"heads": "1.2"}, "heads=1.2"),
        ("attention", {"cell": "999.2"}, "cell=999.2"),
        ("atlas", {"layer": "99", "head": "²"}, "head=²"),
        ("why", {"of": "poetry"}, "of=poetry"),
        ("xray", {"at": "500"}, "at=500"),
        ("xray", {"off": "1.a 99.f nonsense"}, "off=99.f, off=nonsense"),
        ("xray", {"zoom": "99.1"}, "zoom=99.1"),
        ("qa", {"ask": "9" * 5000}, f"ask={'9' * 40}…"),
        ("fill_mask", {"k": "2.5.1"}, "k=2.5.1"),
        ("tokenizer", {"tab": "vectors", "place": "1e400"}, "place=1e400"),
        ("tokenizer", {"tab": "vectors", "value": "0.5"}, "value=0.5"),
        ("variants", {"own_layers": "-1e400"}, "own_layers=-1e400"),
        ("variants", {"tab": "Arithmetic"}, "tab=Arithmetic"),
        ("attention", {"tab": "attention_two_models", "beside": "x"}, "tab=attention_two_models"),
        ("xray", {"tab": "xray_diff", "beside": "x"}, "tab=xray_diff, beside=x"),
        ("xray", {"tab": "Lens"}, "tab=Lens"),
        ("tokenizer", {"tab": "Nowhere", "pad": "1e400"}, "tab=Nowhere"),
        ("fill_mask", {"k": "", "why": "", "tab": ""}, ""),
        ("tokenizer", {"tab": "vectors", "common": "true"}, "common=true"),
        ("xray", {"site": "attention", "other": "a cat"}, "site=attention"),
        ("why", {"baseline": "zero", "operator": "mask"}, "baseline=zero, operator=mask"),
    ],
)
def test_each_is_named(
    visit: Callable[..., Any], slug: str, address: dict[str, str], says: str
) -> None:
    page = visit(feature(slug).page, **address)
    assert says in said(page).replace("\\", "") and bool(says) == bool(said(page))
    assert (page.errors, page.warnings) == ("", "")


def test_the_line_stays_until_the_visitor_changes_what_it_is_about(
    visit: Callable[..., Any],
) -> None:
    page = visit(feature("fill_mask").page, k="99")
    assert said(page) == "k=99"
    page.type("The [MASK] barked.")
    assert said(page) == "k=99"
    assert said(page.choose("k", 7)) == ""


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
