"""What counts as a gap is one rule, on every page and interface that reads gaps."""

from html import unescape
from pathlib import Path

import pytest

from app.declared import all_declared
from app.faces.paper.answers import ask

SIGNS = ("___", "<mask>", "[mask]", "[ MASK ]", "______")
READERS = {
    "fill_mask": {},
    "fill_mask_together": {},
    "fill_mask_pair": {"words": "cat / dog"},
    "xray": {},
    "xray_patching": {"against": "the dog ___ ."},
    "why": {"of": "fill_mask", "check": False},
    "attention": {},
}
"""The tasks that read gaps, and what they need besides a text."""

AS_TYPED = ("tokenizer", "input")
PLAIN, TYPED = "the cat [MASK] .", "the cat {} ."


@pytest.mark.parametrize("task", READERS)
def test_every_sign_of_a_gap_is_a_gap_in_every_task_that_reads_gaps(
    tiny_model: Path, task: str
) -> None:
    plain = ask(task, text=PLAIN, **READERS[task]).json()
    signs = SIGNS if task == "fill_mask" else SIGNS[:1]  # one function reads them for all
    for sign in signs:
        typed = ask(task, text=TYPED.format(sign), **READERS[task]).json()
        assert typed.get("read_as", [sign]) == [sign] and plain.get("read_as", []) == []
        assert {**typed, "read_as": None} == {**plain, "read_as": None}


@pytest.mark.parametrize("task", [task for task in READERS if "_" not in task] + ["fill_mask"])
def test_what_was_read_as_a_gap_is_said_on_paper_and_on_a_terminal(
    tiny_model: Path, task: str
) -> None:
    answer = ask(task, text=TYPED.format("<mask>"), **READERS[task])
    assert "Read as [MASK]: <mask>." in answer.text()
    assert "<mask>" not in answer.html().decode()
    assert "<mask>" in unescape(answer.html().decode())


@pytest.mark.parametrize("task", AS_TYPED)
def test_a_page_about_pieces_reads_the_signs_as_typed_and_says_so(
    tiny_model: Path, task: str
) -> None:
    said = ask(task, text=TYPED.format("___")).text()
    assert "Read as typed: ___. A gap is [MASK] here." in said
    assert "Read as typed" not in ask(task, text=PLAIN).text()


def test_every_feature_whose_text_mentions_a_mask_is_in_the_list() -> None:
    speak = {
        each.feature.slug
        for each in all_declared()
        for given in each.parameters
        if given.name == "text" and "MASK" in given.about + given.field.label
    }
    assert speak <= {*READERS, *AS_TYPED, "fill_mask_surprise"}
