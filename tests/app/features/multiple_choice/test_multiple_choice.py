"""Multiple choice: every choice is read alone, and the softmax compares them."""

import json
from pathlib import Path

import pytest
import torch

from app.engine.models import Engine
from app.features.multiple_choice import view as view
from app.features.multiple_choice.task import multiple_choice
from bert_core import BertForMultipleChoice
from bert_core.errors import InputError
from tests.drawings import elements
from tests.snippets import ran

CHOICES = ("sat on the mat", "a dog", "the river bank , the cat .")


def test_scores_are_those_of_the_model_for_all_choices_at_once(tiny_engine: Engine) -> None:
    result = multiple_choice(tiny_engine, "the cat", CHOICES)
    inputs = tiny_engine.tokenizer(
        ["the cat"] * 3, list(CHOICES), padding=True, return_tensors="pt"
    )
    model = tiny_engine.model(BertForMultipleChoice)
    with torch.no_grad():
        logits = model(**{name: each[None] for name, each in inputs.items()})[0].double()
    assert [each.logit for each in result.choices] == pytest.approx(logits.tolist(), abs=1e-5)
    shares = torch.softmax(logits, 0).tolist()
    assert [each.probability for each in result.choices] == pytest.approx(shares, abs=1e-5)
    assert result.best == int(logits.argmax())


@pytest.mark.parametrize("number", [0, 1, 9])
def test_the_number_of_choices_is_checked(tiny_engine: Engine, number: int) -> None:
    with pytest.raises(InputError, match=rf"Found {number} choices?; expected 2 to 8"):
        multiple_choice(tiny_engine, "the cat", ["a"] * number)


@pytest.mark.parametrize(
    ("context", "choices", "told"),
    [("\x00", ("a", "b"), "context"), ("a", ("a", "\x00"), "Choice 2 has no piece")],
)
def test_a_text_without_pieces_is_refused_by_name(
    tiny_engine: Engine, context: str, choices: tuple[str, ...], told: str
) -> None:
    with pytest.raises(InputError, match=told):
        multiple_choice(tiny_engine, context, choices)


def test_what_is_cut_is_said_before_the_answer(tiny_engine: Engine) -> None:
    result = multiple_choice(tiny_engine, "the cat " * 40, ("sat", "a dog"))
    kept = "".join(map(str, view.screen(result).report().drawn()))
    assert kept.index("84 tokens are too many") < kept.index("The model’s answer")
    assert [len(each.encoding.input_ids) for each in result.choices] == [48, 48]


def test_long_choices_are_shortened_in_the_drawing_and_whole_in_the_table(
    tiny_engine: Engine,
) -> None:
    long = "the cat sat on the mat " * 12
    result = multiple_choice(tiny_engine, "a", (long.strip(), "b"))
    drawn = view.scores(result)
    lines = [each.text for each in elements(drawn.wide, "text") if "%" not in each.text]
    assert len(lines) == 3 and lines[1].endswith("…")
    assert drawn.table["choice"][0] == long.strip()


def test_the_snippet_computes_the_pages_numbers(tiny_engine: Engine, tiny_folder: Path) -> None:
    result = multiple_choice(tiny_engine, "the 'cat'", ('sat "on"', "a \\ dog"))
    printed = json.loads(ran(view.snippet(result, str(tiny_folder)))[1])
    assert printed == pytest.approx([each.probability for each in result.choices], abs=1e-6)
