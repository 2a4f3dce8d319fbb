"""What lessons say is so: claims are counted again, steps computed, on the bundled model."""

from pathlib import Path

import pytest

from app.engine.models import Engine, open_engine
from app.features.fill_mask.task import fill_mask
from app.features.tokenizer.task import tokenizer
from app.lessons.claims import count, figures_of, stored
from app.lessons.looking import Looking
from app.lessons.records import Choice, Claim, Condition, Lesson, Look, Question
from app.lessons.shelf import claims, shelf
from app.lessons.whole import looking_at
from tools.lessons import failing

LESSONS = [each for each in shelf().lessons.values() if not each.own]


@pytest.fixture
def bundled(monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.delenv("BERT_EXPLORER_MODEL", raising=False)
    return open_engine()


def test_the_stored_figures_are_those_of_all_claims_and_of_these_weights(bundled: Engine) -> None:
    weights, figures = stored()
    assert weights == bundled.provenance.fingerprint
    assert figures.keys() == claims().keys()


FIRST = {each.task: name for name, each in reversed(claims().items()) if not each.role}
LONG = ("why", "xray", "fill_mask_surprise")
"""Tasks that take seconds for an item."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=() if FIRST.get(of.task) == name and of.task not in LONG else pytest.mark.slow,
        )
        for name, of in claims().items()
    ],
)
def test_every_claim_holds_with_its_margin_and_the_stored_figures_are_todays(
    bundled: Engine, name: str
) -> None:
    claim, figures = claims()[name], stored()[1][name]
    found = count(bundled, claim)
    assert found.holds, found
    assert (found.n, found.k) == (figures.n, figures.k)
    assert found.tell.keys() == figures.tell.keys() == claim.tell.keys()
    for told, values in found.tell.items():
        assert values == pytest.approx(figures.tell[told], abs=1e-3), told


@pytest.mark.parametrize("found", LESSONS, ids=lambda each: each.slug)
def test_every_step_of_a_lesson_holds_and_says_what_is_computed(
    bundled: Engine, found: Lesson
) -> None:
    assert failing(bundled, found) == []
    for number, step in enumerate(found.steps, 1):
        looking = looking_at(bundled, found, number)
        for text in (step.say, step.reveal, *([step.change.watch] if step.change else [])):
            said = looking.fill(text)
            assert said and "{" not in said
        if step.question and step.question.kind == "choose":
            assert looking.right(step.question) is not None
        if step.question and step.question.kind == "number":
            kind, truth = looking.truth(step.question)
            low, high = looking.ends(step.question)
            assert low <= float(truth) * (100 if kind == "share" else 1) <= high
    assert set(found.claims) <= claims().keys()


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
        (Condition(("k",), least=2), Condition(("mean.long", "k"), most=4)),
    )  # fmt: skip
    found = count(bundled, claim)
    assert (found.n, found.k, found.holds) == (3, 2, True)
    assert found.tell == {"long": (2.0, 1.0, 4.0)}


def test_another_model_is_counted_anew(tiny_model: Path) -> None:
    engine = open_engine()
    found = figures_of(engine, "A5")
    assert found.n == 20 and found is figures_of(engine, "A5")
    assert figures_of(engine, "A1").k != stored()[1]["A1"].k
