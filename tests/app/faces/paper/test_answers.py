"""Asking a task by its name."""

from collections.abc import Callable
from pathlib import Path

import pytest

from app.declared import declared
from app.declared.answers import answer, engine_of
from app.engine.models import Engine
from app.faces import ask
from app.faces.paper.answers import Written, written
from bert_core.errors import CheckpointError, InputError


def test_values_are_given_by_place_or_by_name(tiny_model: Path) -> None:
    by_place = ask("next_sentence", "the cat", "a dog")
    by_name = ask("next_sentence", second="a dog", first="the cat")
    assert by_place.result == by_name.result
    assert ask("fill_mask", "the [MASK]", top_k=2).result.slots[0].candidates[1:]
    assert by_place.model.name == tiny_model.name


@pytest.mark.parametrize(
    ("values", "given", "says"),
    [
        (("a", "b", "c"), {}, "found 3 values without a name; expected at most 2: first, second"),
        (("a", "b"), {"first": "c"}, "first is given twice"),
        (("a",), {}, "second is missing; expected a text"),
        (("a", 3), {}, "second: found a whole number; expected a text"),
        (("a", "b"), {"third": "c"}, "no parameter 'third'. Parameters are: first, second"),
        (("a", "b"), {"model": "../elsewhere"}, "model: found '../elsewhere'; expected one of"),
        (("a", " "), {}, "The second sentence has no piece"),
    ],
)
def test_what_cannot_be_asked_is_said(
    tiny_model: Path, values: tuple[object, ...], given: dict[str, object], says: str
) -> None:
    with pytest.raises(InputError) as refused:
        ask("next_sentence", *values, **given)  # type: ignore[arg-type]
    assert says in str(refused.value) and "\n" not in str(refused.value)


def test_a_folder_of_ones_own_can_be_asked(tiny_folder: Path) -> None:
    found = ask("tokenizer", "the cat", model=str(tiny_folder))
    assert found.model.name == tiny_folder.name
    assert str(tiny_folder) not in found.text() + found.html().decode()


@pytest.mark.parametrize("name", ["/etc", "..", "~", 7, ["a"], {"a": 1}, "<b>\x1b"])
def test_the_name_of_a_visitor_is_never_a_folder(tiny_model: Path, name: object) -> None:
    with pytest.raises(InputError, match=r"model: found .*; expected one of") as refused:
        engine_of(name)
    assert "\x1b" not in str(refused.value)
    assert engine_of("").provenance.name == engine_of(tiny_model.name).provenance.name


def test_a_model_without_the_head_is_refused(headless_folder: Path) -> None:
    with pytest.raises(CheckpointError, match="no trained"):
        ask("next_sentence", "the cat", "a dog", model=str(headless_folder))
    assert ask("model_card", model=str(headless_folder)).json()["figures"] == []


def test_a_remark_about_the_model_comes_first(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.engine.models.fit import Misfit, Severity

    remark = Misfit(Severity.REMARK, "It does not say what its labels mean.")
    monkeypatch.setattr("app.engine.models.fit.misfits", lambda *_: (remark,))
    found = written(answer(declared("classification"), tiny_engine, {"text": "the cat"}))
    assert found.notices == (remark.says,)
    assert found.text().startswith(remark.says)
    page = found.html().decode()
    assert page.index(remark.says) < page.index('class="bx-headline"')


def test_what_was_not_read_comes_before_the_answer(answered: Callable[..., Written]) -> None:
    said = answered("classification", text="the cat " * 60).text()
    assert said.index("tokens are too many") < said.index("The model’s answer")


def test_the_notebook_shows_the_page_in_a_frame_of_its_own(
    answered: Callable[..., Written],
) -> None:
    shown = answered("tokenizer", text='"<b>"')._repr_html_()
    assert shown.count("<") == 2 and 'sandbox="allow-scripts allow-downloads"' in shown
