"""What a page of the Gradio interface is opened with: the browser's word is a stranger's."""

import json
import re
from typing import Any

import pytest

from app.declared import all_declared, declared
from app.declared.carried import UNFIT
from app.faces.gradio.carry import asked, brought, name_of, script, unfit_note

OWN = "Marie Curie worked in Paris."


def said(**texts: str) -> str:
    return json.dumps({"own": {"texts": texts, "whole": ""}})


def test_a_visitors_text_opens_every_page_that_it_fits() -> None:
    for each in all_declared():
        found = brought(each, said(text=OWN), {})
        assert not found or OWN in found.values(), each.feature.slug
        if each.feature.takes_text and not each.feature.part_of:
            assert bool(found) == (each.feature.slug not in UNFIT), each.feature.slug
        needed = {given.name for given in each.parameters if given.required}
        assert not found or needed <= found.keys(), each.feature.slug


def test_the_page_as_it_was_left_comes_first_then_the_address() -> None:
    feature = declared("fill_mask")
    here = json.dumps({"here": {"text": "As [MASK] left.", "word": "it", "unknown": "x"}})
    assert brought(feature, here, {"text": "linked"}) == {"text": "As [MASK] left.", "word": "it"}
    assert brought(feature, said(text=OWN), {"text": "linked"}) == {"text": "linked"}
    assert brought(feature, said(text=OWN), {}) == {"text": OWN}


def test_where_a_text_does_not_fit_the_page_says_so() -> None:
    row = declared("senses").feature
    assert UNFIT["senses"] in str(unfit_note(row, said(text=OWN)))
    assert not unfit_note(row, said(text="On the bank. The bank fell.")).markup
    assert not unfit_note(row, "").markup
    assert not unfit_note(declared("ner").feature, said(text=OWN)).markup


@pytest.mark.parametrize(
    "message",
    [None, 7, "", "no json", "[]", "null", '{"own": 3}', '{"own": {"texts": ["a"]}}', '{"here": 5}',
     '{"own": {"texts": {"text": 7}}}', '{"own": {"texts": {"text": " "}}}',
     '{"here": {"text": 1}}', '{"own": {"texts": {"a": "b"}, "whole": {}}}'],
)  # fmt: skip
def test_whatever_else_a_browser_says_opens_the_example(message: Any) -> None:
    assert brought(declared("fill_mask"), message, {}) == {}


def test_the_address_gets_the_texts_by_their_keys_and_no_setting() -> None:
    found = asked(declared("qa"), "first-model")
    assert found.startswith("(...values) =>") and '"first-model"' in found
    (keys,) = re.findall(r"(\[.*\])\.flatMap", found)
    assert json.loads(keys)[:2] == ["text", "question"] and set(json.loads(keys)[2:]) <= {""}
    names = [name_of(each) for each in declared("qa").parameters]
    assert names[:2] == ["bx-text-text", "bx-text-question"] and set(names[2:]) == {None}
    assert script().startswith("(kept) =>") and script().endswith("}")
