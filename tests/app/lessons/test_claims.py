"""What lessons say is so: claims are counted again on the bundled model."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.engine.models import Engine, open_engine
from app.features.fill_mask.task import fill_mask
from app.features.tokenizer.task import tokenizer
from app.lessons.claims import count, figures_of
from app.lessons.looking import Looking
from app.lessons.measured import stored
from app.lessons.records import Choice, Claim, Condition, Look, Question
from app.lessons.shelf import claims, shelf
from app.settings import BUNDLED_MODEL
from bert_core.bundled import bundled_folder

LESSONS = [each for each in shelf().lessons.values() if not each.own]


def test_the_stored_figures_are_those_of_all_claims_and_of_these_weights(bundled: Engine) -> None:
    kept = stored()
    assert kept.weights == bundled.provenance.fingerprint
    assert kept.claims.keys() == claims().keys()
    assert kept.steps.keys() == {
        f"{of.slug} {n + 1}" for of in LESSONS for n in range(len(of.steps))
    }
    assert all(each.holds for each in (*kept.claims.values(), *kept.steps.values()))
    for name in {name for of in LESSONS for name in of.claims}:
        assert (kept.claims[name].p is None) == claims()[name].exact, name


FEWEST = sorted(
    claims().items(), key=lambda row: -len(row[1].items) * (1 + len(row[1].look.beside))
)
QUICK = {each.task: name for name, each in FEWEST if not each.role}
LONG = ("why", "xray", "fill_mask_surprise")
"""Tasks that take seconds for an item."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=() if QUICK.get(of.task) == name and of.task not in LONG else pytest.mark.slow,
        )
        for name, of in claims().items()
    ],
)
def test_every_claim_holds_with_its_margin_and_the_stored_figures_are_todays(
    bundled: Engine, name: str
) -> None:
    claim, figures = claims()[name], stored().claims[name]
    found = count(bundled, claim)
    assert found.holds, found
    assert (found.n, found.k) == (figures.n, figures.k)
    assert found.p == (figures.p and pytest.approx(figures.p, rel=0.01))
    assert found.tell.keys() == claim.tell.keys()
    assert found.tell == pytest.approx(figures.tell, abs=1e-3)


def test_what_a_lesson_says_of_the_training_is_in_its_record(bundled: Engine) -> None:
    record = json.loads((bundled_folder(BUNDLED_MODEL) / "training.json").read_text("utf-8"))
    mixture = record[-1]["settings"]["phases"][0]["mixture"]
    assert mixture["same_document"] == mixture["swapped"] == 0.25  # “together”, step 1


def test_a_quantity_is_what_its_page_shows(bundled: Engine) -> None:
    text = "She drank a cup of [MASK]."
    slot = fill_mask(bundled, text, word="tea").slots[0]
    looking = Looking(bundled, "fill_mask", Look({"text": text}, {}, {"drink": "tea"}))
    assert looking.value("first") == slot.candidates[0].token
    assert looking.value("p") == slot.candidates[0].probability
    assert slot.named and looking.value("p:{drink}") == slot.named.probability
    ratio = slot.candidates[0].probability / slot.candidates[1].probability
    assert looking.value("ratio") == pytest.approx(ratio)
    assert looking.fill("{drink}: {p:{drink}}").startswith("tea: ")
    cut = Looking(bundled, "tokenizer", Look({"text": "unhappiness"}))
    tokens = [piece.token for piece in tokenizer(bundled, "unhappiness").pieces_of(0)]
    assert cut.value("cut") == " ".join(tokens) and cut.value("pieces") == len(tokens)


def test_the_right_choice_follows_from_what_is_computed(bundled: Engine) -> None:
    look = Look({"text": "unhappiness"}, {"short": {"text": "happy"}})
    looking = Looking(bundled, "tokenizer", look)
    few, many = Choice("few", most=1), Choice("many", least=2)
    assert looking.right(Question("", of="pieces", choices=(few, many))) == 1
    assert looking.right(Question("", of="short.pieces", choices=(few, many))) == 0
    word = (Choice("a", is_="happy"), Choice("b", otherwise=True))
    assert looking.right(Question("", of="cut", choices=word)) == 1
    assert looking.right(Question("", of="short.cut", choices=word)) == 0
    minus = Question("", of="pieces", minus="short.pieces", choices=(few, many))
    assert looking.truth(minus) == ("number", 3.0)
    assert looking.right(Question("", of="cut", choices=(few, many))) is None


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (Condition(("pieces",), least=4, most=4), True),
        (Condition(("pieces", "short.pieces"), least=5, most=5), True),
        (Condition(("pieces",), more=("short.pieces",), times=4), False),
        (Condition(("pieces",), more=("short.pieces",), times=3.9), True),
        (Condition(("cut",), other="short.cut"), True),
        (Condition(("cut",), same="short.cut"), False),
        (Condition(("short.cut",), is_="happy"), True),
    ],
)
def test_a_condition_compares_what_it_names(
    bundled: Engine, condition: Condition, holds: bool
) -> None:
    look = Look({"text": "unhappiness"}, {"short": {"text": "happy"}})
    assert Looking(bundled, "tokenizer", look).holds([condition]) == holds


def test_a_claim_is_counted_over_the_items_that_it_names(bundled: Engine) -> None:
    claim = Claim(
        "X", "short words are whole", "tokenizer",
        (("cat",), ("unhappiness",), ("dog",), ("a b c d e",)), Look({"text": "{0}"}),
        (Condition(("pieces",), most=4),), (Condition(("pieces",), most=1),), {"long": "pieces"},
        chance=0.01,
    )  # fmt: skip
    found = count(bundled, claim)
    assert (found.n, found.k, found.holds) == (3, 2, True)
    assert found.tell == {"long": 2.0}


@pytest.mark.parametrize(
    ("test", "short", "holds", "p"),
    [  # of ten words, all or `short` of them are whole
        ({"chance": 0.5}, 10, True, 0.001953),
        ({"chance": 0.5}, 8, False, 0.1094),
        ({"chance": 0.5, "fewer": True}, 0, True, 0.001953),
        ({"chance": 0.5, "fewer": True}, 10, False, 0.001953),
        ({"against": ("A2",)}, 10, True, 7.634e-06),
        ({"against": ("A5",)}, 10, False, 1.0),
        ({"stated": "long"}, 10, False, 1.0),  # each is one piece: stated as 1
        ({"exact": True}, 10, True, None),
        ({"exact": True}, 9, False, None),
    ],
)
def test_a_claim_holds_only_if_its_test_passes(
    bundled: Engine, test: dict[str, Any], short: int, holds: bool, p: float | None
) -> None:
    items = (("cat",),) * short + (("unhappiness",),) * (10 - short)
    whole = (Condition(("pieces",), most=1),)
    found = count(
        bundled,
        Claim(
            "X",
            "",
            "tokenizer",
            items,
            Look({"text": "{0}"}),
            (),
            whole,
            {"long": "pieces"},
            **test,
        ),
    )
    assert (found.k, found.holds) == (short, holds)
    assert found.p == (p if p is None else pytest.approx(p, rel=0.01))


def test_without_time_a_few_items_are_asked_and_the_rest_is_named(bundled: Engine) -> None:
    for name in ("A3", "F1"):
        found = count(bundled, claims()[name], 0.0)
        assert (found.n, found.left) == (4, 16), name


def test_another_model_is_counted_anew(tiny_model: Path) -> None:
    engine = open_engine()
    found = figures_of(engine, "A5")
    assert found.n == 20 and found is figures_of(engine, "A5")
    assert figures_of(engine, "A2").k != stored().claims["A2"].k
